"""Every table in SQLAlchemy Core. The migrations build the same tables; a test compares the two.

The oldest closed lists (process status, screen health, log level, conversion status) are Postgres enums; others
are text with a check built from `vocabulary`.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, ENUM, JSONB
from sqlalchemy.types import UserDefinedType

from shared.vocabulary import (
    BATCH_ACTIONS,
    COMMAND_RANKS,
    TERMINAL_RANK,
    BatchState,
    ChannelKind,
    ClientStatus,
    CommandAction,
    CommandSource,
    CommandState,
    ConfirmedBy,
    ConversionStatus,
    DeliveryState,
    Door,
    ExpectationScope,
    FailureEvent,
    HealthLimit,
    IncidentEventKind,
    IncidentKind,
    LogLevel,
    MediaKind,
    MemberOutcome,
    NotificationEvent,
    NotificationPhase,
    Presence,
    ProcessStatus,
    QuietPreset,
    QuietScope,
    RecoveryBasis,
    RegisteredBy,
    Role,
    ScheduleOutcome,
    ScreenHealthStatus,
    ScreenOffBy,
    Symptom,
    TargetFormat,
    Weekday,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

NEVER_AHEAD = "never_ahead"
"""In the `info` of a column: see `_past`."""
UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"


class Xid8(UserDefinedType[str]):
    """A Postgres transaction id without wrap-around; a str in Python."""

    cache_ok = True

    def get_col_spec(self, **_kw: Any) -> str:
        return "xid8"


def _values(words: Iterable[StrEnum]) -> list[str]:
    return [word.value for word in words]


def _enum(name: str, words: type[StrEnum]) -> ENUM:
    return ENUM(*_values(words), name=name, metadata=metadata, create_type=True)


def _one_of(column: str, words: Iterable[StrEnum]) -> CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in _values(words))
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _when(name: str, **options: Any) -> Column[Any]:
    return Column(name, DateTime(timezone=True), **options)


def _past(name: str, **options: Any) -> Column[Any]:
    """A time that would do harm if it lay ahead: it becomes now after the database's clock was set back."""
    return _when(name, info={NEVER_AHEAD: True}, **options)


def _now(name: str) -> Column[Any]:
    return _when(name, nullable=False, server_default=text("now()"))


def _of_client(**options: Any) -> Column[Any]:
    return Column("client_uuid", Text, ForeignKey("clients.uuid"), nullable=False, **options)


process_status = _enum("process_status", ProcessStatus)
screen_health_status = _enum("screen_health_status", ScreenHealthStatus)
log_level = _enum("log_level", LogLevel)
conversion_status = _enum("conversion_status", ConversionStatus)

# --- clients: a row changes only when people see a change; frequent heartbeats have their own table ---

_SAME_WORD = " ".join(f"WHEN '{status}' THEN '{status}'" for status in ProcessStatus)

clients = Table(
    "clients",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("name", Text, nullable=False, server_default=""),
    Column("site", Text),
    Column("tags", ARRAY(Text), nullable=False, server_default="{}"),
    Column("notes", Text, nullable=False, server_default=""),
    Column("registered_by", Text, nullable=False),
    _now("created_at"),
    _when("deleted_at"),  # soft: the row stays; later messages of this uuid become dead letters
    Column("process_status", process_status, nullable=False, server_default="unknown"),
    _past("process_status_since"),
    Column("screen_health", screen_health_status, nullable=False, server_default="unknown"),
    _past("screen_health_since"),  # since when the screen is without a picture, in whatever way
    _past("screen_failed_at"),  # when that began to count as a failure: see fragments.screen_fails
    Column("status", Text, nullable=False, server_default="unknown"),  # the shown state
    _past("status_since", nullable=False, server_default=text("now()")),
    _past("service_failed_at"),
    Column("service_failed_unit", Text),
    _past("service_mended_at"),  # when that failure was over; it is shown until somebody acknowledges it
    Column("service_failed_stamp", JSONB),  # {install_id, boot_seq, seq} of the open failure, or null
    _past("service_failed_cleared_at"),
    Column("service_failed_cleared_by", Text),
    Column("service_failed_cleared_unit", Text),
    Column("service_failed_cleared_stamp", JSONB),  # a repeat of this failure never opens it again
    Column("service_failed_taken_by", Text),  # who looks after the open failure
    _past("service_failed_taken_at"),
    Column("service_failed_taken_note", Text),
    Column("mqtt_reconnect_count", Integer),
    _when("mqtt_last_disconnect_at"),
    Column("presence", Text, nullable=False, server_default="unknown"),
    Column("presence_session", Text),  # a presence `offline` counts only for this session
    _past("presence_at"),
    Column("app_version", Text),
    Column("ip", Text),
    Column("hostname", Text),
    Column("os", Text),
    Column("log_level", Text),  # the display's present level, by its health report
    Column("capabilities", ARRAY(Text)),  # the actions that the display supports; null: POWER_ACTIONS
    Column("screen_off_by", Text),  # whose plan it is that the screen is off, by the health report; null: nobody's
    Column("hours_version", Text),  # the opening hours that the display keeps, by its health report
    Column("hours_wanted", Text),  # the ones that it is meant to keep; null: none
    _when("lockout_until"),
    Column("lockout_command_id", Text),
    # A trigger sets it at each change; `GET /api/monitoring/overview?since=` compares it.
    Column("changed_xid", Xid8, nullable=False, server_default=text("pg_current_xact_id()")),
    _past("counter_went_back_at"),  # its seq restarted: a restored image, a write filter, a power cut
    _past("shared_login_seen_at"),  # two devices used its login
    _past("shared_login_since"),  # when that was first seen, without an hour's pause since; null: never
    _past("login_since"),  # when its login was last replaced or ended
    CheckConstraint(f"uuid ~ '{UUID_PATTERN}'", name="uuid"),
    CheckConstraint("mqtt_reconnect_count >= 0", name="mqtt_reconnect_count"),
    CheckConstraint("(service_failed_at IS NULL) = (service_failed_unit IS NULL)", name="service_failed"),
    CheckConstraint("(service_failed_taken_by IS NULL) = (service_failed_taken_at IS NULL)", name="taken"),
    _one_of("status", ClientStatus),
    _one_of("presence", Presence),
    _one_of("screen_off_by", ScreenOffBy),
    _one_of("registered_by", RegisteredBy),
    Index("ix_clients_changed_xid", "changed_xid"),
    Index("ix_clients_crashed", "process_status_since", postgresql_where=text("process_status = 'crashed'")),
    Index("ix_clients_screen_failed", "uuid", postgresql_where=text("screen_failed_at >= screen_health_since")),
    Index("ix_clients_screen_off", "uuid", postgresql_where=text("screen_health = 'off'")),
    Index("ix_clients_hours_untold", "uuid", postgresql_where=text("hours_version IS DISTINCT FROM hours_wanted")),
    Index("ix_clients_stopped", "uuid", postgresql_where=text("process_status = 'stopped'")),
    Index("ix_clients_shared_login", "shared_login_seen_at", postgresql_where=text("shared_login_seen_at IS NOT NULL")),
    Index("ix_clients_deleted", "uuid", postgresql_where=text("deleted_at IS NOT NULL")),
    Index(
        "ix_clients_service_failed_at",
        "service_failed_at",
        postgresql_where=text("service_failed_at IS NOT NULL"),
    ),
    Index("ix_clients_name", "name", "uuid", postgresql_where=text("deleted_at IS NULL")),
    Index("ix_clients_status", "status", "service_failed_at", postgresql_where=text("deleted_at IS NULL")),
    Index(
        "ix_clients_unwell",
        "uuid",
        postgresql_where=text(
            "status IN ('crashed', 'stale') OR process_status = 'crashed' OR service_failed_at IS NOT NULL"
        ),
    ),
    Index(
        "ix_clients_shows_another",
        "uuid",
        postgresql_where=text(f"deleted_at IS NULL AND status <> CASE process_status {_SAME_WORD} END"),
    ),
    Index("ix_clients_site", "site", postgresql_where=text("site IS NOT NULL")),
    Index("ix_clients_subnet", text("subnet_of(ip)"), postgresql_where=text("ip IS NOT NULL")),
    Index(
        "ix_clients_mqtt_last_disconnect_at",
        "mqtt_last_disconnect_at",
        postgresql_where=text("mqtt_last_disconnect_at IS NOT NULL"),
    ),
)

