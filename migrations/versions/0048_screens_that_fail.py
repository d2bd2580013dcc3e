"""A screen that shows nothing is a failure: of its display, for recovery, and in incidents.

What is bad at the moment of the upgrade has failed since it became bad. Code of before does not know that a screen is
the symptom of an incident's member, so that word has a column of its own.
"""

from alembic import op

revision = "0048_screens_that_fail"
down_revision = "0047_certificates_are_told"
branch_labels = None
depends_on = None

SURVIVES = {
    "client_recovery.basis has screen_failed, which readers do not know": (
        "No code reads the basis: older code only counts the rows where it is 'stale'."
    )
}
BASIS = "ALTER TABLE client_recovery DROP CONSTRAINT ck_client_recovery_basis, ADD CONSTRAINT ck_client_recovery_basis"


def upgrade() -> None:
    op.execute("ALTER TABLE clients ADD COLUMN screen_failed_at timestamptz")
    op.execute("UPDATE clients SET screen_failed_at = screen_health_since WHERE screen_health_since IS NOT NULL")
    op.execute("CREATE INDEX ix_clients_screen_failed ON clients (uuid) WHERE screen_failed_at >= screen_health_since")
    op.execute("CREATE INDEX ix_clients_screen_off ON clients (uuid) WHERE screen_health = 'off'")
    op.execute("ALTER TABLE client_health ADD COLUMN previous_at timestamptz")
    op.execute(f"{BASIS} CHECK (basis IN ('crashed', 'service_failed', 'stale', 'screen_failed'))")
    op.execute(
        """
        ALTER TABLE recovery_breakers ADD COLUMN screens_since timestamptz, ADD COLUMN screens_why text,
            ADD COLUMN screens_released_at timestamptz
        """
    )
    op.execute(
        """
        ALTER TABLE incident_members ADD COLUMN newer_symptom text
            CONSTRAINT ck_incident_members_newer_symptom CHECK (newer_symptom IN ('screen_failed'))
        """
    )


def downgrade() -> None:
    op.execute("ALTER TABLE incident_members DROP COLUMN newer_symptom")
    op.execute(
        """
        ALTER TABLE recovery_breakers DROP COLUMN screens_since, DROP COLUMN screens_why,
            DROP COLUMN screens_released_at
        """
    )
    op.execute("UPDATE client_recovery SET basis = NULL WHERE basis = 'screen_failed'")
    op.execute(f"{BASIS} CHECK (basis IN ('crashed', 'service_failed', 'stale'))")
    op.execute("ALTER TABLE client_health DROP COLUMN previous_at")
    op.execute("DROP INDEX ix_clients_screen_off, ix_clients_screen_failed")
    op.execute("ALTER TABLE clients DROP COLUMN screen_failed_at")
