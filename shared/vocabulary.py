"""The closed lists of values: every value of a status column or field, each with its meaning.

These enums are the one list. `tables.py` builds the database's types and checks from them, and the API's
OpenAPI document names them. Only SQL spells a value out.
"""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Final


class ProcessStatus(StrEnum):
    """The state of a display's player process, by its heartbeat."""

    STARTING = "starting"  # the player is loading and not yet showing anything
    RUNNING = "running"  # the player shows its playlist
    CRASHED = "crashed"  # the player died and its watchdog has not brought it back
    STOPPED = "stopped"  # the player was stopped on purpose (clean)
    UNKNOWN = "unknown"  # the display cannot tell, or never sent a heartbeat


class ScreenHealthStatus(StrEnum):
    """The state of a display's panel, by its health report."""

    OK = "ok"
    BLACK = "black"  # an all-black picture
    FROZEN = "frozen"  # the same picture for too long
    OFF = "off"  # the panel is powered down
    DISCONNECTED = "disconnected"  # no panel on the cable
    UNKNOWN = "unknown"
    WHITE = "white"  # an all-white picture
    HUNG = "hung"  # the browser answered in this start of the player, and no longer does
    ERROR_PAGE = "error_page"  # the browser's own, or the web server's
    NO_PAGE = "no_page"  # the player runs and shows none
    WRONG_PAGE = "wrong_page"  # another page than people expect there


MENDED_BY_A_START = tuple(map(ScreenHealthStatus, ("black", "white", "frozen", "hung", "error_page", "no_page")))
"""What may be the player's fault; no command puts a cable back, switches a screen on, or puts the right page there."""
BAD_SCREENS = (*MENDED_BY_A_START, ScreenHealthStatus.WRONG_PAGE, ScreenHealthStatus.DISCONNECTED)
"""The states of a screen that does not show its content."""
WITHOUT_PICTURE = (*BAD_SCREENS, ScreenHealthStatus.OFF)
"""The same, and a screen that is switched off: a failure only where nobody planned it."""
LIT = (ScreenHealthStatus.OK, *MENDED_BY_A_START, ScreenHealthStatus.WRONG_PAGE)
"""The states of a screen that is switched on."""


class ExpectationScope(StrEnum):
    """Whose screens an expectation is about."""

    CLIENT = "client"
    TAG = "tag"
    SITE = "site"


class GlassKind(StrEnum):
    """What a display sees on its screen, by its health report."""

    PAGE = "page"
    ERROR = "error"  # an error page: the browser's own, or the web server's
    CRASHED = "crashed"  # a page that has crashed
    NOTHING = "nothing"
    PROGRAM = "program"  # another program than the player


class ScreenOffBy(StrEnum):
    """Whose plan it is that a display's screen is off, by its health report."""

    COMMAND = "command"  # an operator's screen_off
    HOURS = "hours"  # the opening hours that it keeps


class ClientStatus(StrEnum):
    """The shown state of a client: stored with `status_since`, one change row per change."""

    RUNNING = "running"
    LATE = "late"  # a heartbeat is overdue, but silence is below the threshold
    STALE = "stale"  # silent beyond the threshold
    CRASHED = "crashed"
    STARTING = "starting"
    STOPPED = "stopped"
    UNKNOWN = "unknown"  # never heard, sends messages but no heartbeats, or the bridge is silent


WELL = (ClientStatus.RUNNING, ClientStatus.LATE, ClientStatus.STARTING, ClientStatus.STOPPED)
"""The states of a client that is heard and has not crashed."""


class Presence(StrEnum):
    """What the display's retained presence message says. It is a hint; the heartbeat decides."""

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


LEVEL_WORDS = {
    **{level.value: level for level in LogLevel},
    "trace": LogLevel.DEBUG,
    "notice": LogLevel.INFO,
    "warn": LogLevel.WARNING,
    "err": LogLevel.ERROR,
    **dict.fromkeys(("crit", "alert", "emerg", "fatal"), LogLevel.CRITICAL),
}
"""The last segment of a log topic -> its level."""
SERIOUS_LEVELS = (LogLevel.ERROR, LogLevel.CRITICAL)  # kept for 90 days