client_hours = Table(  # the opening hours that a display is meant to keep
    "client_hours",
    metadata,
    _of_client(primary_key=True),
    Column("version", Text, nullable=False),  # a hash of the hours; clients.hours_wanted is the same
    Column("hours", JSONB, nullable=False),  # {zone, open: [{days, from, until}]}
    _when("set_at", nullable=False),
)

client_heartbeats = Table(  # a narrow row per client, without a second index: each heartbeat is a HOT update
    "client_heartbeats",
    metadata,
    _of_client(primary_key=True),
    _past("last_heartbeat_at", nullable=False),
    Column("interval_seconds", Integer, nullable=False, server_default="30"),
    Column("boot_id", Text),
    Column("app_instance", Text),
    Column("install_id", Text),
    Column("boot_seq", BigInteger),
    Column("seq", BigInteger),
    _past("sign_at"),  # its last other message; stored only while its heartbeats are missing
    postgresql_with={"fillfactor": 70},
)

client_health = Table(  # the newest health report of each client
    "client_health",
    metadata,
    _of_client(primary_key=True),
    _when("received_at", nullable=False),
    _when("previous_at"),  # when the report before this one came
    Column("install_id", Text),
    Column("boot_seq", BigInteger),
    Column("seq", BigInteger),
    Column("cpu_percent", Float),
    Column("memory_percent", Float),
    Column("disk_percent", Float),
    Column("temperature_celsius", Float),
    _when("certificate_ends_at"),  # of the authority that its login trusts
    Column("under_voltage", Boolean),  # since its boot
    Column("clock_ahead_seconds", Float),  # its own time in the report, less the time of arrival
    Column("disk_writable", Boolean),
    Column("refused", Text),  # the orders that it does not take, as `hours:unknown_zone,…`
    Column("page", JSONB),  # what is on the screen: kind, name, address, title; null: nobody sees it
    Column("body", JSONB, nullable=False),
    postgresql_with={"fillfactor": 70},
)

client_limits = Table(  # a row for each limit that a display ever reached; it stays, so that readers see the end
    "client_limits",
    metadata,
    _of_client(),
    Column("kind", Text, nullable=False),
    _past("over_since"),  # when the first report at the limit came; null: the limit is not passed
    _past("passed_at"),  # when that had lasted long enough to be a trouble
    _past("left_since"),  # since when the value is behind the margin, or not known
    Column("value", Float, nullable=False),  # the last one at the limit or worse
    Column("limit_at", Float, nullable=False),
    Column("changed_xid", Xid8, nullable=False, server_default=text("pg_current_xact_id()")),
    PrimaryKeyConstraint("client_uuid", "kind"),
    _one_of("kind", HealthLimit),
    CheckConstraint("passed_at IS NULL AND left_since IS NULL OR over_since IS NOT NULL", name="over"),
    Index("ix_client_limits_changed_xid", "changed_xid"),
    Index("ix_client_limits_over", "client_uuid", postgresql_where=text("over_since IS NOT NULL")),
)

client_health_history = Table(  # a bunch of displays at one time; parallel arrays, values in tenths
    "client_health_history",
    metadata,
    Column("bunch", SmallInteger, nullable=False),  # by a hash of the uuid
    _when("at", nullable=False),
    Column("clients", ARRAY(Uuid(as_uuid=False)), nullable=False),
    Column("cpu", ARRAY(SmallInteger), nullable=False),
    Column("memory", ARRAY(SmallInteger), nullable=False),
    Column("disk", ARRAY(SmallInteger), nullable=False),
    Column("temperature", ARRAY(SmallInteger), nullable=False),
    PrimaryKeyConstraint("bunch", "at"),
)

client_installs = Table(  # an unknown install_id becomes the newest: a re-imaged display counts at once
    "client_installs",
    metadata,
    _of_client(),
    Column("install_id", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),  # 1 for the client's first installation
    _now("first_seen_at"),
    PrimaryKeyConstraint("client_uuid", "install_id"),
    UniqueConstraint("client_uuid", "ordinal"),
)

