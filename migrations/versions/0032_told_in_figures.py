"""What the figures and the traces need: when a conversion was asked for and by which request, commands by their end."""

from alembic import op

revision = "0032_told_in_figures"
down_revision = "0031_recovery_changes"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Conversions of before know neither: they count from when they were made."""
    op.execute("ALTER TABLE conversions ADD COLUMN requested_at timestamptz, ADD COLUMN traceparent text")
    op.execute(
        "CREATE INDEX ix_client_commands_finished_at ON client_commands (finished_at) WHERE finished_at IS NOT NULL"
    )


def downgrade() -> None:
    """Take them away."""
    op.execute("DROP INDEX ix_client_commands_finished_at")
    op.execute("ALTER TABLE conversions DROP COLUMN traceparent, DROP COLUMN requested_at")
