"""Which service failure was acknowledged, by whom and when."""

from alembic import op

revision = "0004_acknowledgement"
down_revision = "b1c2d3e4f5a6"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE clients
        ADD COLUMN service_failed_stamp jsonb,
        ADD COLUMN service_failed_cleared_at timestamptz,
        ADD COLUMN service_failed_cleared_by text,
        ADD COLUMN service_failed_cleared_unit text,
        ADD COLUMN service_failed_cleared_stamp jsonb
    """,
)
DOWN = (
    """
    ALTER TABLE clients
        DROP COLUMN service_failed_stamp,
        DROP COLUMN service_failed_cleared_at,
        DROP COLUMN service_failed_cleared_by,
        DROP COLUMN service_failed_cleared_unit,
        DROP COLUMN service_failed_cleared_stamp
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
