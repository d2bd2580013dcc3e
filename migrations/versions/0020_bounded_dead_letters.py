"""Who sent a dead letter: so that one sender's different letters can be counted, and its next ones only counted."""

from alembic import op

revision = "0020_bounded_dead_letters"
down_revision = "0024_life_of_media"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE dead_letters
        ADD COLUMN sender text NOT NULL GENERATED ALWAYS AS (split_part(topic, '/', 2)) STORED
    """,
    "CREATE INDEX ix_dead_letters_sender ON dead_letters (sender)",
)
DOWN = (
    "DROP INDEX ix_dead_letters_sender",
    "ALTER TABLE dead_letters DROP COLUMN sender",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
