"""The transaction that last changed what recovery or an incident says of a client: the overview tells it again."""

from alembic import op

revision = "0031_recovery_changes"
down_revision = "0030_notifications"
branch_labels = None
depends_on = None
SURVIVES = {
    f"the trigger stamp_changed_xid of {table} is new": "It fills in the new column and refuses nothing."
    for table in ("client_recovery", "incident_members")
}

TABLES = ("client_recovery", "incident_members")


def upgrade() -> None:
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ADD COLUMN changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id()")
        op.execute(f"CREATE INDEX ix_{table}_changed_xid ON {table} (changed_xid)")
        op.execute(
            f"CREATE TRIGGER stamp_changed_xid BEFORE UPDATE ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION stamp_changed_xid()"
        )


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"DROP TRIGGER stamp_changed_xid ON {table}")
        op.execute(f"ALTER TABLE {table} DROP COLUMN changed_xid")
