"""How much memory the broker takes stands beside the number of its open files; 0 where the code does not note it."""

from alembic import op

revision = "0069_broker_memory"
down_revision = "0066_names_are_keys"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE broker_files_seen ADD COLUMN memory_bytes bigint NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE broker_files_seen DROP COLUMN memory_bytes")
