"""When we noticed that a shown state had changed, where it had changed before.

A display is silent since its last heartbeat, and we notice minutes later. The change is dated from the heartbeat;
what compares with our own time (incidents look at what was noticed since the last look) needs the other moment.
"""

from alembic import op

revision = "0041_noticed_later"
down_revision = "0041_incident_truth"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE client_state_changes ADD COLUMN noticed_at timestamptz")
    op.execute(
        "CREATE INDEX ix_client_state_changes_fallen_noticed_at ON client_state_changes (coalesce(noticed_at, at))"
        " WHERE to_status IN ('stale', 'crashed')"
    )


def downgrade() -> None:
    op.execute("DROP INDEX ix_client_state_changes_fallen_noticed_at")
    op.execute("ALTER TABLE client_state_changes DROP COLUMN noticed_at")
