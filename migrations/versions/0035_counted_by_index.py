"""Two figures by an index: how many clients are in each state, and what one client logged.

The overview counts the states with every poll, from the index alone a quarter of what a look through the clients
takes. An update that changes the state changes `changed_xid` too and so writes to every index anyway: heartbeats and
health are as narrow as before. What one client logged read the hours of the whole fleet, which are in the order of
their time; a client's own are written once an hour and level.
"""

from alembic import op

revision = "0035_counted_by_index"
down_revision = "0034_old_passwords"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX ix_clients_status ON clients (status, service_failed_at) WHERE deleted_at IS NULL")
    op.execute("CREATE INDEX ix_client_log_hours_client ON client_log_hours (client_uuid, hour)")


def downgrade() -> None:
    op.execute("DROP INDEX ix_client_log_hours_client")
    op.execute("DROP INDEX ix_clients_status")