class CommandAction(StrEnum):
    """What a command makes a display do."""

    RESTART_APP = "restart_app"  # restart the player
    REBOOT_HOST = "reboot_host"  # reboot the machine
    SHUTDOWN_HOST = "shutdown_host"  # switch the machine off; it can be started again only on site
    SCREENSHOT = "screenshot"  # send a picture of the screen
    SCREEN_ON = "screen_on"  # switch the screen on
    SCREEN_OFF = "screen_off"  # switch the screen off; the machine and the player go on


POWER_ACTIONS: Final = (CommandAction.RESTART_APP, CommandAction.REBOOT_HOST, CommandAction.SHUTDOWN_HOST)
"""The capabilities of a display that declares none."""
SCREEN_ACTIONS: Final = (CommandAction.SCREEN_ON, CommandAction.SCREEN_OFF)
"""The actions that a health report of the screen proves. A display that can do both keeps opening hours."""
BATCH_ACTIONS: Final = (*POWER_ACTIONS, *SCREEN_ACTIONS)
"""The actions that a batch may have."""


class CommandState(StrEnum):
    """The state of a command. It only moves to a higher rank; a terminal state never changes."""

    QUEUED = "queued"  # stored, not yet accepted by the broker
    SENT = "sent"  # the broker took it for a subscriber
    RECEIVED = "received"  # the display has it in its journal
    RUNNING = "running"  # the display is carrying it out
    SUCCEEDED = "succeeded"  # done, by ACK or by evidence
    FAILED = "failed"  # the display, the broker or the evidence says it did not work
    REJECTED = "rejected"  # the display refused it
    EXPIRED = "expired"  # no ACK before `expires_at`
    TIMED_OUT = "timed_out"  # received, but no result before `result_deadline`
    CANCELLED = "cancelled"  # withdrawn while provably no display had it


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
TERMINAL_RANK = 90  # from this rank on a command is over


class PublishAnswer(IntEnum):
    """The reason codes of the broker's PUBACK (MQTT 5.0, section 3.4.2.1) that this service treats differently."""

    SUCCESS = 0x00  # the broker took it; proves nothing about the display
    NO_SUBSCRIBER = 0x10  # no matching subscribers: proof that no display got it
    NOT_AUTHORIZED = 0x87  # the ACL forbids this topic


REFUSED_FROM: Final = 0x80  # MQTT's reason codes from here on are errors


class CommandSource(StrEnum):
    """Who asked for a command."""

    OPERATOR = "operator"
    RECOVERY = "recovery"
    BULK = "bulk"


class BatchState(StrEnum):
    """The state of a batch: many commands from one request."""

    RUNNING = "running"  # the service sends waves or waits for their results
    PAUSED = "paused"  # the service sends nothing more until an operator resumes the batch
    FINISHED = "finished"  # every client has its outcome and every command is over
    ABORTED = "aborted"  # an operator ended it; commands that a display may have still run


class MemberOutcome(StrEnum):
    """The outcome of one client of a batch."""

    WAITING = "waiting"  # its turn has not come
    ACCEPTED = "accepted"  # it has a command; see the state of that command
    COMMAND_IN_FLIGHT = "command_in_flight"  # it had another open command when its turn came
    LOCKED_OUT = "locked_out"  # it was restarted or rebooted lately
    NOT_CAPABLE = "not_capable"  # the display does not support this action
    UNKNOWN_CLIENT = "unknown_client"  # there is no such client, or it was deleted
    ABORTED = "aborted"  # the batch ended before its turn


class ScheduleState(StrEnum):
    """The state of a schedule of commands."""

    PLANNED = "planned"  # it has a next time
    RUNNING = "running"  # the batch of its last time runs
    HELD = "held"  # the batch of its last time waits for a quiet time, or for a person who paused it
    DONE = "done"  # no time is left, and the batch of the last one is over
    MISSED = "missed"  # no time is left, and the last one was missed
    CANCELLED = "cancelled"  # a person cancelled it


