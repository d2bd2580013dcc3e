"""`file_hash` is required. Rows without one take their medium's hash; where that pair exists, or a
more finished row of the same medium has none either, the lesser row goes.
"""

from alembic import op

revision = "0009_file_hash_required"
down_revision = "0008_conversion_unique"
branch_labels = None
depends_on = None

UP = (
    """
    DELETE FROM conversions AS worse USING conversions AS better, event_media AS medium
    WHERE worse.file_hash IS NULL
      AND worse.source_event_media_id = better.source_event_media_id
      AND worse.target_format = better.target_format
      AND medium.id = worse.source_event_media_id
      AND worse.id <> better.id
      AND (better.file_hash = medium.sha256
           OR (better.file_hash IS NULL
               AND (worse.status = 'ready', worse.status = 'processing', worse.status = 'pending', worse.id)
                 < (better.status = 'ready', better.status = 'processing', better.status = 'pending', better.id)))
    """,
    """
    UPDATE conversions SET file_hash = medium.sha256
    FROM event_media AS medium
    WHERE medium.id = conversions.source_event_media_id AND conversions.file_hash IS NULL
    """,
    "ALTER TABLE conversions ALTER COLUMN file_hash SET NOT NULL",
)
DOWN = ("ALTER TABLE conversions ALTER COLUMN file_hash DROP NOT NULL",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