client_state_changes = Table(
    "client_state_changes",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _of_client(),
    _when("at", nullable=False),
    Column("from_status", Text, nullable=False),
    Column("to_status", Text, nullable=False),
    Column("cause", JSONB, nullable=False),  # for people
    _when("noticed_at"),  # when the service noticed it; null: at once
    Index("ix_client_state_changes_client_uuid_at", "client_uuid", "at"),
    Index(
        "ix_client_state_changes_fallen_at",
        "at",
        postgresql_where=text("to_status IN ('stale', 'crashed')"),
    ),
    Index(
        "ix_client_state_changes_fallen_noticed_at",
        text("coalesce(noticed_at, at)"),
        postgresql_where=text("to_status IN ('stale', 'crashed')"),
    ),
)

client_losses = Table(  # lost connections to the broker: a row when a health report raises the count
    "client_losses",
    metadata,
    _of_client(),
    _when("at", nullable=False),  # arrival of this report, by the database's clock
    _when("since", nullable=False),  # arrival of the report before it: the loss lies between them
    Column("losses", Integer, nullable=False),  # the increase of the count
    PrimaryKeyConstraint("client_uuid", "at"),
    CheckConstraint("losses > 0", name="losses"),
    Index("ix_client_losses_at", "at"),
)

service_failure_events = Table(  # each service failure and each acknowledgement; append only
    "service_failure_events",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _of_client(),
    _when("at", nullable=False),
    Column("event", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("by", Text),  # who acknowledged it
    _one_of("event", FailureEvent),
    Index("ix_service_failure_events_client_uuid_at", "client_uuid", "at"),
)

client_screen_changes = Table(  # each time a screen begins to fail, fails in another way, or fails no more
    "client_screen_changes",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _of_client(),
    _when("at", nullable=False),
    Column("screen", screen_health_status, nullable=False),
    Column("fails", sa.Boolean, nullable=False),
    Index("ix_client_screen_changes_client_uuid_at", "client_uuid", "at"),
)

# --- client logs: partitioned by severity class (routine, serious), then by week ---

client_logs = Table(
    "client_logs",
    metadata,
    Column("id", BigInteger, nullable=False, server_default=text("nextval('client_logs_id_seq'::regclass)")),
    _of_client(),
    Column("level", log_level, nullable=False),
    Column("raw_level", Text),  # the topic's level when it is not a known one
    Column("message", Text, nullable=False),
    Column("truncated", sa.Boolean, nullable=False, server_default=text("false")),
    Column("logger", Text),
    Column("context", JSONB),
    _when("client_time"),  # the display's own clock: only shown, never used
    _when("received_at", nullable=False),
    PrimaryKeyConstraint("id", "level", "received_at"),
    Index("ix_client_logs_client_uuid_received_at_id", "client_uuid", "received_at", "id"),
    Index("ix_client_logs_received_at_id", "received_at", "id"),
    postgresql_partition_by="LIST (level)",
)

log_marks = Table(  # highest seq without a gap, per client, installation and boot
    "log_marks",
    metadata,
    _of_client(),
    Column("install_id", Text, nullable=False),
    Column("boot_seq", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    _now("updated_at"),
    _when("over_at"),  # since when the display may number from 1 again; null: it may not
    _when("doubted_at"),  # since when stored numbers arrive again, as repeats or as new lines; null: no
    PrimaryKeyConstraint("client_uuid", "install_id", "boot_seq"),
)

log_gaps = Table(  # the marks before a gap; checked once an hour
    "log_gaps",
    metadata,
    _of_client(),
    Column("install_id", Text, nullable=False),
    Column("boot_seq", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),  # the mark at the last check
    Column("hours", SmallInteger, nullable=False, server_default="0"),  # later checks at which the display was heard
    _when("looked_at", nullable=False),
    PrimaryKeyConstraint("client_uuid", "install_id", "boot_seq"),
)

log_keys = Table(  # the numbers of logs stored above the mark, until the gap closes
    "log_keys",
    metadata,
    _of_client(),
    Column("install_id", Text, nullable=False),
    Column("boot_seq", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("client_uuid", "install_id", "boot_seq", "seq"),
)

client_log_hours = Table(  # counts per hour, written in the transaction that stores the logs
    "client_log_hours",
    metadata,
    _of_client(),
    _when("hour", nullable=False),
    *(Column(level.value, Integer, nullable=False) for level in LogLevel),
    _when("last_error_at"),
    PrimaryKeyConstraint("hour", "client_uuid"),
    Index("ix_client_log_hours_client", "client_uuid", "hour"),
)

# --- commands and recovery ---

_RANK = "CASE state " + " ".join(f"WHEN '{s}' THEN {r}" for s, r in COMMAND_RANKS.items()) + " END"

client_commands = Table(
    "client_commands",
    metadata,
    Column("id", Text, primary_key=True),  # a UUID; the display keeps it in its journal
    _of_client(),
    Column("action", Text, nullable=False),
    Column("state", Text, nullable=False, server_default="queued"),
    Column("rank", SmallInteger, Computed(_RANK, persisted=True), nullable=False),
    Column("source", Text, nullable=False),
    Column("reason", JSONB),  # the reason of the request
    Column("outcome_reason", Text),  # the reason of the outcome
    Column("requested_by", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("request_hash", Text),  # SHA-256 of the request that used the key
    Column("if_boot_id", Text),
    Column("if_app_instance", Text),
    _past("created_at", nullable=False),
    _when("expires_at", nullable=False),
    _past("publish_attempted_at"),  # null: the command provably never left this service
    _when("publish_lease_until"),  # until then one publisher holds the command
    _when("next_publish_at"),  # after the back-off, or for the next repeat
    Column("publish_attempts", Integer, nullable=False, server_default="0"),
    Column("publish_answer", SmallInteger),  # reason code of the last PUBACK
    _past("unanswered_at"),  # the first publish without an answer, which may have arrived; null: none
    _when("lockout_before"),  # the client's lockout before this command; restored when its own is released
    _past("sent_at"),
    _past("received_at"),
    _past("running_at"),
    _when("result_deadline"),
    _past("finished_at"),
    Column("late_state", Text),  # a result that came after expired or timed_out
    _past("late_at"),
    Column("confirmed_by", Text),
    Column("traceparent", Text),
    Column("changed_xid", Xid8, nullable=False, server_default=text("pg_current_xact_id()")),
    Column("acked_boot_id", Text),  # boot_id of the last ACK that changed the command's state
    Column("acked_app_instance", Text),
    _one_of("action", CommandAction),
    _one_of("state", CommandState),
    _one_of("source", CommandSource),
    _one_of("confirmed_by", ConfirmedBy),
    CheckConstraint("expires_at > created_at", name="expires_at"),
    Index(
        "uq_client_commands_open",
        "client_uuid",
        text("(action = 'screenshot')"),
        unique=True,
        postgresql_where=text(f"rank < {TERMINAL_RANK}"),
    ),
    Index("uq_client_commands_idempotency", "requested_by", "idempotency_key", unique=True),
    Index("ix_client_commands_client_uuid_created_at", "client_uuid", "created_at"),
    Index("ix_client_commands_changed_xid", "changed_xid"),
    Index("ix_client_commands_finished_at", "finished_at", postgresql_where=text("finished_at IS NOT NULL")),
    Index(
        "ix_client_commands_shutdown", "client_uuid", "created_at", postgresql_where=text("action = 'shutdown_host'")
    ),
)

command_batches = Table(  # many commands from one request
    "command_batches",
    metadata,
    Column("id", Text, primary_key=True),  # a UUID
    Column("action", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("requested_by", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("request_hash", Text),  # SHA-256 of the request that used the key
    Column("traceparent", Text),
    Column("ttl_seconds", Integer),  # null: the default of the action
    Column("max_unproven", Text, nullable=False),  # a number, or a share such as 10%
    Column("waves", SmallInteger, nullable=False),  # the number of waves
    Column("wave", SmallInteger, nullable=False, server_default="1"),  # the present wave, from 1
    Column("state", Text, nullable=False, server_default="running"),
    Column("state_reason", JSONB),  # why it is paused or aborted
    Column("excused", Integer, nullable=False, server_default="0"),  # the unproven commands at the last resume
    Column("excused_wave", SmallInteger, nullable=False, server_default="0"),  # the wave at the last resume
    _when("created_at", nullable=False),
    _when("finished_at"),
    _one_of("action", BATCH_ACTIONS),
    _one_of("state", BatchState),
    UniqueConstraint("requested_by", "idempotency_key"),
    Index("ix_command_batches_created_at_id", "created_at", "id"),
    Index("ix_command_batches_running", "created_at", postgresql_where=text("state = 'running'")),
)

command_batch_members = Table(  # fixed when the batch is made; each outcome is decided once
    "command_batch_members",
    metadata,
    Column("batch_id", Text, ForeignKey("command_batches.id"), nullable=False),
    Column("client_uuid", Text, nullable=False),  # from the request: the client may not exist
    Column("position", Integer, nullable=False),  # in the order of the request, from 0
    Column("wave", SmallInteger),  # null: this client can never get the command
    Column("outcome", Text, nullable=False),
    Column("command_id", Text, ForeignKey("client_commands.id", ondelete="SET NULL")),
    _when("lockout_until"),  # the client's lockout when its outcome was locked_out
    _when("decided_at"),  # null while the member waits
    PrimaryKeyConstraint("batch_id", "client_uuid"),
    UniqueConstraint("batch_id", "position"),
    UniqueConstraint("command_id"),
    _one_of("outcome", MemberOutcome),
)

command_schedules = Table(  # commands for later: at each time a batch is made
    "command_schedules",
    metadata,
    Column("id", Text, primary_key=True),  # a UUID
    Column("action", Text, nullable=False),  # later code may store other words; this code leaves them alone
    Column("reason", Text, nullable=False),
    Column("filter", JSONB),  # whom it is for, found at each time; null: command_schedule_clients
    Column("waves", JSONB, nullable=False),  # as in the request of a batch
    Column("max_unproven", Text, nullable=False),
    Column("ttl_seconds", Integer),  # null: the default of the action
    Column("time_zone", Text, nullable=False),  # IANA name
    _when("at"),  # null: weekly
    Column("weekdays", ARRAY(Text), nullable=False),
    Column("local_time", Text),  # HH:MM
    Column("until", sa.Date),  # the last local date; null: without end
    _when("next_at"),  # null: no time is left
    Column("created_by", Text, nullable=False),
    _when("created_at", nullable=False),
    Column("idempotency_key", Text),
    Column("request_hash", Text),  # SHA-256 of the request that used the key
    _when("cancelled_at"),  # the row stays as history
    Column("cancelled_by", Text),
    CheckConstraint(f"weekdays <@ ARRAY{_values(Weekday)}", name="weekdays"),
    CheckConstraint("(at IS NULL) = (local_time IS NOT NULL)", name="when"),
    CheckConstraint("(cancelled_at IS NULL) = (cancelled_by IS NULL)", name="cancelled"),
    UniqueConstraint("created_by", "idempotency_key"),
    Index("ix_command_schedules_created_at_id", "created_at", "id"),
    Index("ix_command_schedules_next_at", "next_at", postgresql_where=text("cancelled_at IS NULL")),
)

command_schedule_clients = Table(  # the clients that a schedule without a filter names
    "command_schedule_clients",
    metadata,
    Column("schedule_id", Text, ForeignKey("command_schedules.id", ondelete="CASCADE"), nullable=False),
    _of_client(),
    Column("position", Integer, nullable=False),  # in the order of the request, from 0
    PrimaryKeyConstraint("schedule_id", "client_uuid"),
    Index("ix_command_schedule_clients_client_uuid", "client_uuid"),
)

command_schedule_runs = Table(  # what became of each time of a schedule, decided once
    "command_schedule_runs",
    metadata,
    Column("schedule_id", Text, ForeignKey("command_schedules.id", ondelete="CASCADE"), nullable=False),
    _when("due_at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("why", JSONB),  # why it was missed
    Column("batch_id", Text, ForeignKey("command_batches.id", ondelete="SET NULL")),
    PrimaryKeyConstraint("schedule_id", "due_at"),
    _one_of("outcome", ScheduleOutcome),
    CheckConstraint("(outcome = 'missed') = (why IS NOT NULL)", name="why"),
    Index("ix_command_schedule_runs_batch_id", "batch_id"),
)

recovery_events = Table(
    "recovery_events",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _when("at", nullable=False),
    Column("client_uuid", Text, ForeignKey("clients.uuid")),  # null: about the breaker of the fleet or of a site
    Column("decision", Text, nullable=False),
    Column("why", JSONB, nullable=False),
    Column("evidence", JSONB, nullable=False),
    Column("command_id", Text, ForeignKey("client_commands.id")),
    Index("ix_recovery_events_client_uuid_at", "client_uuid", "at"),
    Index("ix_recovery_events_at_id", "at", "id"),
    Index("ix_recovery_events_of_breakers", "at", "id", postgresql_where=text("client_uuid IS NULL")),
)

client_recovery = Table(  # clients that recovery ever acted on
    "client_recovery",
    metadata,
    _of_client(primary_key=True),
    Column("step", SmallInteger, nullable=False, server_default="0"),  # how many attempts of the ladder were used
    Column("restarts", SmallInteger, nullable=False, server_default="0"),  # how many of these were restarts
    Column("reboots", SmallInteger, nullable=False, server_default="0"),
    Column("refused_restarts", SmallInteger, nullable=False, server_default="0"),  # refused by the display: no attempts
    Column("refused_reboots", SmallInteger, nullable=False, server_default="0"),
    _past("tried_since"),  # the time of the first attempt
    Column("command_id", Text),  # of the last attempt; removed when provably no display had that command
    Column("basis", Text),  # the evidence for the last attempt
    _past("unheard_at"),  # when the broker last answered a recovery command: the display is not connected
    _past("healthy_since"),  # since when every tick found the client well after an attempt
    Column("decided", Text),  # the state last recorded in recovery_events
    _past("decided_at"),
    Column("changed_xid", Xid8, nullable=False, server_default=text("pg_current_xact_id()")),
    CheckConstraint("step BETWEEN 0 AND 4", name="step"),
    _one_of("basis", RecoveryBasis),
    Index("ix_client_recovery_step", "client_uuid", postgresql_where=text("step > 0")),
    Index("ix_client_recovery_refused", "client_uuid", postgresql_where=text("refused_restarts + refused_reboots > 0")),
    Index("ix_client_recovery_changed_xid", "changed_xid"),
)

recovery_breakers = Table(  # the fleet's breakers, and those of each site that were ever open
    "recovery_breakers",
    metadata,
    Column("basis", Text, primary_key=True, server_default="stale"),  # the evidence that it keeps recovery from
    Column("site", Text, primary_key=True),  # '' is the fleet: no site has this name
    _past("open_since"),  # null: closed
    Column("why", JSONB),
    Column(
        "stale", Integer, nullable=False, server_default="0"
    ),  # silent displays, or bad screens, at the last tick while open
    Column("seen", Integer, nullable=False, server_default="0"),
    _past("released_at"),  # silence, or a failure of a screen, that began before this time no longer counts
    Column("released_by", Text),
    _past("low_since"),  # since when few enough displays are silent; only of an open breaker
    _past("counted_since"),  # of an open breaker: a client heard since this time counts
    _past("looked_at"),  # the last evaluation of all breakers; only in the row of the fleet's silence
    _one_of("basis", RecoveryBasis),
)

scheduler_status = Table(  # one row: the last tick
    "scheduler_status",
    metadata,
    Column("id", SmallInteger, primary_key=True, server_default="1"),
    _when("last_tick_at"),
    Column("duration_ms", Integer),
    Column("did", JSONB, nullable=False, server_default="{}"),
    _when("incidents_at"),  # when the tick last grouped failures into incidents
    CheckConstraint("id = 1", name="id"),
)

# --- pictures of screens ---

screenshots = Table(  # of each client the last ten that were asked for, and the ten before its last failure
    "screenshots",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _of_client(),
    Column("command_id", Text),  # that asked for it
    _when("failure_at"),  # of the failure before which it was taken
    Column("place", SmallInteger),  # 1 is the last one before the failure
    _when("taken_at", nullable=False),
    _when("stored_at", nullable=False),
    Column("width", SmallInteger, nullable=False),
    Column("height", SmallInteger, nullable=False),
    Column("jpeg", BYTEA, nullable=False),
    UniqueConstraint("command_id"),
    UniqueConstraint("client_uuid", "failure_at", "place"),
    CheckConstraint(
        "(command_id IS NULL) = (failure_at IS NOT NULL) AND (failure_at IS NULL) = (place IS NULL)", name="why"
    ),
    CheckConstraint("place BETWEEN 1 AND 10", name="place"),
    CheckConstraint("length(jpeg) <= 60000", name="jpeg"),
    Index("ix_screenshots_stored_at", "stored_at"),
)

screenshots_off = Table(  # sites whose screens nobody may see
    "screenshots_off",
    metadata,
    Column("site", Text, primary_key=True),  # '' is clients without a site
    _when("since", nullable=False),
    Column("by", Text, nullable=False),
)

expectations = Table(  # what should be on the screens of a display, a tag or a site
    "expectations",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("scope", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("address", Text),
    Column("title", Text),
    Column("black", Boolean, nullable=False),  # whether a black screen is meant
    _when("set_at", nullable=False),
    Column("set_by", Text, nullable=False),
    _one_of("scope", ExpectationScope),
    UniqueConstraint("scope", "target"),
)

# --- quiet times and incidents ---

quiet_times = Table(
    "quiet_times",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("preset", Text, nullable=False),
    Column("quiet", ARRAY(Text), nullable=False),  # what is quiet
    Column("scope", Text, nullable=False),
    Column("site", Text),
    Column("tag", Text),
    Column("clients", ARRAY(Text), nullable=False, server_default="{}"),  # with scope `clients`
    _when("starts_at", nullable=False),
    _when("ends_at"),  # null: until a person ends it
    Column("spans", JSONB, nullable=False, server_default="[]"),  # weekly hours; empty: the whole time
    Column("time_zone", Text),  # IANA name; null without weekly hours
    Column("reason", Text, nullable=False, server_default=""),
    Column("created_by", Text, nullable=False),
    _when("created_at", nullable=False),
    _when("ended_at"),  # ended by a person; the row stays as history
    Column("ended_by", Text),
    Column("idempotency_key", Text),
    Column("request_hash", Text),  # SHA-256 of the request that used the key
    Column("named", Integer, Computed("cardinality(clients)", persisted=True), nullable=False),
    _one_of("preset", QuietPreset),
    CheckConstraint("quiet <> '{}' AND quiet <@ ARRAY['recovery', 'notices', 'screen', 'commands']", name="quiet"),
    _one_of("scope", QuietScope),
    CheckConstraint("(scope = 'site') = (site IS NOT NULL)", name="site"),
    CheckConstraint("(scope = 'tag') = (tag IS NOT NULL)", name="tag"),
    CheckConstraint("(scope = 'clients') = (clients <> '{}')", name="clients"),
    CheckConstraint("ends_at > starts_at", name="ends_at"),
    CheckConstraint("(time_zone IS NULL) = (spans = '[]')", name="spans"),
    CheckConstraint("(ended_at IS NULL) = (ended_by IS NULL)", name="ended"),
    UniqueConstraint("created_by", "idempotency_key"),
    Index("ix_quiet_times_created_at_id", "created_at", "id"),
    Index("ix_quiet_times_current", "starts_at", postgresql_where=text("ended_at IS NULL")),
    Index(
        "uq_quiet_times_opening_hours",
        "scope",
        text("coalesce(site, tag, '')"),
        unique=True,
        postgresql_where=text("preset = 'opening_hours' AND ended_at IS NULL"),
    ),
)

incidents = Table(
    "incidents",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False, server_default=""),  # the site or the subnet; empty for the other kinds
    _past("began_at", nullable=False),  # when the first display failed, or the bridge last heard the fleet
    _past("opened_at", nullable=False),
    _past("closed_at"),
    Column("cause", JSONB, nullable=False),  # a Sentence
    Column("group_size", Integer),  # clients of the site or subnet that were heard in the last day
    Column("merged_into", BigInteger, ForeignKey("incidents.id", ondelete="SET NULL")),
    Column("members", Integer, nullable=False, server_default="0"),  # clients that were ever part of it
    Column("present", Integer, nullable=False, server_default="0"),  # clients of it that are unwell now
    Column("peak", Integer, nullable=False, server_default="0"),  # the most that were at a time
    _past("waned_at"),  # when a fifth of the peak was left, for the first time
    Column("again_of", BigInteger, ForeignKey("incidents.id", ondelete="SET NULL")),  # the one of this place before it
    Column("taken_by", Text),  # who looks after it
    _past("taken_at"),
    Column("note", Text),  # that person's
    CheckConstraint("(taken_by IS NULL) = (taken_at IS NULL)", name="taken"),
    _one_of("kind", IncidentKind),
    Index(
        "uq_incidents_open",
        "kind",
        "key",
        unique=True,
        postgresql_where=text("closed_at IS NULL AND kind <> 'cluster'"),
    ),
    Index("ix_incidents_open", "id", postgresql_where=text("closed_at IS NULL")),
    Index("ix_incidents_opened_at_id", "opened_at", "id"),
)

incident_members = Table(  # a row each time that a client joins an incident
    "incident_members",
    metadata,
    Column("incident_id", BigInteger, ForeignKey("incidents.id", ondelete="CASCADE"), nullable=False),
    _of_client(),
    _when("joined_at", nullable=False),
    _past("left_at"),  # null: the client is still unwell
    Column("symptom", Text, nullable=False),
    Column("unit", Text),  # the service that failed, or how the screen did
    _past("failed_at", nullable=False),
    Column("changed_xid", Xid8, nullable=False, server_default=text("pg_current_xact_id()")),
    PrimaryKeyConstraint("incident_id", "client_uuid", "joined_at"),
    _one_of("symptom", Symptom),
    Index("uq_incident_members_present", "client_uuid", unique=True, postgresql_where=text("left_at IS NULL")),
    Index("ix_incident_members_client_uuid_joined_at", "client_uuid", "joined_at"),
    Index("ix_incident_members_changed_xid", "changed_xid"),
)

incident_events = Table(  # events that the members' rows do not show; append only
    "incident_events",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("incident_id", BigInteger, ForeignKey("incidents.id", ondelete="CASCADE"), nullable=False),
    _when("at", nullable=False),
    Column("kind", Text, nullable=False),
    Column("words", JSONB, nullable=False),  # a Sentence
    _one_of("kind", IncidentEventKind),
    Index("ix_incident_events_incident_id_at", "incident_id", "at"),
)

# --- notifications to people ---

notification_channels = Table(
    "notification_channels",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("url", Text, nullable=False),  # a secret: never shown, logged or audited
    Column("signing_secret", Text),  # a secret: signs webhook messages; null: no signature
    Column("events", ARRAY(Text), nullable=False),
    Column("delay_seconds", Integer, nullable=False, server_default="120"),  # no message if the trouble ends sooner
    Column("sites", ARRAY(Text)),  # null: all sites
    Column("time_zone", Text),  # time zone of its hours; null: it sends at all times
    Column("weekdays", ARRAY(Text)),
    Column("from_time", sa.Time),
    Column("to_time", sa.Time),  # a time up to from_time is on the next day
    Column("critical_passes", Boolean, nullable=False, server_default="true"),  # critical ones also outside its hours
    Column("enabled", Boolean, nullable=False, server_default="true"),
    Column("language", Text, nullable=False, server_default="en"),  # of its messages
    _past("tells_since", nullable=False),  # when it was made or switched on: it does not report older troubles
    Column("created_by", Text, nullable=False),
    _when("created_at", nullable=False),
    _when("changed_at", nullable=False),
    _when("last_delivered_at"),
    _when("last_failed_at"),  # null: no failure since the last delivery
    Column("last_error", JSONB),  # a sentence, without secrets
    UniqueConstraint("name"),
    _one_of("kind", ChannelKind),
    CheckConstraint("delay_seconds BETWEEN 0 AND 86400", name="delay_seconds"),
    CheckConstraint(
        "(time_zone IS NULL) = (weekdays IS NULL) AND (time_zone IS NULL) = (from_time IS NULL)"
        " AND (time_zone IS NULL) = (to_time IS NULL)",
        name="hours",
    ),
    CheckConstraint("(last_failed_at IS NULL) = (last_error IS NULL)", name="failure"),
)

notification_deliveries = Table(  # the outbox: a row is one message to one channel
    "notification_deliveries",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("channel_id", BigInteger, ForeignKey("notification_channels.id", ondelete="CASCADE"), nullable=False),
    Column("root", Text, nullable=False),  # the object of the trouble, such as "client:<uuid>"
    Column("subject", Text, nullable=False),  # this one trouble of the object
    Column("phase", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("message", JSONB, nullable=False),  # text and facts
    _past("created_at", nullable=False),
    Column("state", Text, nullable=False, server_default="pending"),
    Column("standing", Boolean, nullable=False, server_default="false"),  # reported, and not known to be over
    Column("folded_into", BigInteger, ForeignKey("notification_deliveries.id", ondelete="CASCADE")),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("generation", Integer, nullable=False, server_default="1"),  # part of the task's name
    _past("due_at", nullable=False),  # time of the next try
    Column("claim", Text),  # fencing token of the process that sends the message
    _past("claimed_at"),
    _when("finished_at"),
    Column("error", JSONB),  # error of the last try: a sentence, without secrets
    UniqueConstraint("channel_id", "subject", "phase", name="uq_notification_deliveries_once"),
    _one_of("phase", NotificationPhase),
    _one_of("event", NotificationEvent),
    _one_of("state", DeliveryState),
    Index("ix_notification_deliveries_channel_id_id", "channel_id", "id"),
    Index("ix_notification_deliveries_root", "root", "channel_id", "created_at"),
    Index("ix_notification_deliveries_created_at", "created_at"),
    Index("ix_notification_deliveries_due", "due_at", postgresql_where=text("state = 'pending'")),
    Index("ix_notification_deliveries_standing", "id", postgresql_where=text("standing")),
    Index(
        "ix_notification_deliveries_folded_into",
        "folded_into",
        postgresql_where=text("folded_into IS NOT NULL"),
    ),
)

# --- listening ---

bridge_status = Table(  # one row: whether the bridge hears the fleet
    "bridge_status",
    metadata,
    Column("id", SmallInteger, primary_key=True, server_default="1"),
    Column("epoch", BigInteger, nullable=False, server_default="0"),  # increases with each leader
    Column("instance", Text),
    _when("connected_since"),  # null while not connected to the broker
    _when("last_commit_at"),
    _when("canary_at"),  # last round trip of the canary message through the broker
    Column("counters", JSONB, nullable=False, server_default="{}"),
    CheckConstraint("id = 1", name="id"),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("topic", Text, nullable=False),
    Column("payload", BYTEA, nullable=False),  # its first 4 KiB
    Column("payload_bytes", Integer, nullable=False),  # length of the whole payload
    Column("sha256", Text, nullable=False),  # of the whole payload
    Column("reason", Text, nullable=False),
    Column("detail", Text),
    Column("count", BigInteger, nullable=False, server_default="1"),
    _when("first_at", nullable=False),
    _when("last_at", nullable=False),
    Column("sender", Text, Computed("split_part(topic, '/', 2)", persisted=True), nullable=False),
    UniqueConstraint("topic", "sha256", "reason"),
    Index("ix_dead_letters_last_at_id", "last_at", "id"),
    Index("ix_dead_letters_sender", "sender"),
)

broker_crashes = Table(
    "broker_crashes",
    metadata,
    _when("noticed_at", primary_key=True),  # when the broker started again
)

broker_files_seen = Table(
    "broker_files_seen",
    metadata,
    Column("one", sa.Boolean, primary_key=True, server_default=text("true")),  # allows one row only
    _when("at", nullable=False),
    Column("opened", Integer, nullable=False),
    Column("most", Integer, nullable=False),
    Column("memory_bytes", BigInteger, nullable=False, server_default=text("0")),
    CheckConstraint("one", name="one"),
)

door_certificates = Table(
    "door_certificates",
    metadata,
    Column("door", Text, primary_key=True),
    _when("begins_at", nullable=False),
    _when("ends_at", nullable=False),
    _when("seen_at", nullable=False),
    _one_of("door", Door),
)

# --- event media and conversions ---

event_media = Table(
    "event_media",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("filename", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("path", Text, nullable=False),  # below MEDIA_ROOT
    Column("visible_slides", Integer),
    Column("hidden_slides", Integer),
    _when("uploaded_at", nullable=False),
    Column("uploaded_by", Text, nullable=False),
    _when("deleted_at"),
    _one_of("kind", MediaKind),
    CheckConstraint("bytes >= 0", name="bytes"),
    Index("ix_event_media_sha256", "sha256"),
)

conversions = Table(
    "conversions",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("source_event_media_id", BigInteger, ForeignKey("event_media.id"), nullable=False),
    Column("target_format", Text, nullable=False, server_default="pdf"),
    Column("file_hash", Text, nullable=False),  # SHA-256 of the source, hex
    Column("status", conversion_status, nullable=False, server_default="pending"),
    Column("generation", Integer, nullable=False, server_default="1"),  # part of the task's name
    Column("turn", BigInteger, nullable=False, server_default="0"),  # each uploader has one conversion a turn
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("claim", Text),  # fencing token of the worker that holds it
    _past("claimed_at"),
    _past("enqueued_at"),
    _when("created_at", nullable=False),
    _when("requested_at"),  # the last request for it; null: created_at
    _when("started_at"),
    _when("finished_at"),
    Column("traceparent", Text),  # of the last request for it
    Column("error_code", Text),
    Column("error_message", Text),
    Column("pages", Integer),
    Column("target_path", Text),  # below MEDIA_ROOT/converted
    Column("report", JSONB),
    Column("rebuild", Boolean, nullable=False, server_default="false"),  # true: make a new PDF even if one exists
    UniqueConstraint("source_event_media_id", "target_format", "file_hash", name="uq_conversions_media_format_hash"),
    _one_of("target_format", TargetFormat),
    Index("ix_conversions_file_hash", "file_hash"),
    Index("ix_conversions_target_path", "target_path"),
    Index(
        "ix_conversions_open",
        "status",
        "created_at",
        postgresql_where=text("status IN ('pending', 'processing')"),
    ),
    Index("ix_conversions_turn_id", "turn", "id", postgresql_where=text("status IN ('pending', 'processing')")),
    Index("ix_conversions_turn", "turn", postgresql_where=text("status <> 'pending'")),
)

uploads = Table(  # resumable uploads: a row, and its parts on the volume
    "uploads",
    metadata,
    Column("id", Text, primary_key=True),
    Column("filename", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("received", BigInteger, nullable=False, server_default="0"),  # durable bytes; when all are, media_id is set
    Column("parts", ARRAY(Text), nullable=False, server_default="{}"),  # file names of the parts, in order
    Column("writer", Text),  # fencing token of the request that writes
    _when("writer_until"),
    Column("media_id", BigInteger, ForeignKey("event_media.id")),
    _when("created_at", nullable=False),
    _when("expires_at", nullable=False),
    Column("created_by", Text, nullable=False),
    CheckConstraint("received BETWEEN 0 AND bytes", name="received"),
    Index("ix_uploads_expires_at", "expires_at"),
)

# --- access ---

users = Table(
    "users",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("username", Text, nullable=False),
    Column("password_hash", Text, nullable=False),  # argon2id; empty: no password fits, the provider knows them
    Column("role", Text, nullable=False),
    Column("must_change_password", sa.Boolean, nullable=False, server_default=text("false")),
    _now("created_at"),
    _when("disabled_at"),
    _when("last_sign_in_at"),
    # The end of a one-time password. Null, or must_change_password false: the password is not a one-time password.
    _when("one_time_until"),
    Column("sites", ARRAY(Text)),  # where the role counts; null: at all sites
    UniqueConstraint("username"),
    _one_of("role", Role),
    CheckConstraint("cardinality(sites) BETWEEN 1 AND 200", name="sites"),
)

user_sessions = Table(
    "user_sessions",
    metadata,
    Column("id_hash", Text, primary_key=True),  # SHA-256 of the cookie's value
    Column("user_id", BigInteger, ForeignKey("users.id"), nullable=False),
    _when("created_at", nullable=False),
    _when("expires_at", nullable=False),
    _when("revoked_at"),
    Column("number", BigInteger, Identity(), nullable=False),  # the public id of the session
    _now("last_seen_at"),  # exact to a minute
    Column("address", Text),  # the address at sign-in
    Column("browser", Text),
    Column("id_token", Text),  # of a sign-in at the provider, for the sign-out there; null: by password
    UniqueConstraint("number"),
    Index("ix_user_sessions_user_id", "user_id"),
)

provider_identities = Table(
    "provider_identities",
    metadata,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),  # who the person is at this issuer, for ever
    Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    _when("created_at", nullable=False),
    UniqueConstraint("user_id"),
)

provider_tries = Table(
    "provider_tries",
    metadata,
    Column("state_hash", Text, primary_key=True),  # SHA-256 of the state of a sign-in that came back
    _when("used_at", nullable=False),
)

second_factors = Table(
    "second_factors",
    metadata,
    Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("nonce", Text, nullable=False),  # the secret is derived from this and SIGNING_KEY
    _when("begun_at", nullable=False),
    _when("confirmed_at"),  # null: sign-in does not require it yet
    Column("last_step", BigInteger),  # time step of the last used code
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("code_hash", Text, primary_key=True),  # SHA-256, hex
)

sign_in_addresses = Table(  # the addresses of recent sign-ins
    "sign_in_addresses",
    metadata,
    Column("user_id", BigInteger, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("address", Text, primary_key=True),
    _when("last_at", nullable=False),
)

login_failures = Table(
    "login_failures",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("bucket", Text, nullable=False),  # the key of a counter: shared.access.rules.sign_in_counters
    _past("at", nullable=False),
    Index("ix_login_failures_bucket_at", "bucket", "at"),
)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("secret_hash", Text, nullable=False),  # SHA-256, hex
    Column("created_by", Text, nullable=False),
    _when("created_at", nullable=False),
    _when("expires_at"),
    _when("revoked_at"),
    _when("last_used_at"),
    Column("sites", ARRAY(Text)),  # as of `users`
    _one_of("role", Role),
    CheckConstraint("cardinality(sites) BETWEEN 1 AND 200", name="sites"),
)

status_links = Table(  # links to the public status pages of sites
    "status_links",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("name", Text, nullable=False),
    Column("site", Text, nullable=False),
    Column("secret_hash", Text, nullable=False),  # SHA-256, hex
    Column("created_by", Text, nullable=False),
    _when("created_at", nullable=False),
    _when("ended_at"),
    _when("last_used_at"),
    UniqueConstraint("secret_hash"),
    Index("ix_status_links_created_at_id", "created_at", "id"),
)

enrolment_codes = Table(
    "enrolment_codes",
    metadata,
    Column("code_hash", Text, primary_key=True),  # SHA-256, hex
    _of_client(),
    Column("created_by", Text, nullable=False),
    _when("created_at", nullable=False),
    _when("expires_at", nullable=False),
    _when("used_at"),
    Index("ix_enrolment_codes_client_uuid", "client_uuid"),
)

display_logins = Table(  # the logins of displays; written to Mosquitto's password file
    "display_logins",
    metadata,
    _of_client(primary_key=True),
    Column("password_hash", Text, nullable=False),  # Mosquitto's $7$ PBKDF2 form
    _when("created_at", nullable=False),
    _when("revoked_at"),
    _when("rotated_at"),  # when the display last changed its password itself; null: not since enrolment
)

audit_log = Table(  # append only
    "audit_log",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _when("at", nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("request_id", Text),
    Column("details", JSONB, nullable=False, server_default="{}"),
    Index("ix_audit_log_at_id", "at", "id"),
    Index("ix_audit_log_target_at_id", "target", "at", "id"),
)

audit_repeats = Table(  # repetitions of an audit line, counted until the next line
    "audit_repeats",
    metadata,
    Column("key", Text, primary_key=True),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("result", Text, nullable=False),
    _past("began_at", nullable=False),
    Column("repeats", BigInteger, nullable=False, server_default="0"),
    Index("ix_audit_repeats_began_at", "began_at"),
)
