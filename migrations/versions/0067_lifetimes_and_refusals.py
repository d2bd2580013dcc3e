"""A door's certificate has a begin: how near its end is depends on its lifetime.

Older code does not store the begin. `epoch` then stands for a long lifetime, which has the limits of older code.
"""

from alembic import op

revision = "0067_lifetimes_and_refusals"
down_revision = "0064_delivery_sentences"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE door_certificates ADD COLUMN begins_at timestamptz NOT NULL DEFAULT 'epoch'")


def downgrade() -> None:
    op.execute("ALTER TABLE door_certificates DROP COLUMN begins_at")
