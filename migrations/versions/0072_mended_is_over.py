"""A failed service that is mended fails no more, also before somebody acknowledges it."""

from alembic import op

revision, down_revision = "0072_mended_is_over", "0071_no_hash_without_a_key"


def upgrade() -> None:
    op.execute("ALTER TABLE clients ADD COLUMN service_mended_at timestamptz")
