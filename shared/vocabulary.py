"""The words of the product: every value a status column may hold, each with its meaning.

These enums are the one list. `tables.py` builds the database's types and checks from them, the API's
OpenAPI document names them, and no other module spells a status as a bare string.
"""

from enum import IntEnum, StrEnum
from typing import Final


class ProcessStatus(StrEnum):
    """What a display's heartbeat says of its player process."""

    STARTING = "starting"  # the player is loading and not yet showing anything
    RUNNING = "running"  # the player shows its playlist
    CRASHED = "crashed"  # the player died and its watchdog has not brought it back
    STOPPED = "stopped"  # the player was stopped on purpose (clean)
    UNKNOWN = "unknown"  # the display cannot tell, or was never heard


class ScreenHealthStatus(StrEnum):
    """What a display's health report says of the panel it drives."""

    OK = "ok"
    BLACK = "black"  # an all-black picture
    FROZEN = "frozen"  # the same picture for too long
    OFF = "off"  # the panel is powered down
    DISCONNECTED = "disconnected"  # no panel on the cable
    UNKNOWN = "unknown"


BAD_SCREENS = (ScreenHealthStatus.BLACK, ScreenHealthStatus.FROZEN, ScreenHealthStatus.DISCONNECTED)
"""A screen that shows nothing, or always the same."""


class ClientStatus(StrEnum):
    """The shown state of a client: stored with `status_since`, one change row per change."""

    RUNNING = "running"
    LATE = "late"  # a heartbeat is overdue, not yet news
    STALE = "stale"  # silent beyond the threshold
    CRASHED = "crashed"
    STARTING = "starting"
    STOPPED = "stopped"
    UNKNOWN = "unknown"  # never heard of, it talks without heartbeats, or the bridge is silent


WELL = (ClientStatus.RUNNING, ClientStatus.LATE, ClientStatus.STARTING, ClientStatus.STOPPED)
"""A client that is heard and has not crashed."""


class Presence(StrEnum):
    """What the display's retained presence message says: a hint, the heartbeat is the truth."""

    ONLINE = "online"
    OFFLINE = "offline"
    UNKNOWN = "unknown"


class LogLevel(StrEnum):
    """Severity of a client log; the last segment of the log topic."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


ROUTINE_LEVELS = (LogLevel.DEBUG, LogLevel.INFO, LogLevel.WARNING)  # kept for 30 days
SERIOUS_LEVELS = (LogLevel.ERROR, LogLevel.CRITICAL)  # kept for 90 days


class CommandAction(StrEnum):
    """What a display can be told to do."""

    RESTART_APP = "restart_app"  # start the player anew
    REBOOT_HOST = "reboot_host"  # reboot the machine
    SHUTDOWN_HOST = "shutdown_host"  # switch off; nobody can start it again from here


class CommandState(StrEnum):
    """Where a command stands. Moves only go up in rank; a terminal state never changes."""

    QUEUED = "queued"  # stored, not yet accepted by the broker
    SENT = "sent"  # the broker took it for a subscriber
    RECEIVED = "received"  # the display has it in its journal
    RUNNING = "running"  # the display is carrying it out
    SUCCEEDED = "succeeded"  # done, by ACK or by evidence
    FAILED = "failed"  # the display, the broker or the evidence says it did not work
    REJECTED = "rejected"  # the display refused it
    EXPIRED = "expired"  # no ACK before `expires_at`
    TIMED_OUT = "timed_out"  # received, but no result before `result_deadline`
    CANCELLED = "cancelled"  # withdrawn while provably nobody had it


COMMAND_RANKS: dict[CommandState, int] = {
    CommandState.QUEUED: 10,
    CommandState.SENT: 20,
    CommandState.RECEIVED: 30,
    CommandState.RUNNING: 40,
    CommandState.SUCCEEDED: 90,
    CommandState.FAILED: 90,
    CommandState.REJECTED: 90,
    CommandState.EXPIRED: 90,
    CommandState.TIMED_OUT: 90,
    CommandState.CANCELLED: 90,
}
TERMINAL_RANK = 90  # at and above it a command is over


class PublishAnswer(IntEnum):
    """Reason codes of the broker's PUBACK (MQTT 5.0, section 3.4.2.1) that decide something here."""

    SUCCESS = 0x00  # the broker took it; proves nothing about the display
    NO_SUBSCRIBER = 0x10  # no matching subscribers: proof that nobody got it
    NOT_AUTHORIZED = 0x87  # the ACL forbids this topic


