"""The MQTT contract of displays: one Struct for each topic, with the fields of its document, limits and allowed words.

docs/protocol.md is the same contract for people. `reading` decodes payloads by these Structs.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from shared.outside.topics import TopicKind
from shared.vocabulary import GlassKind, ProcessStatus, ScreenHealthStatus, ScreenOffBy

KIB: Final = 1024
MAX_BYTES: Final[Mapping[str, int]] = {
    TopicKind.HEARTBEAT: KIB,
    TopicKind.HEALTH: 8 * KIB,
    TopicKind.LOGS: 16 * KIB,
    TopicKind.SERVICE_FAILED: 2 * KIB,
    TopicKind.PRESENCE: KIB // 2,
    TopicKind.ACKS: 4 * KIB,
    TopicKind.CANARY: KIB // 8,
}
VERSION: Final = 1
RECENT_ACKS: Final = 8  # only the last ACKs of a health report are read
UNIT_CHARS: Final = 256
LONG: Final = 2**63 - 1  # the most that a bigint column takes
COLUMN_INTEGER: Final = 2**31 - 1  # the most that an integer column takes

ID_CHARS: Final = 128
Id = Annotated[str, Meta(min_length=1, max_length=ID_CHARS)]
Name = Annotated[str, Meta(min_length=1, max_length=256)]
Unit = Annotated[str, Meta(min_length=1, max_length=UNIT_CHARS)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Count = Annotated[int, Meta(ge=0, le=LONG)]
Moment = Annotated[str, Meta(max_length=40)] | Count | Annotated[float, Meta(ge=0)]
"""ISO 8601, or seconds or milliseconds since 1970."""
PageText = Annotated[str, Meta(max_length=512)]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{8,16}$")]
Glass = tuple[GlassKind, Hash | None, Hash | None, Percent | None, Literal[0, 1] | None]
"""Kind, hash of address and title, hash of the picture, share of the commonest colour, whether the picture changed."""
AckState = Literal["received", "running", "succeeded", "failed", "rejected"]


class Document(Struct, forbid_unknown_fields=True, gc=False):
    """A document of the contract, or a document inside another.

    Displays may send fields that the contract does not name; `known` leaves them out.
    """

    inside: ClassVar[Mapping[str, type["Document"]]] = {}
    """The fields that hold documents, alone or in a list."""
    lacking: ClassVar[str] = ""
    """The reason in the dead letter when a required field is missing."""

    @classmethod
    def known(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """A copy with only the fields that the contract names, also in the documents inside."""
        return {name: _copy(values[name], cls.inside.get(name)) for name in cls.__struct_fields__ if name in values}


def _copy(value: Any, document: type[Document] | None) -> Any:
    if type(value) is list:
        return [_copy(item, document) for item in value]
    return document.known(value) if document is not None and type(value) is dict else value


class StampedDocument(Document):
    """The stamp (docs/protocol.md, section 3)."""

    install_id: Id | None = None
    boot_seq: Count | None = None
    seq: Annotated[int, Meta(ge=1, le=LONG)] | None = None
    ts: Moment | None = None

    def stamp(self) -> tuple[str, int, int] | tuple[None, None, None]:
        """install_id, boot_seq and seq; three times None when one is missing."""
        if self.install_id is None or self.boot_seq is None or self.seq is None:
            return None, None, None
        return self.install_id, self.boot_seq, self.seq


class CommandStateDocument(StampedDocument, kw_only=True):
    """An ACK as a heartbeat or a health report repeats it."""

    id: Id
    state: AckState
    reason: Annotated[str, Meta(min_length=1, max_length=500)] | None = None


class HeartbeatDocument(StampedDocument):
    """A heartbeat, with the state of the last command."""

    inside = {"last_command": CommandStateDocument}

    v: Literal[1] | None = None
    process_status: ProcessStatus | None = None
    interval_seconds: Annotated[int, Meta(ge=5, le=3600)] | None = None
    boot_id: Id | None = None
    app_instance: Id | None = None
    last_command: CommandStateDocument | None = None


class StandingFailureDocument(StampedDocument, kw_only=True):
    """A service failure that still stands, with the stamp of the message that first reported it."""

    unit: Unit


class BrokerConnectionDocument(Document):
    """The state of the display's connection to the broker."""

    reconnect_count: Annotated[int, Meta(ge=0, le=COLUMN_INTEGER)] | None = None
    last_disconnect_at: Moment | UnsetType | None = UNSET


class RefusedDocument(Document, kw_only=True):
    """An order that the display does not take."""

    what: Literal["commands", "hours", "log_level", "look"]
    reason: Annotated[str, Meta(min_length=1, max_length=64)]


class HealthDocument(StampedDocument):
    """A health report. It repeats the standing failure and the last ACKs, in case they were lost."""

    inside = {
        "refused": RefusedDocument,
        "service_failed": StandingFailureDocument,
        "recent_acks": CommandStateDocument,
        "broker_connection": BrokerConnectionDocument,
    }

    v: Literal[1] | None = None
    screen_health: ScreenHealthStatus | None = None
    screen_off_by: ScreenOffBy | None = None
    hours_version: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    glass: Glass | None = None
    address: PageText | None = None
    title: PageText | None = None
    look_version: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    log_level: Annotated[str, Meta(min_length=1, max_length=16)] | None = None
    app_version: Name | None = None
    os: Name | None = None
    ip: Name | None = None
    hostname: Name | None = None
    cpu_percent: Percent | None = None
    memory_percent: Percent | None = None
    disk_percent: Percent | None = None
    temperature_celsius: Annotated[float, Meta(ge=-100, le=300)] | None = None
    certificate_ends_at: Moment | None = None
    under_voltage: bool | None = None
    disk_writable: bool | None = None
    refused: Annotated[list[RefusedDocument | None], Meta(max_length=4)] | None = None
    capabilities: Annotated[list[Annotated[str, Meta(max_length=128)]], Meta(max_length=32)] | None = None
    service_failed: StandingFailureDocument | None = None
    recent_acks: list[CommandStateDocument | None] | None = None
    broker_connection: BrokerConnectionDocument | None = None


class LogDocument(StampedDocument, kw_only=True):
    """A log line. A longer message than the contract allows is cut."""

    lacking = "message is not a text"

    v: Literal[1] | None = None
    message: str
    logger: Name | None = None
    context: dict[str, Any] | None = None
    truncated: bool | None = None


class ServiceFailedDocument(StampedDocument, kw_only=True):
    """A service of the display failed. A payload of bare text is the unit."""

    lacking = f"unit is not a text of 1 to {UNIT_CHARS} characters"

    v: Literal[1] | None = None
    unit: Unit
    result: str | None = None
    restarts: Count | None = None


class PresenceDocument(Document, kw_only=True):
    """The display connected or left. It has no stamp."""

    lacking = "state is neither online nor offline"

    v: Literal[1] | None = None
    state: Literal["online", "offline"]
    session: Id | None = None
    reason: str | None = None


class AckDocument(CommandStateDocument, kw_only=True):
    """An answer to a command."""

    lacking = "id or state is missing or not allowed in an ACK"

    v: Literal[1] | None = None
    boot_id: Id | None = None
    app_instance: Id | None = None
    traceparent: Id | None = None


class CanaryDocument(Document):
    """The bridge's own message, back from the broker."""

    v: Literal[1] | None = None
    instance: Id | None = None
    number: Count | None = None