class ScheduleOutcome(StrEnum):
    """What became of one time of a schedule."""

    MADE = "made"  # its batch was made
    MISSED = "missed"  # it passed without a batch, and is not made up for


class ConfirmedBy(StrEnum):
    """What proved the success of a command."""

    ACK = "ack"
    EVIDENCE = "evidence"  # a new boot_id or app_instance, silence after a shutdown, a picture, or a screen's report
    BOTH = "both"


class ConversionStatus(StrEnum):
    """The state of a conversion."""

    PENDING = "pending"  # waits for a worker
    PROCESSING = "processing"  # a worker holds the claim
    READY = "ready"  # the PDF is on the volume and was checked
    FAILED = "failed"  # no further try by itself


class TargetFormat(StrEnum):
    """The format of a converted medium."""

    PDF = "pdf"


class MediaKind(StrEnum):
    """The type of an uploaded file, by its content."""

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
    """The rights of a person or a script. Each role includes the rights of the roles before it."""

    VIEWER = "viewer"  # read
    OPERATOR = "operator"  # + acknowledge, upload, convert, commands but shutdown_host
    ADMIN = "admin"  # + shutdown_host, overrides, tokens, enrolment, delete


ROLE_FOR: Final[Mapping[str, Role]] = {
    CommandAction.RESTART_APP: Role.OPERATOR,
    CommandAction.REBOOT_HOST: Role.OPERATOR,
    CommandAction.SHUTDOWN_HOST: Role.ADMIN,  # it can be started again only on site
    CommandAction.SCREENSHOT: Role.OPERATOR,
    CommandAction.SCREEN_ON: Role.OPERATOR,
    CommandAction.SCREEN_OFF: Role.OPERATOR,
}
"""The lowest role that may send each command."""


class PrincipalKind(StrEnum):
    """The kind of an API caller."""

    USER = "user"
    TOKEN = "token"  # noqa: S105 - the word for a kind of caller, not a secret


class PageState(StrEnum):
    """The state of a display on the public status page of its site."""

    RUNNING = "running"  # its player runs
    NOT_RUNNING = "not_running"  # it does not, or gives no sign
    OFF = "off"  # the screen is meant to be off: the shop is closed, or somebody said so
    UNKNOWN = "unknown"  # we do not hear it


class RegisteredBy(StrEnum):
    """How a client was registered."""

    ENROLMENT = "enrolment"
    FIRST_MESSAGE = "first_message"


class RecoveryDecision(StrEnum):
    """A decision about an unhealthy client, or about the breaker of the fleet or of a site."""

    RESTART_APP = "restart_app"
    REBOOT_HOST = "reboot_host"
    NONE = "none"  # recovery sent nothing; `why` gives the reason
    BREAKER_OPEN = "breaker_open"  # too many displays are silent: recovery acts on no silent display
    BREAKER_CLOSED = "breaker_closed"  # enough of these displays are heard again
    BREAKER_RELEASED = "breaker_released"  # an operator released it


class RecoveryBasis(StrEnum):
    """The evidence for an act of recovery."""

    CRASHED = "crashed"  # a fresh heartbeat says that the player crashed
    SERVICE_FAILED = "service_failed"  # a fresh heartbeat, and an open service failure
    STALE = "stale"  # silent while the bridge listened, and not known to be disconnected
    SCREEN_FAILED = "screen_failed"  # a fresh heartbeat, and reports in a row of a screen that a start may mend


class RecoveryState(StrEnum):
    """Why recovery acts on a client or does not."""

    OFF = "off"  # CRASH_RECOVERY_ENABLED is false
    DUE = "due"  # a failure is proven: recovery acts once nothing more is to be waited for
    IN_FLIGHT = "in_flight"  # a command is on its way
    VERIFYING = "verifying"  # nothing proves now that the display is ill, or well
    LOCKED = "locked"  # a command ran recently; recovery waits for the end of the lockout
    SUSPENDED = "suspended"  # every attempt failed: a person must act
    UNREACHABLE = "unreachable"  # the display is not connected
    BLOCKED_BRIDGE = "blocked_bridge"  # the bridge is silent, or was: silence of displays proves nothing
    BLOCKED_BREAKER = "blocked_breaker"  # too many displays fell silent, or lost their picture, at once
    HELD = "held"  # stopped or shut down on purpose, in a quiet time, or two devices share its login
    NOT_RECOVERED = "not_recovered"  # does not support the action, was never heard, or is silent for over a day