class CommandSource(StrEnum):
    """Who asked for a command."""

    OPERATOR = "operator"
    RECOVERY = "recovery"
    BULK = "bulk"


class BatchState(StrEnum):
    """Where many commands that were asked for at once stand."""

    RUNNING = "running"  # waves are sent, or their results awaited
    PAUSED = "paused"  # nothing more is sent until an operator resumes it
    FINISHED = "finished"  # every member was decided and every command is over
    ABORTED = "aborted"  # an operator ended it; what displays may have goes on to its end


class MemberOutcome(StrEnum):
    """What became of one client of a batch."""

    WAITING = "waiting"  # its wave, or its turn in it, has not come
    ACCEPTED = "accepted"  # it has a command, whose state tells the rest
    COMMAND_IN_FLIGHT = "command_in_flight"  # it had another open command when its turn came
    LOCKED_OUT = "locked_out"  # it was restarted or rebooted lately
    NOT_CAPABLE = "not_capable"  # its display says that it cannot do this
    UNKNOWN_CLIENT = "unknown_client"  # there is no such client, or none any more
    ABORTED = "aborted"  # the batch ended before its turn


class ConfirmedBy(StrEnum):
    """How a command's success is known."""

    ACK = "ack"
    EVIDENCE = "evidence"  # a new boot_id or app_instance; the silence after a shutdown
    BOTH = "both"


class ConversionStatus(StrEnum):
    """Where a conversion stands."""

    PENDING = "pending"  # waits for a worker
    PROCESSING = "processing"  # a worker holds the claim
    READY = "ready"  # the PDF is on the volume and was checked
    FAILED = "failed"  # it will not be tried again by itself


class TargetFormat(StrEnum):
    """What a medium can be converted to."""

    PDF = "pdf"


class MediaKind(StrEnum):
    """What an uploaded file is, by its content."""

    PPT = "ppt"
    PPTX = "pptx"
    ODP = "odp"
    PDF = "pdf"
    PNG = "png"
    JPEG = "jpeg"
    WEBP = "webp"
    GIF = "gif"
    MP4 = "mp4"
    WEBM = "webm"


CONVERTIBLE_KINDS = (MediaKind.PPT, MediaKind.PPTX, MediaKind.ODP)


class Role(StrEnum):
    """What a person or a script may do; each role may do what the ones before it may."""

    VIEWER = "viewer"  # read
    OPERATOR = "operator"  # + acknowledge, upload, convert, restart_app, reboot_host
    ADMIN = "admin"  # + shutdown_host, overrides, tokens, enrolment, delete


class PrincipalKind(StrEnum):
    """What kind of caller the API has in front of it."""

    USER = "user"
    TOKEN = "token"  # noqa: S105 - the word for a kind of caller, not a secret


class RegisteredBy(StrEnum):
    """How a client came into the database."""

    ENROLMENT = "enrolment"
    FIRST_MESSAGE = "first_message"


class RecoveryDecision(StrEnum):
    """What was decided about one unhealthy client, or about the breaker of the fleet or of a site."""

    RESTART_APP = "restart_app"
    REBOOT_HOST = "reboot_host"
    NONE = "none"  # nothing was sent; `why` says why
    BREAKER_OPEN = "breaker_open"  # too many fell silent: no silent display is acted on
    BREAKER_CLOSED = "breaker_closed"  # enough of them are heard again
    BREAKER_RELEASED = "breaker_released"  # an operator took it upon themselves


