"""When the broker crashed: what its launcher notes on its machine is counted where alerts can see it."""

from alembic import op

revision = "0040_broker_crashes"
down_revision = "0038_counters_that_go_back"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE TABLE broker_crashes (noticed_at timestamptz PRIMARY KEY)")


def downgrade() -> None:
    op.execute("DROP TABLE broker_crashes")
