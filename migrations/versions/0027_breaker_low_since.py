"""Since when an open breaker finds few enough displays silent: it closes after a time, not after a number of ticks."""

from alembic import op

revision = "0027_breaker_low_since"
down_revision = "0026_health_history"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the moment; an open breaker counts from its next tick."""
    op.execute("ALTER TABLE recovery_breakers ADD COLUMN low_since timestamptz")


def downgrade() -> None:
    """Take it away."""
    op.execute("ALTER TABLE recovery_breakers DROP COLUMN low_since")
