"""A sentence is one jsonb, its code with its facts. What was stored before is told as it stands, in English."""

from alembic import op

revision, down_revision = "0078_sentences", "0077_narrow_reads"

TEXTS = (  # columns with English, most of which have a twin `<column>_sentences`
    ("recovery_breakers", "why"),
    ("incidents", "cause"),
    ("incident_events", "words"),
    ("command_batches", "state_reason"),
    ("command_schedule_runs", "why"),
    ("recovery_events", "why"),
    ("client_commands", "reason"),
    ("client_state_changes", "cause"),
    ("notification_channels", "last_error"),
    ("notification_deliveries", "error"),
)


def upgrade() -> None:
    op.execute("ALTER TABLE client_commands ALTER reason DROP DEFAULT, ALTER reason DROP NOT NULL")
    for table, column in TEXTS:
        text = "nullif(reason, '')" if column == "reason" else column
        given = f"jsonb_build_object('code', 'as_given', 'facts', jsonb_build_object('text', {text}))"
        told = f"CASE WHEN {text} IS NOT NULL THEN {given} END"
        twin = f"DROP COLUMN IF EXISTS {column}_sentences"
        op.execute(f"ALTER TABLE {table} ALTER {column} TYPE jsonb USING {told}, {twin}")
    for word in ("white", "hung", "error_page", "no_page", "wrong_page"):
        op.execute(f"ALTER TYPE screen_health_status ADD VALUE '{word}'")
    op.execute("ALTER TABLE client_health ADD COLUMN page jsonb")  # what is on the screen
    op.execute("ALTER TABLE notification_channels ADD COLUMN language text NOT NULL DEFAULT 'en'")  # of its messages