class FailureEvent(StrEnum):
    """A change of a service failure."""

    FAILED = "failed"  # the display reported it
    CLEARED = "cleared"  # an operator acknowledged it


class EventKind(StrEnum):
    """The kind of an entry in a client's timeline."""

    REGISTERED = "registered"  # the client was registered
    STATE = "state"  # its shown state changed
    SERVICE_FAILED = "service_failed"
    SERVICE_CLEARED = "service_cleared"  # a person acknowledged a service failure
    SCREEN = "screen"  # its screen began to fail, or fails no more
    LOG = "log"  # the client logged an error or critical line
    COMMAND = "command"  # a command was issued, received, ended or answered late
    RECOVERY = "recovery"  # automatic recovery made a decision
    AUDIT = "audit"  # a person changed the client, its login or its log level


class Weekday(StrEnum):
    """Days of the week, in the order of ISO 8601."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


class QuietPreset(StrEnum):
    """What people make: each kind of quiet time with its own rules."""

    HOLD = "hold"  # recovery leaves it alone, until a time or until somebody ends it
    SNOOZE = "snooze"  # nobody is told about it for a while
    MAINTENANCE = "maintenance"  # somebody works on it: nothing automatic happens
    OPENING_HOURS = "opening_hours"  # the only one that is quiet outside of its weekly hours
    LEAVE_OUT = "leave_out"  # recovery leaves it alone for good
    CUSTOM = "custom"  # what is quiet is chosen freely


class Quiet(StrEnum):
    """What is quiet."""

    RECOVERY = "recovery"  # no automatic restart or reboot
    NOTICES = "notices"  # nobody is told
    SCREEN = "screen"  # the screen is meant to be off; such time does not count for availability
    COMMANDS = "commands"  # batches wait; an operator's single command goes


class QuietScope(StrEnum):
    """Whom a quiet time is about."""

    FLEET = "fleet"  # every client
    SITE = "site"  # the clients of this site at any time, also later ones
    TAG = "tag"  # the clients with this tag at any time, also later ones
    CLIENTS = "clients"  # the named clients


class QuietState(StrEnum):
    """The state of a quiet time."""

    ON = "on"  # it applies now
    PLANNED = "planned"  # it begins, or begins again, later
    OVER = "over"  # its time has passed
    ENDED = "ended"  # a person ended it


class IncidentKind(StrEnum):
    """What the displays of an incident have in common."""

    SITE = "site"  # they are at one site
    SUBNET = "subnet"  # their IP addresses are in one /24, or /64 of IPv6
    CLUSTER = "cluster"  # they failed at the same time, at several sites
    LISTENING = "listening"  # our fault: the bridge does not hear the fleet; no displays belong to it


class Symptom(StrEnum):
    """How a display of an incident failed."""

    SILENT = "silent"  # its heartbeat went stale
    CRASHED = "crashed"  # its heartbeat says that its player crashed
    SERVICE_FAILED = "service_failed"  # it reported a failed service
    DISCONNECTED = "disconnected"  # it lost its connection to the broker and came back by itself
    SCREEN_FAILED = "screen_failed"  # its screen shows nothing, or always the same


class IncidentEventKind(StrEnum):
    """The kind of an entry in an incident's timeline."""

    OPENED = "opened"
    JOINED = "joined"  # displays failed
    LEFT = "left"  # displays are well again, or were deleted
    COMMAND = "command"  # a command was sent to a member
    RECOVERY = "recovery"  # automatic recovery made a decision about a member
    MERGED = "merged"  # two incidents became one
    REOPENED = "reopened"  # displays failed again shortly after it was closed
    TAKEN = "taken"  # somebody took it, took it over, or gave it back
    CLOSED = "closed"


class Door(StrEnum):
    """A public port of a box or of the broker's machine: for displays or for people."""

    DISPLAYS = "displays"
    PEOPLE = "people"


