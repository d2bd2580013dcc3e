"""When the certificates of the doors end, as somebody who connects sees them: gauges and alerts tell it in time."""

from alembic import op

revision = "0045_certificates"
down_revision = "0043_second_factors"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE door_certificates (
            door text PRIMARY KEY CONSTRAINT ck_door_certificates_door CHECK (door IN ('displays', 'people')),
            ends_at timestamptz NOT NULL,
            seen_at timestamptz NOT NULL
        )
        """
    )


def downgrade() -> None:
    op.execute("DROP TABLE door_certificates")
