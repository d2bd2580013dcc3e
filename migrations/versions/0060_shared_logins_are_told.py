"""Notifications of a login that two devices use: when the sharing began, and when the display got its present login.

A channel with the event `display_unwell` gets the event `login_shared` as well. Older code writes only
`shared_login_seen_at`, so a shared login that older code saw is notified after today's code has seen it again.
"""

from alembic import op

revision = "0060_shared_logins_are_told"
down_revision = "0058_rights_by_site"
branch_labels = None
depends_on = None

BEFORE = "'{service_failed,screen_bad,connection_unsteady,certificate_old,certificate_ending,limit_passed}'"
AFTER = "'{service_failed,screen_bad,connection_unsteady,certificate_old,certificate_ending,limit_passed,login_shared}'"

SURVIVES = {
    f"notification_channels.newer_events is {AFTER}::text[] where nothing is said, and was {BEFORE}::text[]": (
        "Channels that older code makes get these messages too; that code does not read the new word."
    )
}


def upgrade() -> None:
    """Add the columns and the event."""
    op.execute("ALTER TABLE clients ADD COLUMN shared_login_since timestamptz, ADD COLUMN login_since timestamptz")
    op.execute(
        """
        CREATE INDEX ix_clients_shared_login ON clients (shared_login_seen_at)
        WHERE shared_login_seen_at IS NOT NULL
        """
    )
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {AFTER}")
    op.execute(
        """
        UPDATE notification_channels SET newer_events = newer_events || '{login_shared}'::text[]
        WHERE 'display_unwell' = ANY(events)
        """
    )


def downgrade() -> None:
    """Remove them. Messages about shared logins count as settled, as older code does not know their end."""
    op.execute("UPDATE notification_channels SET newer_events = array_remove(newer_events, 'login_shared')")
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {BEFORE}")
    op.execute("UPDATE notification_deliveries SET standing = false WHERE standing AND root LIKE 'login:%'")
    op.execute("DROP INDEX ix_clients_shared_login")
    op.execute("ALTER TABLE clients DROP COLUMN login_since, DROP COLUMN shared_login_since")