class RecoveryBasis(StrEnum):
    """On what evidence recovery acts."""

    CRASHED = "crashed"  # a fresh heartbeat says so
    SERVICE_FAILED = "service_failed"  # a fresh heartbeat, and a failure that still stands
    STALE = "stale"  # silent while we listened, and not known to be disconnected


class RecoveryState(StrEnum):
    """Why a client is, or is not, being recovered: shown to people."""

    OFF = "off"  # CRASH_RECOVERY_ENABLED is false
    DUE = "due"  # the next tick acts
    IN_FLIGHT = "in_flight"  # a command is on its way
    VERIFYING = "verifying"  # recovery's command was done; whether it helped is not known yet
    LOCKED = "locked"  # a command ran lately; waits for the lockout to end
    SUSPENDED = "suspended"  # everything was tried and nothing helped: a person must act
    UNREACHABLE = "unreachable"  # nobody listens at the display
    BLOCKED_BRIDGE = "blocked_bridge"  # the bridge is silent, or was: we cannot trust what we see
    BLOCKED_BREAKER = "blocked_breaker"  # too many displays fell silent at once: it may be our own fault
    HELD = "held"  # stopped or shut down on purpose, or a person wants it left alone
    NOT_RECOVERED = "not_recovered"  # it cannot do what would be tried, or was never heard, or not for over a day


class FailureEvent(StrEnum):
    """What became of a service failure."""

    FAILED = "failed"  # the display said so
    CLEARED = "cleared"  # an operator acknowledged it


class EventKind(StrEnum):
    """What kind of thing happened to a client: one entry of its timeline."""

    REGISTERED = "registered"  # the client came into the database
    STATE = "state"  # its shown state changed
    SERVICE_FAILED = "service_failed"
    SERVICE_CLEARED = "service_cleared"  # somebody acknowledged a service failure
    LOG = "log"  # an error or critical line that it logged
    COMMAND = "command"  # a command was asked for, reached it, ended, or was answered late
    RECOVERY = "recovery"  # automatic recovery decided something
    AUDIT = "audit"  # somebody changed the client, its login or its log level


class Weekday(StrEnum):
    """Days of the week, in the order of ISO 8601."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


class MaintenanceScope(StrEnum):
    """Whom a maintenance window keeps quiet."""

    FLEET = "fleet"  # every client
    SITE = "site"  # the clients whose site it is, whenever they come to stand there
    CLIENTS = "clients"  # those named


class MaintenanceState(StrEnum):
    """Where a maintenance window stands."""

    PLANNED = "planned"  # it begins, or begins again, later
    ACTIVE = "active"  # it is on now
    OVER = "over"  # it has ended by itself
    ENDED = "ended"  # somebody ended it


class IncidentKind(StrEnum):
    """What the displays of an incident have in common."""

    SITE = "site"  # they stand at one site
    SUBNET = "subnet"  # their addresses are of one /24, or /64 of IPv6
    CLUSTER = "cluster"  # they failed at the same moment, at several places
    LISTENING = "listening"  # our own: we do not hear the fleet; it has no members


class Symptom(StrEnum):
    """How a display failed that belongs to an incident."""

    SILENT = "silent"  # its heartbeat went stale
    CRASHED = "crashed"  # it says that its player crashed
    SERVICE_FAILED = "service_failed"  # it says that a service failed
    DISCONNECTED = "disconnected"  # it lost the broker and came back by itself


class IncidentEventKind(StrEnum):
    """What kind of thing happened in an incident: one entry of its timeline."""

    OPENED = "opened"
    JOINED = "joined"  # displays failed
    LEFT = "left"  # displays are well again, or are no clients any more
    COMMAND = "command"  # a command was sent to a member
    RECOVERY = "recovery"  # automatic recovery decided something about a member
    MERGED = "merged"  # it turned out to be part of another incident, or another one part of it
    REOPENED = "reopened"  # it came back shortly after it was closed
    CLOSED = "closed"


class Door(StrEnum):
    """What a box or the broker's machine opens to the network."""

    DISPLAYS = "displays"
    PEOPLE = "people"


