"""Uploaders take turns: a conversion has a turn, and the least one is next.

Older code writes no turn: its conversions come first, in the order of their ids. It claims any conversion by id.
"""

from alembic import op

revision = "0068_turns_of_conversions"
down_revision = "0067_lifetimes_and_refusals"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE conversions ADD COLUMN turn bigint NOT NULL DEFAULT 0")
    op.execute(
        "CREATE INDEX ix_conversions_turn_id ON conversions (turn, id) WHERE status IN ('pending', 'processing')"
    )
    op.execute("CREATE INDEX ix_conversions_turn ON conversions (turn) WHERE status <> 'pending'")


def downgrade() -> None:
    op.execute("ALTER TABLE conversions DROP COLUMN turn")
