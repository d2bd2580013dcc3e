"""What a database from before the squash still has, and nothing uses: it goes. A new database has none of it."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0070_end_of_the_old_chain", "0069_broker_memory"

SQL = """\
DROP TABLE maintenance_window_clients, maintenance_windows, recovery_exclusions, notification_snoozes;
ALTER TABLE client_recovery DROP COLUMN held_at, DROP COLUMN held_by, DROP COLUMN held_reason, DROP COLUMN held_until;
ALTER TABLE broker_crashes RENAME CONSTRAINT broker_crashes_pkey TO pk_broker_crashes;
ALTER TABLE door_certificates RENAME CONSTRAINT door_certificates_pkey TO pk_door_certificates;
ALTER TABLE uploads DROP COLUMN way, DROP COLUMN sha256;
ALTER TABLE door_certificates ALTER COLUMN begins_at DROP DEFAULT;
UPDATE notification_channels SET events = events || newer_events;
ALTER TABLE notification_channels DROP COLUMN newer_events;
ALTER TABLE notification_deliveries DROP CONSTRAINT ck_notification_deliveries_event;
UPDATE notification_deliveries SET event = coalesce(message #>> '{own,event}', message #>> '{facts,event}', event);
ALTER TABLE notification_deliveries ADD CONSTRAINT ck_notification_deliveries_event CHECK (event IN (
    'incident_opened', 'incident_escalated', 'display_unwell', 'display_suspended', 'service_failed', 'screen_bad',
    'limit_passed', 'connection_unsteady', 'login_shared', 'site_emptied', 'breaker_open', 'bridge_silent',
    'certificate_old', 'certificate_ending', 'conversion_failed', 'recovered', 'daily_report', 'weekly_report'));
ALTER TABLE incident_members DROP CONSTRAINT ck_incident_members_symptom;
UPDATE incident_members SET symptom = newer_symptom WHERE newer_symptom IS NOT NULL;
ALTER TABLE incident_members DROP COLUMN newer_symptom, ADD CONSTRAINT ck_incident_members_symptom
    CHECK (symptom IN ('silent', 'crashed', 'service_failed', 'disconnected', 'screen_failed'));
ALTER TABLE users DROP CONSTRAINT ck_users_sites_older_code;
UPDATE users SET one_time_until = NULL WHERE NOT must_change_password;
UPDATE users SET disabled_at = disabled_at_sites WHERE sites IS NOT NULL;
ALTER TABLE users DROP COLUMN disabled_at_sites;
ALTER TABLE api_tokens DROP CONSTRAINT ck_api_tokens_sites_older_code;
UPDATE api_tokens SET revoked_at = revoked_at_sites WHERE sites IS NOT NULL;
ALTER TABLE api_tokens DROP COLUMN revoked_at_sites;
DO $$ BEGIN EXECUTE replace(pg_get_functiondef('names_of_empty_sites'::regproc), '_at_sites', '_at'); END $$;
"""


def upgrade() -> None:
    if sa.inspect(op.get_bind()).has_table("maintenance_windows"):
        op.execute(SQL)