class ChannelKind(StrEnum):
    """How a channel tells people."""

    WEBHOOK = "webhook"  # our own JSON, posted to an address
    APPRISE = "apprise"  # e-mail and messengers: an address of the library Apprise


class NotificationEvent(StrEnum):
    """What people can be told of."""

    INCIDENT_OPENED = "incident_opened"  # displays failed together, and it lasts
    INCIDENT_ESCALATED = "incident_escalated"  # it grew to twice what was told, or lasts for an hour
    DISPLAY_UNWELL = "display_unwell"  # one display alone is silent or crashed, and stays so
    DISPLAY_SUSPENDED = "display_suspended"  # automatic recovery tried everything on it: a person must act
    SERVICE_FAILED = "service_failed"  # a display says that a service of it failed
    SCREEN_BAD = "screen_bad"  # a display that is heard says that its screen is black, frozen or disconnected
    CONNECTION_UNSTEADY = "connection_unsteady"  # a display loses the broker again and again
    BREAKER_OPEN = "breaker_open"  # so many are silent that recovery holds back
    BRIDGE_SILENT = "bridge_silent"  # our own: we do not hear the fleet
    CERTIFICATE_OLD = "certificate_old"  # our own: a door's certificate ends within 14 days
    CERTIFICATE_ENDING = "certificate_ending"  # our own: it ends within 3 days, or has ended
    CONVERSION_FAILED = "conversion_failed"  # a presentation could not be converted
    RECOVERED = "recovered"  # what was told is over


NEWER_EVENTS: Final = {
    NotificationEvent.SERVICE_FAILED: NotificationEvent.DISPLAY_UNWELL,
    NotificationEvent.SCREEN_BAD: NotificationEvent.DISPLAY_UNWELL,
    NotificationEvent.CONNECTION_UNSTEADY: NotificationEvent.DISPLAY_UNWELL,
    NotificationEvent.CERTIFICATE_OLD: NotificationEvent.BRIDGE_SILENT,
    NotificationEvent.CERTIFICATE_ENDING: NotificationEvent.BRIDGE_SILENT,
}
"""Events that code of before cannot read, each with the one that columns of before hold in its place."""


class NotificationPhase(StrEnum):
    """Which word about one trouble a message is; each is said once to a channel."""

    OPENED = "opened"
    ESCALATED = "escalated"
    RECOVERED = "recovered"


class DeliveryState(StrEnum):
    """Where one message to one channel stands."""

    PENDING = "pending"  # to be sent, or sent again
    DELIVERED = "delivered"  # the receiver took it
    FAILED = "failed"  # the receiver refuses it, or could not be reached for a day
    DROPPED = "dropped"  # it was over before it was sent, or the channel was switched off
    FOLDED = "folded"  # told by another message, of many displays at once


class SnoozeScope(StrEnum):
    """Of whom nobody is told for a while."""

    FLEET = "fleet"
    SITE = "site"
    CLIENT = "client"


class DeadLetterReason(StrEnum):
    """Why a message was put aside instead of stored."""

    UNKNOWN_TOPIC = "unknown_topic"
    BAD_UUID = "bad_uuid"  # the topic's client segment is no canonical UUID
    TOO_LARGE = "too_large"  # above the topic's limit
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    TOO_DEEP = "too_deep"  # nested beyond 32 levels
    BAD_NUMBER = "bad_number"  # NaN, infinite or beyond 64 bits
    BAD_FIELD = "bad_field"  # a field without which the message means nothing
    UNSUPPORTED_VERSION = "unsupported_version"
    UNKNOWN_CLIENT = "unknown_client"
    REFUSED_BY_DATABASE = "refused_by_database"
