"""Commands that people plan for later, once or each week, and what became of each of their times."""

from alembic import op

revision = "0057_schedules"
down_revision = "0056_health_limits"
branch_labels = None
depends_on = None

SCHEDULES = """
    CREATE TABLE command_schedules (
        id text NOT NULL,
        action text NOT NULL,
        reason text NOT NULL,
        filter jsonb,
        waves jsonb NOT NULL,
        max_unproven text NOT NULL,
        ttl_seconds integer,
        time_zone text NOT NULL,
        at timestamptz,
        weekdays text[] NOT NULL,
        local_time text,
        until date,
        next_at timestamptz,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        idempotency_key text,
        request_hash text NOT NULL,
        cancelled_at timestamptz,
        cancelled_by text,
        CONSTRAINT pk_command_schedules PRIMARY KEY (id),
        CONSTRAINT uq_command_schedules_created_by_idempotency_key UNIQUE (created_by, idempotency_key),
        CONSTRAINT ck_command_schedules_weekdays CHECK (weekdays <@ ARRAY
            ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']),
        CONSTRAINT ck_command_schedules_when CHECK ((at IS NULL) = (local_time IS NOT NULL)),
        CONSTRAINT ck_command_schedules_cancelled CHECK ((cancelled_at IS NULL) = (cancelled_by IS NULL))
    )
    """
CLIENTS = """
    CREATE TABLE command_schedule_clients (
        schedule_id text NOT NULL,
        client_uuid text NOT NULL,
        position integer NOT NULL,
        CONSTRAINT pk_command_schedule_clients PRIMARY KEY (schedule_id, client_uuid),
        CONSTRAINT fk_command_schedule_clients_schedule_id FOREIGN KEY (schedule_id)
            REFERENCES command_schedules (id) ON DELETE CASCADE,
        CONSTRAINT fk_command_schedule_clients_client_uuid FOREIGN KEY (client_uuid) REFERENCES clients (uuid)
    )
    """
RUNS = """
    CREATE TABLE command_schedule_runs (
        schedule_id text NOT NULL,
        due_at timestamptz NOT NULL,
        outcome text NOT NULL,
        why text,
        batch_id text,
        CONSTRAINT pk_command_schedule_runs PRIMARY KEY (schedule_id, due_at),
        CONSTRAINT fk_command_schedule_runs_schedule_id FOREIGN KEY (schedule_id)
            REFERENCES command_schedules (id) ON DELETE CASCADE,
        CONSTRAINT fk_command_schedule_runs_batch_id FOREIGN KEY (batch_id)
            REFERENCES command_batches (id) ON DELETE SET NULL,
        CONSTRAINT ck_command_schedule_runs_outcome CHECK (outcome IN ('made', 'missed')),
        CONSTRAINT ck_command_schedule_runs_why CHECK ((outcome = 'missed') = (why IS NOT NULL))
    )
    """


def upgrade() -> None:
    op.execute(SCHEDULES)
    op.execute("CREATE INDEX ix_command_schedules_created_at_id ON command_schedules (created_at, id)")
    op.execute("CREATE INDEX ix_command_schedules_next_at ON command_schedules (next_at) WHERE cancelled_at IS NULL")
    op.execute(CLIENTS)
    op.execute("CREATE INDEX ix_command_schedule_clients_client_uuid ON command_schedule_clients (client_uuid)")
    op.execute(RUNS)
    op.execute("CREATE INDEX ix_command_schedule_runs_batch_id ON command_schedule_runs (batch_id)")


def downgrade() -> None:
    op.execute("DROP TABLE command_schedule_runs, command_schedule_clients, command_schedules")
