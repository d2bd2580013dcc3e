"""One conversion per medium, target format and file hash; of repeats the most finished stays."""

from alembic import op

revision = "0008_conversion_unique"
down_revision = "0007_conversion_indexes"
branch_labels = None
depends_on = None

UP = (
    """
    DELETE FROM conversions AS worse USING conversions AS better
    WHERE worse.source_event_media_id = better.source_event_media_id
      AND worse.target_format = better.target_format
      AND worse.file_hash = better.file_hash
      AND (worse.status = 'ready', worse.status = 'processing', worse.status = 'pending', worse.id)
        < (better.status = 'ready', better.status = 'processing', better.status = 'pending', better.id)
    """,
    """
    ALTER TABLE conversions ADD CONSTRAINT uq_conversions_media_format_hash
        UNIQUE (source_event_media_id, target_format, file_hash)
    """,
)
DOWN = ("ALTER TABLE conversions DROP CONSTRAINT uq_conversions_media_format_hash",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
