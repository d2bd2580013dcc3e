"""Displays that pass a limit of disk, memory, heat, certificate, clock or voltage are known and told.

A channel that hears of displays hears of limits too. Reports in the new columns come with the next bridge: until then
those values are not known.
"""

from alembic import op

revision = "0056_health_limits"
down_revision = "0055_hours_of_displays"
branch_labels = None
depends_on = None

BEFORE = "'{service_failed,screen_bad,connection_unsteady,certificate_old,certificate_ending}'"
AFTER = "'{service_failed,screen_bad,connection_unsteady,certificate_old,certificate_ending,limit_passed}'"

SURVIVES = {
    f"notification_channels.newer_events is {AFTER}::text[] where nothing is said, and was {BEFORE}::text[]": (
        "Channels that older code makes get these messages too; that code does not read the new word."
    )
}


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE client_health ADD COLUMN certificate_ends_at timestamptz, ADD COLUMN under_voltage boolean,
            ADD COLUMN clock_ahead_seconds double precision
        """
    )
    op.execute(
        """
        CREATE TABLE client_limits (
            client_uuid text NOT NULL,
            kind text NOT NULL,
            over_since timestamptz,
            passed_at timestamptz,
            left_since timestamptz,
            value double precision NOT NULL,
            limit_at double precision NOT NULL,
            changed_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
            CONSTRAINT pk_client_limits PRIMARY KEY (client_uuid, kind),
            CONSTRAINT fk_client_limits_client_uuid FOREIGN KEY (client_uuid) REFERENCES clients (uuid),
            CONSTRAINT ck_client_limits_kind
                CHECK (kind IN ('disk', 'memory', 'heat', 'certificate', 'clock', 'voltage')),
            CONSTRAINT ck_client_limits_over
                CHECK (passed_at IS NULL AND left_since IS NULL OR over_since IS NOT NULL)
        )
        """
    )
    op.execute("CREATE INDEX ix_client_limits_changed_xid ON client_limits (changed_xid)")
    op.execute("CREATE INDEX ix_client_limits_over ON client_limits (client_uuid) WHERE over_since IS NOT NULL")
    op.execute(
        """
        CREATE TRIGGER stamp_changed_xid BEFORE UPDATE ON client_limits
        FOR EACH ROW EXECUTE FUNCTION stamp_changed_xid()
        """
    )
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {AFTER}")
    op.execute(
        """
        UPDATE notification_channels SET newer_events = newer_events || '{limit_passed}'::text[]
        WHERE 'display_unwell' = ANY(events)
        """
    )


def downgrade() -> None:
    op.execute("UPDATE notification_channels SET newer_events = array_remove(newer_events, 'limit_passed')")
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {BEFORE}")
    op.execute("UPDATE notification_deliveries SET standing = false WHERE standing AND root LIKE 'limit:%'")
    op.execute("DROP TABLE client_limits")
    op.execute(
        """
        ALTER TABLE client_health DROP COLUMN clock_ahead_seconds, DROP COLUMN under_voltage,
            DROP COLUMN certificate_ends_at
        """
    )
