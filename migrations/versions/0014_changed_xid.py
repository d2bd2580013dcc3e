"""The transaction that last changed a client or a command: the cursor of the overview's deltas."""

from alembic import op

revision = "0014_changed_xid"
down_revision = "0013_access"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE clients ADD COLUMN changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id()",
    "ALTER TABLE client_commands ADD COLUMN changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id()",
    "CREATE INDEX ix_clients_changed_xid ON clients (changed_xid)",
    "CREATE INDEX ix_client_commands_changed_xid ON client_commands (changed_xid)",
    """
    CREATE FUNCTION stamp_changed_xid() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.changed_xid := pg_current_xact_id();
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER stamp_changed_xid BEFORE UPDATE ON clients
        FOR EACH ROW EXECUTE FUNCTION stamp_changed_xid()
    """,
    """
    CREATE TRIGGER stamp_changed_xid BEFORE UPDATE ON client_commands
        FOR EACH ROW EXECUTE FUNCTION stamp_changed_xid()
    """,
)
DOWN = (
    "DROP TRIGGER stamp_changed_xid ON client_commands",
    "DROP TRIGGER stamp_changed_xid ON clients",
    "DROP FUNCTION stamp_changed_xid()",
    "DROP INDEX ix_client_commands_changed_xid",
    "DROP INDEX ix_clients_changed_xid",
    "ALTER TABLE client_commands DROP COLUMN changed_xid",
    "ALTER TABLE clients DROP COLUMN changed_xid",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
