"""The four fields: service failure, MQTT reconnect count and last disconnect."""

from alembic import op

revision = "b1c2d3e4f5a6"
down_revision = "c1d2e3f4g5h6"

SQL = """\
ALTER TABLE clients
    ADD COLUMN service_failed_at timestamptz, ADD COLUMN service_failed_unit text,
    ADD COLUMN mqtt_reconnect_count integer CHECK (mqtt_reconnect_count >= 0),
    ADD COLUMN mqtt_last_disconnect_at timestamptz,
    ADD CONSTRAINT ck_clients_service_failed CHECK ((service_failed_at IS NULL) = (service_failed_unit IS NULL));
CREATE INDEX ix_clients_service_failed_at ON clients (service_failed_at) WHERE service_failed_at IS NOT NULL;
"""


def upgrade() -> None:
    op.execute(SQL)
