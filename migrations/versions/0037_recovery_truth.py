"""What recovery has to remember to tell the truth about a silence, a refusal and the boot that refused.

- A breaker remembers with whom it reckoned when it opened (`counted_since`), so that it stays open over the same
  silence for however long; the row of the whole fleet, when the reckoning was made last (`looked_at`).
- The ladder counts what the display refused beside what was tried.
- A command keeps the boot and the start of the player that the display answered from.
"""

from alembic import op

revision = "0037_recovery_truth"
down_revision = "0036_signs_of_life"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE recovery_breakers ADD COLUMN counted_since timestamptz, ADD COLUMN looked_at timestamptz")
    op.execute(
        "ALTER TABLE client_recovery ADD COLUMN refused_restarts smallint NOT NULL DEFAULT 0,"
        " ADD COLUMN refused_reboots smallint NOT NULL DEFAULT 0"
    )
    op.execute(
        "CREATE INDEX ix_client_recovery_refused ON client_recovery (client_uuid)"
        " WHERE refused_restarts + refused_reboots > 0"
    )
    op.execute("ALTER TABLE client_commands ADD COLUMN acked_boot_id text, ADD COLUMN acked_app_instance text")


def downgrade() -> None:
    op.execute("ALTER TABLE client_commands DROP COLUMN acked_app_instance, DROP COLUMN acked_boot_id")
    op.execute("DROP INDEX ix_client_recovery_refused")
    op.execute("ALTER TABLE client_recovery DROP COLUMN refused_reboots, DROP COLUMN refused_restarts")
    op.execute("ALTER TABLE recovery_breakers DROP COLUMN looked_at, DROP COLUMN counted_since")
