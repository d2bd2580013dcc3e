"""People are told of failed services, bad screens and unsteady connections.

Code of before cannot read the new words, and it still runs during the upgrade, so a channel keeps them in a column of
their own. A channel that is told of displays alone (`display_unwell`) is told of all three from now on, as is every
new one; a channel that somebody has narrowed to other matters is not.

Since when a screen is bad was nowhere; of one that is bad now it is the moment of the upgrade.
"""

from alembic import op

revision = "0041_more_to_tell"
down_revision = "0041_noticed_later"
branch_labels = None
depends_on = None

NEW = "'{service_failed,screen_bad,connection_unsteady}'"


def upgrade() -> None:
    op.execute(f"ALTER TABLE notification_channels ADD COLUMN newer_events text[] NOT NULL DEFAULT {NEW}")
    op.execute("UPDATE notification_channels SET newer_events = '{}' WHERE NOT 'display_unwell' = ANY(events)")
    op.execute("ALTER TABLE clients ADD COLUMN screen_health_since timestamptz")
    op.execute(
        "UPDATE clients SET screen_health_since = now() WHERE screen_health IN ('black', 'frozen', 'disconnected')"
    )
    op.execute(
        "CREATE INDEX ix_clients_screen_bad ON clients (uuid)"
        " WHERE screen_health IN ('black', 'frozen', 'disconnected')"
    )


def downgrade() -> None:
    op.execute("DROP INDEX ix_clients_screen_bad")
    op.execute("ALTER TABLE clients DROP COLUMN screen_health_since")
    op.execute("ALTER TABLE notification_channels DROP COLUMN newer_events")
