"""When a display's connection to the broker was lost, by our own clock: kept for a day.

A display counts its losses, and its own clock says when the last one was; that clock may be wrong by hours. So a row
is written when a health report raises the count: the loss lies between the report before and this one, by arrival.
"""

from alembic import op

revision = "0041_incident_truth"
down_revision = "0040_broker_crashes"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE client_losses (
            client_uuid text NOT NULL,
            at timestamptz NOT NULL,
            since timestamptz NOT NULL,
            losses integer NOT NULL,
            CONSTRAINT pk_client_losses PRIMARY KEY (client_uuid, at),
            CONSTRAINT ck_client_losses_losses CHECK (losses > 0),
            CONSTRAINT fk_client_losses_client_uuid FOREIGN KEY (client_uuid) REFERENCES clients (uuid)
        )
        """
    )
    op.execute("CREATE INDEX ix_client_losses_at ON client_losses (at)")


def downgrade() -> None:
    op.execute("DROP TABLE client_losses")
