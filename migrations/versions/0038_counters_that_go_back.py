"""A display's counters may go back: what is needed to see it, to mend what rests on them, and to say it.

Code of before writes none of this and reads none of it. To it a mark that is over or doubted is a mark.
"""

from alembic import op

revision = "0038_counters_that_go_back"
down_revision = "0037_recovery_truth"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE clients
            ADD COLUMN counter_went_back_at timestamptz,
            ADD COLUMN shared_login_seen_at timestamptz
        """
    )
    op.execute("ALTER TABLE log_marks ADD COLUMN over_at timestamptz, ADD COLUMN doubted_at timestamptz")
    op.execute(
        """
        CREATE TABLE log_gaps (
            client_uuid text NOT NULL CONSTRAINT fk_log_gaps_client_uuid REFERENCES clients (uuid),
            install_id text NOT NULL,
            boot_seq bigint NOT NULL,
            seq bigint NOT NULL,
            hours smallint DEFAULT 0 NOT NULL,
            looked_at timestamptz NOT NULL,
            CONSTRAINT pk_log_gaps PRIMARY KEY (client_uuid, install_id, boot_seq)
        )
        """
    )


def downgrade() -> None:
    op.execute("DROP TABLE log_gaps")
    op.execute("ALTER TABLE log_marks DROP COLUMN over_at, DROP COLUMN doubted_at")
    op.execute("ALTER TABLE clients DROP COLUMN counter_went_back_at, DROP COLUMN shared_login_seen_at")
