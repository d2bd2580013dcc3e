"""A batch or schedule that was asked for without a key has no hash."""

from alembic import op

revision, down_revision = "0071_no_hash_without_a_key", "0070_end_of_the_old_chain"


def upgrade() -> None:
    for table in ("command_batches", "command_schedules"):
        op.alter_column(table, "request_hash", nullable=True)
