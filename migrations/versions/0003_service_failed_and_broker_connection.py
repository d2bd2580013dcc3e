"""The four fields: service failure, MQTT reconnect count and last disconnect."""

from alembic import op

revision = "b1c2d3e4f5a6"
down_revision = "c1d2e3f4g5h6"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE clients
        ADD COLUMN service_failed_at timestamptz,
        ADD COLUMN service_failed_unit text,
        ADD COLUMN mqtt_reconnect_count integer,
        ADD COLUMN mqtt_last_disconnect_at timestamptz,
        ADD CONSTRAINT ck_clients_service_failed CHECK ((service_failed_at IS NULL) = (service_failed_unit IS NULL)),
        ADD CONSTRAINT ck_clients_mqtt_reconnect_count CHECK (mqtt_reconnect_count >= 0)
    """,
    """
    CREATE INDEX ix_clients_service_failed_at ON clients (service_failed_at)
        WHERE service_failed_at IS NOT NULL
    """,
)
DOWN = (
    "DROP INDEX ix_clients_service_failed_at",
    """
    ALTER TABLE clients
        DROP COLUMN service_failed_at,
        DROP COLUMN service_failed_unit,
        DROP COLUMN mqtt_reconnect_count,
        DROP COLUMN mqtt_last_disconnect_at
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
