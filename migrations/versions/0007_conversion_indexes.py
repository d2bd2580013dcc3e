"""Indexes that serve dedupe by hash, serving by path, and the sweep."""

from alembic import op

revision = "0007_conversion_indexes"
down_revision = "0006_conversions"
branch_labels = None
depends_on = None

UP = (
    "CREATE INDEX ix_conversions_file_hash ON conversions (file_hash)",
    "CREATE INDEX ix_conversions_target_path ON conversions (target_path)",
    """
    CREATE INDEX ix_conversions_open ON conversions (status, created_at)
        WHERE status IN ('pending', 'processing')
    """,
)
DOWN = (
    "DROP INDEX ix_conversions_open",
    "DROP INDEX ix_conversions_target_path",
    "DROP INDEX ix_conversions_file_hash",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
