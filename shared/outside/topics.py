"""The topics of the MQTT contract."""

from enum import StrEnum
from typing import Final


class TopicKind(StrEnum):
    """The kind of a topic."""

    HEARTBEAT = "heartbeat"
    HEALTH = "health"
    LOGS = "logs"
    SERVICE_FAILED = "service_failed"
    PRESENCE = "presence"
    ACKS = "acks"
    COMMANDS = "commands"
    LOGS_COMMITTED = "logs_committed"
    LOG_LEVEL = "log_level"
    HOURS = "hours"
    CANARY = "canary"


UPWARD: Final = (  # display -> service: the bridge subscribes to them
    TopicKind.HEARTBEAT,
    TopicKind.HEALTH,
    TopicKind.LOGS,
    TopicKind.SERVICE_FAILED,
    TopicKind.PRESENCE,
    TopicKind.ACKS,
)


class Topics:
    """Builds every topic under one root."""

    def __init__(self, root: str) -> None:
        """`root` is MQTT_TOPIC_ROOT: one level, no slash."""
        self.root = root
        self.canary = f"{root}/service/canary"

    def of(self, kind: TopicKind, uuid: str) -> str:
        """The topic of this kind of one client; a log topic has its level after it."""
        return f"{self.root}/{uuid}/{kind}"

    def commands(self, uuid: str) -> str:
        return self.of(TopicKind.COMMANDS, uuid)

    def logs_committed(self, uuid: str) -> str:
        return self.of(TopicKind.LOGS_COMMITTED, uuid)

    def log_level(self, uuid: str) -> str:
        return self.of(TopicKind.LOG_LEVEL, uuid)

    def hours(self, uuid: str) -> str:
        return self.of(TopicKind.HOURS, uuid)

    def subscriptions(self) -> tuple[str, ...]:
        """The bridge's subscriptions: each upward topic and the canary, never `<root>/#`.

        A subscriber of all topics would turn every PUBACK 0x10 into success.
        """
        upward = (f"{self.of(kind, '+')}/+" if kind is TopicKind.LOGS else self.of(kind, "+") for kind in UPWARD)
        return (*upward, self.canary)
