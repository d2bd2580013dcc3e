"""People are told when a door's certificate ends soon.

Code of before reads the new words nowhere, so channels keep them in `newer_events`. A channel that is told that we do
not hear the fleet (`bridge_silent`) is told of certificates too, as is every new one.
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
        "A channel that code of before makes is told of certificates too; that code reads the new words nowhere."
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
