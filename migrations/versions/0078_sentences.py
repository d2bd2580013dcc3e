"""A sentence is one jsonb, its code with its facts. What was stored before is told as it stands, in English."""

from alembic import op

revision, down_revision = "0078_sentences", "0077_narrow_reads"

TEXTS = (
    ("recovery_breakers", "why"),
    ("incidents", "cause"),
    ("incident_events", "words"),
    ("command_batches", "state_reason"),
    ("command_schedule_runs", "why"),
)
"""Columns with English, each of which has a twin `<column>_sentences`."""


def upgrade() -> None:
    for table, column in TEXTS:
        given = f"jsonb_build_object('code', 'as_given', 'facts', jsonb_build_object('text', {column}))"
        told = f"CASE WHEN {column} IS NOT NULL THEN {given} END"
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE jsonb USING {told}")
        op.execute(f"ALTER TABLE {table} DROP COLUMN {column}_sentences")
