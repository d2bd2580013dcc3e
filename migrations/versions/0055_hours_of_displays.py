"""The opening hours that a display is meant to keep, and the ones that it says it keeps."""

from alembic import op

revision = "0055_hours_of_displays"
down_revision = "0054_screen_commands"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE clients ADD COLUMN hours_version text, ADD COLUMN hours_wanted text")
    op.execute(
        "CREATE INDEX ix_clients_hours_untold ON clients (uuid) WHERE hours_version IS DISTINCT FROM hours_wanted"
    )
    op.execute(
        """
        CREATE TABLE client_hours (
            client_uuid text NOT NULL,
            version text NOT NULL,
            hours jsonb NOT NULL,
            set_at timestamptz NOT NULL,
            CONSTRAINT pk_client_hours PRIMARY KEY (client_uuid),
            CONSTRAINT fk_client_hours_client_uuid FOREIGN KEY (client_uuid) REFERENCES clients (uuid)
        )
        """
    )


def downgrade() -> None:
    op.execute("DROP TABLE client_hours")
    op.execute("DROP INDEX ix_clients_hours_untold")
    op.execute("ALTER TABLE clients DROP COLUMN hours_version, DROP COLUMN hours_wanted")
