"""The fleet by name for lists, and who is unwell for recovery's words.

Without them each page of the list sorted the whole fleet, and each overview read it once more than it told it.
"""

from alembic import op

revision = "0018_fleet_by_name"
down_revision = "0022_command_batches"
branch_labels = None
depends_on = None

UP = (
    "CREATE INDEX ix_clients_name ON clients (name, uuid) WHERE deleted_at IS NULL",
    """
    CREATE INDEX ix_clients_unwell ON clients (uuid)
    WHERE status IN ('crashed', 'stale') OR process_status = 'crashed' OR service_failed_at IS NOT NULL
    """,
)
DOWN = ("DROP INDEX ix_clients_unwell", "DROP INDEX ix_clients_name")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
