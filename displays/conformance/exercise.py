"""Exercise a client: probes, a restart, a log level, two short losses of the network.

This module does not judge. Without `commands` it sends no command that a client could carry out.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any, Final

from displays.conformance.judge_logs import uncommitted
from displays.conformance.judge_screen import hours_after, keeps_none_after, screens_after
from displays.conformance.record import OUTCOMES, Record
from displays.conformance.service import Service
from displays.conformance.tap import Tap
from displays.conformance.verdict import Tried

GARBAGE: Final = (b"", b"\xff\xfe{", b"[1, 2", b'"text"', b"[[[[]]]]", b'{"id": 7, "action": null, "until": -1}')
TOPICS: Final = ("commands", "logs_committed", "log_level", "hours", "look")
LONGEST_ID: Final = 128  # characters
LEVEL: Final = "debug"
SCREENSHOT: Final = "screenshot"
SCREEN_OFF: Final = "screen_off"
SCREEN_ON: Final = "screen_on"
HOURS_VERSION: Final = "conformance"
ALWAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
RETAINED_LEVEL: Final = "critical"
REASON: Final = "conformance check of a display client"
RESEND_PER_SECOND: Final = 40.0
RESTART_SECONDS: Final = 120.0  # the service's result deadline
REBOOT_SECONDS: Final = 600.0
PICTURE_SECONDS: Final = 30.0
SCREEN_SECONDS: Final = 60.0
OVER_SECONDS: Final = 0.3  # between two looks whether the service holds a command for proven
SHORT_LEVEL_SECONDS: Final = 1


class NeverCame(Exception):
    """The client did not connect."""


class Gone(Exception):
    """The client was connected, and did not reconnect."""


@dataclass
class Exercise:
    """One run with one client. `answer_seconds`: its time for an answer; the others: for a connection."""

    tap: Tap
    service: Service | None  # None: the check itself sends what the service would
    commands: bool = False
    reboot: bool = False
    answer_seconds: float = 10.0
    arrival_seconds: float = 60.0
    coming_back_seconds: float = 45.0
    tell: Callable[[str], None] = lambda _text: None
    tried: Tried = field(init=False)

    def __post_init__(self) -> None:
        self.tried = Tried(self.tap.uuid, self.tap.prefix, self.answer_seconds)

    @property
    def record(self) -> Record:
        return self.tap.record

    async def run(self) -> Tried:
        """Try everything with this client. Raises NeverCame, requests.RequestException."""
        if not await self._online(after=-1, seconds=self.arrival_seconds):
            raise NeverCame(self.record.not_mqtt5 or "the client did not connect and send presence online")
        try:
            await self._try_everything()
        except Gone:
            self.tell("the client did not reconnect; the check judges the messages until now")
        return self.tried

    async def _try_everything(self) -> None:
        """Try everything, in an order in which one failure disturbs later steps little. Raises Gone."""
        self.tell("the client is online; waiting for its first heartbeat")
        await self._wait(lambda: self.record.of("heartbeat"), 60)
        self.tell("sending commands that it must refuse")
        await self._probe()
        if self.commands:
            await self._probe_with_restarts()
        await self._ask_for_a_picture()
        self.tell("waiting for its next heartbeat")
        await self._beat_in_time()
        if self.commands:
            await self._restart()
        await self._switch_screen()
        await self._give_hours()
        await self._raise_level()
        self.tell("cutting its network, and waiting until it is back")
        await self._lose_network()
        await self._shorten_level()
        self.tap.release_marks()
        if self.reboot:
            await self._reboot()

    # --- commands that the client must refuse ---

    async def _probe(self) -> None:
        tried = self.tried
        tried.unknown_id, unknown = self._command("conformance_probe", length=LONGEST_ID)
        tried.unknown_at = await self._give(unknown)
        await self._answered(tried.unknown_id, tried.unknown_at)
        tried.repeated_at = await self._give(unknown)
        await self._answered(tried.unknown_id, tried.repeated_at)
        tried.retained_id, retained = self._command("conformance_probe")
        tried.retained_at = await self._give(retained, retain=True)
        tried.garbage_at = time.monotonic()
        for payload, name in product(GARBAGE, TOPICS):
            if self.tap.connected:
                self.tap.give(name, payload)
        if await self._wait(lambda: self._lost_since(tried.garbage_at), 0.3):
            await self._online(after=len(self.record.connections) - 1, seconds=self.coming_back_seconds)
        tried.after_garbage_at = await self._give(unknown)
        await self._answered(tried.unknown_id, tried.after_garbage_at)

    async def _probe_with_restarts(self) -> None:
        """Send three restart_app commands that must not run."""
        tried, nobody = self.tried, str(uuid.uuid4())
        tried.precondition_id, command = self._command("restart_app", if_app_instance=nobody)
        tried.precondition_at = await self._give(command)
        await self._settled(tried.precondition_id)
        tried.version_id, command = self._command("restart_app", v=2, if_app_instance=nobody)
        tried.version_at = await self._give(command)
        await self._settled(tried.version_id)
        tried.late_id, command = self._command("restart_app", if_boot_id=nobody)
        tried.late_at = await self._give(command, expiry_seconds=1)
        await self._settled(tried.late_id)

    def _command(self, action: str, *, length: int = 0, **more: Any) -> tuple[str, bytes]:
        """A command unknown to the service; the tap keeps its ACKs. Returns its id, filled to `length`, and payload."""
        command_id = str(uuid.uuid4()).ljust(length, "0")
        self.tap.own_commands.add(command_id)
        body = {"id": command_id, "action": action, "if_boot_id": None, "if_app_instance": None}
        expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60))
        return command_id, json.dumps({**body, "expires_at": expires, **more}).encode()

    async def _ask_for_a_picture(self) -> None:
        """Send screenshot: by the service to a client that declares it, else as a command that must not run."""
        tried = self.tried
        tried.sends_pictures = self._declares(SCREENSHOT)
        if not tried.sends_pictures:
            tried.picture_id, command = self._command(SCREENSHOT)
            await self._answered(tried.picture_id, await self._give(command))
        elif self.commands and self.service is not None:
            self.tell("asking for a picture of its screen")
            tried.picture_id = await self._issue(SCREENSHOT)
            if tried.picture_id:
                await self._settled(tried.picture_id, PICTURE_SECONDS)
                tried.picture = await self.service.picture_of(self.tap.uuid, tried.picture_id)

    def _declares(self, action: str) -> bool:
        reports = self.record.of("health")
        return bool(reports) and action in (reports[-1].body.get("capabilities") or ())

    async def _switch_screen(self) -> None:
        """Switch the screen off and on by the service; of a client that declares neither, send what it must refuse."""
        tried = self.tried
        tried.switches_screen = {action for action in (SCREEN_OFF, SCREEN_ON) if self._declares(action)}
        for action in (SCREEN_OFF, SCREEN_ON):
            if action not in tried.switches_screen:
                tried.screen_ids[action], command = self._command(action)
                await self._answered(tried.screen_ids[action], await self._give(command))
            elif self.commands:
                self.tell(f"sending {action}")
                await self._switch(action)

    async def _switch(self, action: str) -> None:
        asked = self.tried.screen_at[action] = time.monotonic()
        command_id = self.tried.screen_ids[action] = await self._issue(action)
        if not command_id:
            return
        await self._settled(command_id, SCREEN_SECONDS)
        await self._wait(lambda: screens_after(self.record, asked)[-1:] == [action == SCREEN_ON], self.answer_seconds)
        await self._over(command_id)

    async def _over(self, command_id: str) -> None:
        """Wait until the service has seen the command's effect; it accepts no other command before."""
        if self.service is None:
            return
        ends = time.monotonic() + self.answer_seconds
        while time.monotonic() < ends and not await self.service.is_over(command_id):  # noqa: ASYNC110 - asked each time
            await asyncio.sleep(OVER_SECONDS)

    async def _give_hours(self) -> None:
        """Give opening hours without an end to a client that keeps them, and take them away again."""
        tried = self.tried
        if not self.commands or tried.switches_screen != {SCREEN_OFF, SCREEN_ON}:
            return
        self.tell("giving it opening hours")
        hours = {"zone": "UTC", "open": [{"days": ALWAYS, "from": "00:00", "until": "24:00"}]}
        tried.hours_version = HOURS_VERSION
        tried.hours_at = await self._give(json.dumps({"version": HOURS_VERSION, "hours": hours}).encode(), name="hours")
        await self._wait(lambda: hours_after(self.record, tried.hours_at), self.answer_seconds)
        taken_at = await self._give(json.dumps({"version": None, "hours": None}).encode(), name="hours")
        await self._wait(lambda: keeps_none_after(self.record, taken_at), self.answer_seconds)

    # --- commands of the service that the client carries out ---

    async def _restart(self) -> None:
        self.tell("restarting its player by the service")
        tried, asked = self.tried, time.monotonic()
        before = self._instances(0.0)
        tried.restart_id = await self._issue("restart_app")
        if not tried.restart_id:
            return
        await self._settled(tried.restart_id, RESTART_SECONDS)
        await self._wait(lambda: self._instances(asked) - before, self.answer_seconds)
        await self._over(tried.restart_id)
        nobody_in_particular = {"if_boot_id": None, "if_app_instance": None}  # so that only the journal stops it
        tried.restart_replayed_at = await self._give_again(tried.restart_id, **nobody_in_particular)
        if tried.restart_replayed_at is not None:
            await self._settled(tried.restart_id, since=tried.restart_replayed_at)
            await self._wait(lambda: self._ran_since(tried.restart_id, tried.restart_replayed_at), 1.0)

    async def _reboot(self) -> None:
        self.tell("rebooting it by the service")
        tried = self.tried
        tried.reboot_id = await self._issue("reboot_host")
        if not tried.reboot_id:
            return
        await self._settled(tried.reboot_id, REBOOT_SECONDS)
        tried.reboot_settled_at = time.monotonic()
        settled = tried.reboot_settled_at
        await self._wait(lambda: self.record.of("heartbeat", since=settled - 1), self.answer_seconds)
        again = await self._give_again(tried.reboot_id)
        if again is not None:
            tried.reboot_settled_at = again
            await self._settled(tried.reboot_id, since=again)

    async def _issue(self, action: str) -> str:
        """Let the service send a command, whatever came before. Returns its id; empty, with `why_not`, if refused."""
        if self.service is None:
            command_id, command = self._command(action)
            await self._give(command)
            return command_id
        body = {"action": action, "reason": REASON, "override_lockout": True}
        status, answer = await self.service.post(f"/api/clients/{self.tap.uuid}/commands", body)
        if status != 202:
            self.tried.why_not[action] = f"the service did not send it: {answer.get('detail') or answer.get('code')}"
            return ""
        return str(answer["id"])

    async def _give_again(self, command_id: str, **changed: Any) -> float | None:
        """Deliver the service's command once more. None when it was never delivered."""
        sent = next((one.payload for one in self.record.heard if command_id.encode() in one.payload), None)
        return None if sent is None else await self._give(json.dumps({**json.loads(sent), **changed}).encode())

    # --- the log level, the network ---

    async def _raise_level(self) -> None:
        tried, path = self.tried, f"/api/clients/{self.tap.uuid}/log-level"
        tried.level_at = time.monotonic()
        if self.service is None:
            await self._give(json.dumps({"level": LEVEL, "until": 60}).encode(), name="log_level")
            tried.level = LEVEL
            await self._give_retained_level()
            return
        status, answer = await self.service.post(path, {"level": LEVEL, "minutes": 1})
        if status != 202:
            tried.why_not["log_level"] = f"the service did not send it: {answer.get('detail')}"
            tried.level_at = None
        else:
            tried.level = LEVEL
            await self._wait(lambda: self._level_was_heard(tried.level_at), self.answer_seconds)
        await self._give_retained_level()

    async def _give_retained_level(self) -> None:
        self.tried.retained_level = RETAINED_LEVEL
        await self._give(json.dumps({"level": RETAINED_LEVEL, "until": 60}).encode(), name="log_level", retain=True)

    async def _beat_in_time(self) -> None:
        """Wait for a heartbeat that only the interval caused."""
        beats = self.record.of("heartbeat")
        interval = beats[-1].body.get("interval_seconds") if beats else 30
        seconds = float(interval) if isinstance(interval, int | float) else 30.0

        def regular() -> bool:
            told = self.record.of("heartbeat")
            return any(b.connection == a.connection and b.at - a.at > seconds / 2 for a, b in pairwise(told))

        await self._wait(regular, seconds * 1.5 + 2)

    async def _lose_network(self) -> None:
        tried = self.tried
        tried.level_seen_from = time.monotonic()
        tried.refused = 1
        tried.cut_at = await self._cut(refuse=tried.refused)
        if not self.tap.connected:
            raise Gone
        waiting = uncommitted(self.record, tried.cut_at)
        wanted = {(one.name, one.payload) for one in waiting}

        def again() -> bool:
            return wanted <= {(one.name, one.payload) for one in self.record.of("logs", since=tried.cut_at or 0.0)}

        await self._wait(again, self.answer_seconds + len(waiting) / RESEND_PER_SECOND)

    async def _shorten_level(self) -> None:
        """Order the level again for one second; the next connection brings a report after that second."""
        if self.tried.level_at is None:
            return
        order = json.dumps({"level": LEVEL, "until": SHORT_LEVEL_SECONDS}).encode()
        self.tried.level_short_at = await self._give(order, name="log_level")
        await asyncio.sleep(SHORT_LEVEL_SECONDS + 0.2)
        self.tried.level_over_from = await self._cut()

    async def _cut(self, refuse: int = 0) -> float:
        """Cut the network and wait until the client is back and sends health. Returns the time of the cut."""
        before = len(self.record.connections) - 1
        at = self.tap.cut(refuse)
        if await self._online(after=before, seconds=self.coming_back_seconds):
            await self._wait(lambda: self.record.of("health", since=at), self.answer_seconds)
        return at

    # --- waiting ---

    async def _give(
        self, payload: bytes, *, name: str = "commands", retain: bool = False, expiry_seconds: int = 60
    ) -> float:
        """Deliver a message once the client is connected. Returns the time. Raises Gone."""
        if not await self._wait(lambda: self.tap.connected and self._is_up(), self.coming_back_seconds):
            raise Gone
        return self.tap.give(name, payload, retain=retain, expiry_seconds=expiry_seconds)

    def _is_up(self) -> bool:
        last = self.record.last
        return last is not None and self.record.online_at(last.number) is not None

    async def _online(self, after: int, seconds: float) -> float | None:
        def look() -> float | None:
            last = self.record.last
            return self.record.online_at(last.number) if last is not None and last.number > after else None

        return await self.record.until(look, seconds)

    async def _wait(self, look: Callable[[], Any], seconds: float) -> Any:
        return await self.record.until(look, seconds)

    async def _answered(self, command_id: str, since: float) -> None:
        await self._wait(lambda: self.record.answered_at(command_id, since), self.answer_seconds)

    async def _settled(self, command_id: str, seconds: float | None = None, since: float = 0.0) -> None:
        def look() -> bool:
            return any(one.get("state") in OUTCOMES for one in self.record.acks(command_id, since=since))

        await self._wait(look, seconds or self.answer_seconds)

    def _instances(self, since: float) -> set[object]:
        """The app_instances in heartbeats since `since`."""
        return {one.body.get("app_instance") for one in self.record.of("heartbeat", since=since)}

    def _ran_since(self, command_id: str, since: float | None) -> bool:
        return any(one.get("state") not in OUTCOMES for one in self.record.acks(command_id, since=since or 0.0))

    def _lost_since(self, since: float | None) -> bool:
        return any(one.ended_at is not None and one.ended_at >= (since or 0.0) for one in self.record.connections)

    def _level_was_heard(self, since: float | None) -> bool:
        return any(one.name == "log_level" and not one.ours and one.at >= (since or 0.0) for one in self.record.heard)
