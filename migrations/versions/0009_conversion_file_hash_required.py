"""`file_hash` is required."""

from alembic import op

revision = "0009_file_hash_required"
down_revision = "0008_conversion_unique"


def upgrade() -> None:
    op.alter_column("conversions", "file_hash", nullable=False)
