"""Many commands asked for at once: batches and their members, fixed when the batch is made."""

from alembic import op

revision = "0022_command_batches"
down_revision = "0020_bounded_dead_letters"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE command_batches (
        id text CONSTRAINT pk_command_batches PRIMARY KEY,
        action text NOT NULL,
        reason text NOT NULL DEFAULT '',
        requested_by text NOT NULL,
        idempotency_key text,
        request_hash text NOT NULL,
        traceparent text,
        ttl_seconds integer,
        max_unproven text NOT NULL,
        waves smallint NOT NULL,
        wave smallint NOT NULL DEFAULT 1,
        state text NOT NULL DEFAULT 'running',
        state_reason text,
        excused integer NOT NULL DEFAULT 0,
        excused_wave smallint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        finished_at timestamptz,
        CONSTRAINT uq_command_batches_requested_by_idempotency_key UNIQUE (requested_by, idempotency_key),
        CONSTRAINT ck_command_batches_action CHECK (action IN ('restart_app', 'reboot_host', 'shutdown_host')),
        CONSTRAINT ck_command_batches_state CHECK (state IN ('running', 'paused', 'finished', 'aborted'))
    )
    """,
    "CREATE INDEX ix_command_batches_created_at_id ON command_batches (created_at, id)",
    "CREATE INDEX ix_command_batches_running ON command_batches (created_at) WHERE state = 'running'",
    """
    CREATE TABLE command_batch_members (
        batch_id text NOT NULL,
        client_uuid text NOT NULL,
        position integer NOT NULL,
        wave smallint,
        outcome text NOT NULL,
        command_id text,
        lockout_until timestamptz,
        decided_at timestamptz,
        CONSTRAINT pk_command_batch_members PRIMARY KEY (batch_id, client_uuid),
        CONSTRAINT fk_command_batch_members_batch_id FOREIGN KEY (batch_id) REFERENCES command_batches (id),
        CONSTRAINT fk_command_batch_members_command_id FOREIGN KEY (command_id)
            REFERENCES client_commands (id) ON DELETE SET NULL,
        CONSTRAINT uq_command_batch_members_batch_id_position UNIQUE (batch_id, position),
        CONSTRAINT uq_command_batch_members_command_id UNIQUE (command_id),
        CONSTRAINT ck_command_batch_members_outcome CHECK (outcome IN (
            'waiting', 'accepted', 'command_in_flight', 'locked_out', 'not_capable', 'unknown_client', 'aborted'))
    )
    """,
)
DOWN = ("DROP TABLE command_batch_members", "DROP TABLE command_batches")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
