"""People are told when a door's certificate ends soon.

Older code does not know the new words, so channels keep them in `newer_events`. New channels get them, and so do those
that get `bridge_silent`.
"""

from alembic import op

revision = "0047_certificates_are_told"
down_revision = "0046_component_rights"
branch_labels = None
depends_on = None

BEFORE = "'{service_failed,screen_bad,connection_unsteady}'"
AFTER = "'{service_failed,screen_bad,connection_unsteady,certificate_old,certificate_ending}'"

SURVIVES = {
    f"notification_channels.newer_events is {AFTER}::text[] where nothing is said, and was {BEFORE}::text[]": (
        "Channels that older code makes get these messages too; that code does not read the new words."
    )
}


def upgrade() -> None:
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {AFTER}")
    op.execute(
        """
        UPDATE notification_channels SET newer_events = newer_events || '{certificate_old,certificate_ending}'::text[]
        WHERE 'bridge_silent' = ANY(events)
        """
    )


def downgrade() -> None:
    op.execute(
        """
        UPDATE notification_channels SET
            newer_events = array_remove(array_remove(newer_events, 'certificate_old'), 'certificate_ending')
        """
    )
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {BEFORE}")
    op.execute("UPDATE notification_deliveries SET standing = false WHERE standing AND root LIKE '%certificate:%'")
