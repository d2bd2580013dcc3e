"""Commands with their ACK lifecycle, and the lockout on the client."""

from alembic import op

revision = "0010_client_commands"
down_revision = "0009_file_hash_required"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE client_commands (
        id text NOT NULL CONSTRAINT pk_client_commands PRIMARY KEY,
        client_uuid text NOT NULL,
        action text NOT NULL,
        state text NOT NULL DEFAULT 'queued',
        rank smallint NOT NULL GENERATED ALWAYS AS (
            CASE state
                WHEN 'queued' THEN 10 WHEN 'sent' THEN 20 WHEN 'received' THEN 30 WHEN 'running' THEN 40
                WHEN 'succeeded' THEN 90 WHEN 'failed' THEN 90 WHEN 'rejected' THEN 90
                WHEN 'expired' THEN 90 WHEN 'timed_out' THEN 90 WHEN 'cancelled' THEN 90
            END) STORED,
        source text NOT NULL,
        reason text NOT NULL DEFAULT '',
        outcome_reason text,
        requested_by text NOT NULL,
        idempotency_key text,
        request_hash text,
        if_boot_id text,
        if_app_instance text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        publish_attempted_at timestamptz,
        publish_lease_until timestamptz,
        next_publish_at timestamptz,
        publish_attempts integer NOT NULL DEFAULT 0,
        publish_answer smallint,
        sent_at timestamptz,
        received_at timestamptz,
        running_at timestamptz,
        result_deadline timestamptz,
        finished_at timestamptz,
        late_state text,
        late_at timestamptz,
        confirmed_by text,
        traceparent text,
        CONSTRAINT fk_client_commands_client_uuid FOREIGN KEY (client_uuid) REFERENCES clients (uuid),
        CONSTRAINT ck_client_commands_action CHECK (action IN ('restart_app', 'reboot_host', 'shutdown_host')),
        CONSTRAINT ck_client_commands_state CHECK (state IN (
            'queued', 'sent', 'received', 'running', 'succeeded', 'failed', 'rejected', 'expired', 'timed_out',
            'cancelled')),
        CONSTRAINT ck_client_commands_source CHECK (source IN ('operator', 'recovery', 'bulk')),
        CONSTRAINT ck_client_commands_confirmed_by CHECK (confirmed_by IN ('ack', 'evidence', 'both')),
        CONSTRAINT ck_client_commands_expires_at CHECK (expires_at > created_at)
    )
    """,
    "CREATE UNIQUE INDEX uq_client_commands_open ON client_commands (client_uuid) WHERE rank < 90",
    "CREATE UNIQUE INDEX uq_client_commands_idempotency ON client_commands (requested_by, idempotency_key)",
    "CREATE INDEX ix_client_commands_client_uuid_created_at ON client_commands (client_uuid, created_at)",
    """
    ALTER TABLE clients
        ADD COLUMN lockout_until timestamptz,
        ADD COLUMN lockout_command_id text
    """,
)
DOWN = (
    "ALTER TABLE clients DROP COLUMN lockout_until, DROP COLUMN lockout_command_id",
    "DROP TABLE client_commands",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
