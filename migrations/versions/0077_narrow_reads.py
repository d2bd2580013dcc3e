"""What is read of the whole fleet is narrow: one row for a client's hour of log, and an index of odd states."""

from alembic import op

revision, down_revision = "0077_narrow_reads", "0076_one_breaker"


def upgrade() -> None:
    levels = ("debug", "info", "warning", "error", "critical")
    sums = ", ".join(f"coalesce(sum(count) FILTER (WHERE level = '{level}'), 0)" for level in levels)
    cases = " ".join(f"WHEN '{s}' THEN '{s}'" for s in ("starting", "running", "crashed", "stopped", "unknown"))
    op.execute(f"""
CREATE TEMPORARY TABLE of_each_level ON COMMIT DROP AS TABLE client_log_hours;
DROP TABLE client_log_hours;
CREATE TABLE client_log_hours (client_uuid text NOT NULL CONSTRAINT fk_client_log_hours_client_uuid REFERENCES clients,
    hour timestamptz NOT NULL, {" integer NOT NULL, ".join(levels)} integer NOT NULL, last_error_at timestamptz,
    CONSTRAINT pk_client_log_hours PRIMARY KEY (hour, client_uuid));
INSERT INTO client_log_hours SELECT client_uuid, hour, {sums}, max(last_at) FILTER (WHERE level >= 'error')
    FROM of_each_level GROUP BY client_uuid, hour;
CREATE INDEX ix_client_log_hours_client ON client_log_hours (client_uuid, hour);
CREATE INDEX ix_clients_shows_another ON clients (uuid)
    WHERE deleted_at IS NULL AND status <> CASE process_status {cases} END""")  # noqa: S608 - made of constants
