"""Stopped clients by an index: the breakers leave them out of the fleet that they reckon with."""

from alembic import op

revision = "0033_stopped_clients"
down_revision = "0032_told_in_figures"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX ix_clients_stopped ON clients (uuid) WHERE process_status = 'stopped'")


def downgrade() -> None:
    op.execute("DROP INDEX ix_clients_stopped")
