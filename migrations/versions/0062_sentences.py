"""Sentences for people are stored as codes and facts beside their English, so that a reader may word them anew.

Older code writes the English only: then the codes are null, or no longer make this English, and readers show it as it
is (`shared.sentences`).
"""

from alembic import op

revision = "0062_sentences"
down_revision = "0061_sign_in_provider"
branch_labels = None
depends_on = None

COLUMNS = (
    ("recovery_events", "why_sentences"),
    ("recovery_breakers", "why_sentences"),
    ("recovery_breakers", "screens_why_sentences"),
    ("incidents", "cause_sentences"),
    ("incident_events", "words_sentences"),
    ("client_commands", "reason_sentences"),
    ("command_batches", "state_reason_sentences"),
    ("command_schedule_runs", "why_sentences"),
)


def upgrade() -> None:
    for table, column in COLUMNS:
        op.execute(f"ALTER TABLE {table} ADD COLUMN {column} jsonb")


def downgrade() -> None:
    for table, column in COLUMNS:
        op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
