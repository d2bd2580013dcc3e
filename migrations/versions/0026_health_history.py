"""What displays reported of their machines in the last days: one row for a bunch of displays and five minutes."""

from alembic import op

revision = "0026_health_history"
down_revision = "0025_people"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE client_health_history (
        bunch smallint NOT NULL,
        at timestamptz NOT NULL,
        clients uuid[] NOT NULL,
        cpu smallint[] NOT NULL,
        memory smallint[] NOT NULL,
        disk smallint[] NOT NULL,
        temperature smallint[] NOT NULL,
        CONSTRAINT pk_client_health_history PRIMARY KEY (bunch, at)
    )
    """,
)
DOWN = ("DROP TABLE client_health_history",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
