"""One conversion per medium, target format and file hash."""

from alembic import op

revision = "0008_conversion_unique"
down_revision = "0007_conversion_indexes"
COLUMNS = ["source_event_media_id", "target_format", "file_hash"]


def upgrade() -> None:
    op.create_unique_constraint("uq_conversions_media_format_hash", "conversions", COLUMNS)