class HealthLimit(StrEnum):
    """The values of a display's machine that have a limit."""

    DISK = "disk"  # the share of its disk that is in use
    MEMORY = "memory"  # the share of its memory that is in use
    HEAT = "heat"  # the temperature of its hottest part
    CERTIFICATE = "certificate"  # the time until the authority that its login trusts expires
    CLOCK = "clock"  # how far its clock is from ours
    VOLTAGE = "voltage"  # whether its power supply gave too little voltage since the boot
    READ_ONLY = "read_only"  # whether its disk takes no writes
    REFUSED = "refused"  # how many kinds of orders it does not take


class ChannelKind(StrEnum):
    """How a channel sends notifications."""

    WEBHOOK = "webhook"  # JSON, posted to a URL
    APPRISE = "apprise"  # e-mail or a messenger, by a URL of the library Apprise


class NotificationEvent(StrEnum):
    """The events of notifications."""

    INCIDENT_OPENED = "incident_opened"  # displays failed together and have not come back
    INCIDENT_ESCALATED = "incident_escalated"  # an incident grew to twice the reported size, or lasts for an hour
    DISPLAY_UNWELL = "display_unwell"  # one display alone has been silent or crashed for some time
    DISPLAY_SUSPENDED = "display_suspended"  # all attempts of recovery failed: a person must act
    SERVICE_FAILED = "service_failed"  # a display reported a failed service
    SCREEN_BAD = "screen_bad"  # the screen of a display that is heard fails: BAD_SCREENS, or off unplanned
    LIMIT_PASSED = "limit_passed"  # a value of a display's machine passes its limit: a full disk, heat, a wrong clock
    CONNECTION_UNSTEADY = "connection_unsteady"  # a display loses its connection to the broker again and again
    LOGIN_SHARED = "login_shared"  # two devices use the login of one display
    SITE_EMPTIED = "site_emptied"  # rights, channels or other things name a site that has lost its last display
    BREAKER_OPEN = "breaker_open"  # so many displays are silent that recovery waits
    BRIDGE_SILENT = "bridge_silent"  # our fault: the bridge does not hear the fleet
    CERTIFICATE_OLD = "certificate_old"  # our fault: the certificate of a public port is in its last third or 14 days
    CERTIFICATE_ENDING = "certificate_ending"  # our fault: it is in its last tenth or 3 days, or has expired
    CONVERSION_FAILED = "conversion_failed"  # a presentation could not be converted
    RECOVERED = "recovered"  # the reported trouble is over
    DAILY_REPORT = "daily_report"  # at 07:00 of the site: who is unwell, and what happened in the last 24 hours
    WEEKLY_REPORT = "weekly_report"  # on Mondays at 07:00: how available each site was in the last week


class NotificationPhase(StrEnum):
    """The phase of a trouble that a message reports; a channel gets each phase once."""

    OPENED = "opened"
    ESCALATED = "escalated"
    RECOVERED = "recovered"


class DeliveryState(StrEnum):
    """The state of one message to one channel."""

    PENDING = "pending"  # waits for its first or next try
    DELIVERED = "delivered"  # the receiver accepted it
    FAILED = "failed"  # the receiver refused it, or was unreachable for a day
    DROPPED = "dropped"  # the trouble was over before it was sent, or the channel was switched off
    FOLDED = "folded"  # part of another message, about many displays


class DeadLetterReason(StrEnum):
    """Why a message became a dead letter."""

    UNKNOWN_TOPIC = "unknown_topic"
    BAD_UUID = "bad_uuid"  # the client level of the topic is not a canonical UUID
    TOO_LARGE = "too_large"  # above the topic's limit
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    TOO_DEEP = "too_deep"  # nested beyond 32 levels
    BAD_NUMBER = "bad_number"  # NaN, infinite or beyond 64 bits
    BAD_FIELD = "bad_field"  # a required field is wrong or missing
    UNSUPPORTED_VERSION = "unsupported_version"
    UNKNOWN_CLIENT = "unknown_client"
    REFUSED_BY_DATABASE = "refused_by_database"  # a fault of the service: it could not read or store the message
