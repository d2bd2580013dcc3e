"""Who is on it: the person who looks after an incident or a failed service, since when, and that person's note."""

from alembic import op

revision, down_revision = "0074_taken", "0073_incidents_count"

SQL = """\
ALTER TABLE incidents ADD taken_by text, ADD taken_at timestamptz, ADD note text,
    ADD CONSTRAINT ck_incidents_taken CHECK ((taken_by IS NULL) = (taken_at IS NULL));
ALTER TABLE clients ADD service_failed_taken_by text, ADD service_failed_taken_at timestamptz,
    ADD service_failed_taken_note text, ADD CONSTRAINT ck_clients_taken
    CHECK ((service_failed_taken_by IS NULL) = (service_failed_taken_at IS NULL));
ALTER TABLE incident_events DROP CONSTRAINT ck_incident_events_kind, ADD CONSTRAINT ck_incident_events_kind
    CHECK (kind IN ('opened', 'joined', 'left', 'command', 'recovery', 'merged', 'reopened', 'taken', 'closed'));
"""


def upgrade() -> None:
    op.execute(SQL)
