"""The emulator's table, in a schema of its own, made at the start: the product's migrations do not contain it."""

import sqlalchemy as sa
from sqlalchemy import Connection

from migrations.roles import QUEUE_SCHEMA as SCHEMA

# Two numbers that no other advisory lock in this database uses.
SCHEMA_LOCK = 7_241_001
DISPATCHER_LOCK = 7_241_002

metadata = sa.MetaData(schema=SCHEMA)
_instant = sa.DateTime(timezone=True)

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Column("task_id", sa.Text, nullable=False, comment="last part of the name, given or made up"),
    sa.Column("http_request", sa.LargeBinary, nullable=False, comment="serialized HttpRequest"),
    sa.Column("dispatch_deadline_ms", sa.Integer, nullable=False),
    sa.Column("created_at", _instant, nullable=False),
    sa.Column("scheduled_at", _instant, nullable=False, comment="when the next attempt is due"),
    sa.Column("gone_at", _instant, comment="done or given up; the row then only guards the name"),
    sa.Column("dispatcher", sa.Text, comment="process that is delivering it now; null: waiting"),
    sa.Column("dispatch_count", sa.Integer, nullable=False, comment="attempts begun; also the fencing token"),
    sa.Column("response_count", sa.Integer, nullable=False, comment="attempts that were answered"),
    sa.Column("execution_count", sa.Integer, nullable=False, comment="answered attempts without the 5xx"),
    sa.Column("first_dispatched_at", _instant),
    sa.Column("last_scheduled_at", _instant, comment="when the last attempt had been due"),
    sa.Column("last_dispatched_at", _instant),
    sa.Column("last_responded_at", _instant, comment="null while under way, and after no answer"),
    sa.Column("last_http_status", sa.Integer, comment="null: no answer"),
    sa.Column("last_failure", sa.Text, comment="the last attempt's failure in words"),
    sa.UniqueConstraint("queue", "task_id"),
)
_waiting = tasks.c.gone_at.is_(None) & tasks.c.dispatcher.is_(None)
sa.Index("tasks_due", tasks.c.queue, tasks.c.scheduled_at, postgresql_where=_waiting)
sa.Index("tasks_gone", tasks.c.gone_at, postgresql_where=tasks.c.gone_at.is_not(None))


def create(connection: Connection) -> None:
    """Make the missing schema and table; two starts at once wait for each other."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(SCHEMA_LOCK)))
    if not sa.inspect(connection).has_schema(SCHEMA):  # the migrations make it for a role without this right
        connection.execute(sa.schema.CreateSchema(SCHEMA))
    metadata.create_all(connection)
