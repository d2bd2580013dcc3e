"""Reference displays that break one rule of docs/protocol.md each, by the name of the rule in the checklist."""

import asyncio
from dataclasses import replace
from typing import Any, Final

from paho.mqtt.client import MQTTMessage

from displays.client.client import Answer
from displays.client.contract import (
    ACTIONS,
    HOURS,
    SCREEN_ACTIONS,
    BadMessage,
    Command,
    Kind,
    LogLevelOrder,
)
from displays.client.state import TERMINAL
from displays.simulated.display import Display


class SameSession(Display):
    """It uses the same `session` in every connection."""

    async def power_on(self) -> None:
        await super().power_on()
        self._link._presence = lambda state, reason: {  # type: ignore[method-assign]
            "state": state,
            "session": "0123456789abcdef",
            "reason": reason,
        }


class CleanStart(Display):
    """It starts a new MQTT session with each connection."""

    async def power_on(self) -> None:
        await super().power_on()
        self._link._client._clean_start = True


class OldHeartbeats(Display):
    """Its heartbeats never expire in the broker."""

    async def power_on(self) -> None:
        await super().power_on()
        publish = self._link.publish

        def forever(kind: Kind, body: dict[str, Any], level: str = "") -> Answer:
            return publish(replace(kind, expiry_seconds=None) if kind.name == "heartbeat" else kind, body, level)

        self._link.publish = forever  # type: ignore[method-assign]


class RunsAgain(Display):
    """It forgets a command after the outcome."""

    def _on_command(self, command: Command, expiry_seconds: int | None) -> None:
        known = self.state.journal.get(command.id)
        if known is not None and known.state in TERMINAL:
            del self.state.journal[command.id]
        super()._on_command(command, expiry_seconds)


class ForgetsLogs(Display):
    """It never sends a log message again."""

    async def power_on(self) -> None:
        await super().power_on()
        self._logs.start_again = lambda: None  # type: ignore[method-assign]


class GapsInLogs(Display):
    """It uses two numbers for each log message."""

    def log(self, level: str, message: str, logger: str = "player", **context: Any) -> bool:
        self.state.log(message, logger, context, self.now())
        return super().log(level, message, logger, **context)


class NoPreconditions(Display):
    """It ignores preconditions."""

    def _on_command(self, command: Command, expiry_seconds: int | None) -> None:
        super()._on_command(replace(command, if_boot_id=None, if_app_instance=None), expiry_seconds)


class ObeysRetained(Display):
    """It carries out retained commands."""

    async def power_on(self) -> None:
        await super().power_on()
        listens = self._link._on_message

        def as_if_live(client: Any, data: Any, message: MQTTMessage) -> None:
            message.retain = message.retain and not message.topic.endswith("/commands")
            listens(client, data, message)

        self._link._client.on_message = as_if_live


class DiesOfGarbage(Display):
    """It disconnects when it cannot read a message."""

    def on_message(self, name: str, payload: bytes, expiry_seconds: int | None) -> None:
        try:
            super().on_message(name, payload, expiry_seconds)
        except BadMessage:
            self.drop_connection()


class StaysLoud(Display):
    """It never ends an ordered log level."""

    async def power_on(self) -> None:
        await super().power_on()
        ordered = self.state.on_log_level
        self.state.on_log_level = lambda order, now: ordered(  # type: ignore[method-assign]
            LogLevelOrder(order.level, 86_400), now
        )


class ForgetsAcks(Display):
    """Its health reports repeat no ACKs."""

    def health(self, **vitals: Any) -> Answer:
        return super().health(recent_acks=[], **vitals)


class TakesItsTime(Display):
    """It handles a command after its expiry, and does not notice."""

    def _on_command(self, command: Command, expiry_seconds: int | None) -> None:
        if expiry_seconds == 1:
            asyncio.get_running_loop().call_later(1.8, super()._on_command, command, None)
        else:
            super()._on_command(command, expiry_seconds)


class OtherWord(Display):
    """It has a word of its own for its screen."""

    def health(self, **vitals: Any) -> Answer:
        return super().health(screen_health="bright", **vitals)


class OnlySaysSo(Display):
    """It sends no picture, and says that it did."""

    async def _send_screenshot(self, command_id: str) -> None:
        self._carry_out(self.state.finished(command_id, self.now()))


class HidesItsCamera(Display):
    """It takes pictures, and does not declare it."""

    def health(self, **vitals: Any) -> Answer:
        return super().health(capabilities=[*ACTIONS, *SCREEN_ACTIONS], **vitals)


class StaysLit(Display):
    """It does not switch its screen off, and says that it did."""

    async def _light(self, is_on: bool) -> None:  # noqa: ARG002 - this is its fault
        self.is_lit = True


class StaysDark(Display):
    """It does not switch its screen on again, and says that it did."""

    async def _light(self, is_on: bool) -> None:  # noqa: ARG002 - this is its fault
        self.is_lit = False


class HidesWhoSwitchedItOff(Display):
    """Its screen is off as if by a fault."""

    def health(self, **vitals: Any) -> Answer:
        return super().health(screen_off_by=None, **vitals)


class KeepsNoHours(Display):
    """It ignores opening hours."""

    def on_message(self, name: str, payload: bytes, expiry_seconds: int | None) -> None:
        if name != HOURS:
            super().on_message(name, payload, expiry_seconds)


class StaysAway(Display):
    """It does not reconnect after a loss of the network."""

    def on_down(self) -> None:
        super().on_down()
        self._link._closing.set()


SPOILED: Final[dict[type[Display], str]] = {
    SameSession: "presence_session",
    CleanStart: "clean_start",
    OldHeartbeats: "expiry",
    RunsAgain: "runs_once",
    ForgetsLogs: "resent",
    GapsInLogs: "numbered",
    NoPreconditions: "precondition",
    ObeysRetained: "retained_command",
    DiesOfGarbage: "garbage",
    StaysLoud: "log_level_ends",
    ForgetsAcks: "recent_acks",
    TakesItsTime: "late",
    OtherWord: "screen_health",
    OnlySaysSo: "screenshot",
    HidesItsCamera: "screenshot",
    StaysLit: "screen_off",
    StaysDark: "screen_on",
    HidesWhoSwitchedItOff: "screen_off",
    KeepsNoHours: "hours",
    StaysAway: "came_back",
}
