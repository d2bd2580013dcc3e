"""The check for authors of clients: the reference passes every row, and each spoiled one breaks just its own.

All of them run beside each other on one stack, each through a tap of its own.
"""

import asyncio
import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import MQTTMessage

from deploy.local.conformance import __main__ as command
from deploy.local.conformance.checklist import RULES, Line, failed, judge, printed
from deploy.local.conformance.exercise import Api as Service
from deploy.local.conformance.exercise import Exercise, NeverCame
from deploy.local.conformance.record import Record, Said
from deploy.local.conformance.tap import Tap
from deploy.local.conformance.verdict import Outcome, Tried
from deploy.local.demo_fleet.contract import BadMessage, Command, Kind, LogLevelOrder
from deploy.local.demo_fleet.display import Answer, Behaviour, Display
from deploy.local.demo_fleet.simulated import LoopThread, SimulatedDisplay
from deploy.local.demo_fleet.state import TERMINAL
from deploy.local.layout import REPOSITORY
from deploy.local.probes import free_port
from tests.stack import Api, Stack, enrol

LIVELY = Behaviour(interval_seconds=5, health_every=1)


class SameSession(Display):
    """Its session word is the same in every connection."""

    async def power_on(self) -> None:
        await super().power_on()
        self._link._presence = lambda state, reason: {  # type: ignore[method-assign]
            "state": state,
            "session": "0123456789abcdef",
            "reason": reason,
        }


class CleanStart(Display):
    """Each connection begins a new session."""

    async def power_on(self) -> None:
        await super().power_on()
        self._link._client._clean_start = True


class OldHeartbeats(Display):
    """Its heartbeats wait in the broker for ever."""

    async def power_on(self) -> None:
        await super().power_on()
        publish = self._link.publish

        def forever(kind: Kind, body: dict[str, Any], level: str = "") -> Answer:
            return publish(replace(kind, expiry_seconds=None) if kind.name == "heartbeat" else kind, body, level)

        self._link.publish = forever  # type: ignore[method-assign]


class RunsAgain(Display):
    """It forgets a command once it is over."""

    def _on_command(self, command: Command, expiry_seconds: int | None) -> None:
        known = self.state.journal.get(command.id)
        if known is not None and known.state in TERMINAL:
            del self.state.journal[command.id]
        super()._on_command(command, expiry_seconds)


class ForgetsLogs(Display):
    """What it has sent it does not send again."""

    async def power_on(self) -> None:
        await super().power_on()
        self._logs.start_again = lambda: None  # type: ignore[method-assign]


class GapsInLogs(Display):
    """Every log takes two numbers."""

    def log(self, level: str, message: str, logger: str = "player", **context: Any) -> bool:
        self.state.log(message, logger, context, self.now())
        return super().log(level, message, logger, **context)


class NoPreconditions(Display):
    """It does not care who was meant."""

    def _on_command(self, command: Command, expiry_seconds: int | None) -> None:
        super()._on_command(replace(command, if_boot_id=None, if_app_instance=None), expiry_seconds)


class ObeysRetained(Display):
    """A retained command is as good as any."""

    async def power_on(self) -> None:
        await super().power_on()
        listens = self._link._on_message

        def as_if_live(client: Any, data: Any, message: MQTTMessage) -> None:
            message.retain = message.retain and not message.topic.endswith("/commands")
            listens(client, data, message)

        self._link._client.on_message = as_if_live


class DiesOfGarbage(Display):
    """What it cannot read costs it its connection."""

    def on_message(self, name: str, payload: bytes, expiry_seconds: int | None) -> None:
        try:
            super().on_message(name, payload, expiry_seconds)
        except BadMessage:
            self.drop_connection()


class StaysLoud(Display):
    """A log level that was ordered stays."""

    async def power_on(self) -> None:
        await super().power_on()
        ordered = self.state.on_log_level
        self.state.on_log_level = lambda order, now: ordered(  # type: ignore[method-assign]
            LogLevelOrder(order.level, 86_400), now
        )


class ForgetsAcks(Display):
    """Its health says nothing of what it answered."""

    def health(self, **vitals: Any) -> Answer:
        return super().health(recent_acks=[], **vitals)


class TakesItsTime(Display):
    """It looks at a command when its time is over, and does not notice."""

    def _on_command(self, command: Command, expiry_seconds: int | None) -> None:
        if expiry_seconds == 1:
            asyncio.get_running_loop().call_later(1.8, super()._on_command, command, None)
        else:
            super()._on_command(command, expiry_seconds)


SPOILED: dict[type[Display], str] = {
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
}


@dataclass(frozen=True)
class Bench:
    """Where the displays of this test live and whom they speak with."""

    api: Api
    broker: tuple[str, int]
    folder: Path
    thread: LoopThread

    async def checked(self, kind: type[Display], *, reboot: bool) -> list[Line]:
        """One display of that kind, exercised and judged."""
        name = str(uuid.uuid4())
        enrolled = await asyncio.to_thread(enrol, self.api, name, self.folder / name)
        login = enrolled.display.credentials
        await asyncio.to_thread(enrolled.close)
        async with Tap(name, "signage", self.broker) as tap:
            here = login.at(f"mqtt://127.0.0.1:{tap.port}")
            display = SimulatedDisplay(here, self.folder / name, LIVELY, self.thread)
            display.display = self.thread.call(lambda: kind(here, self.folder / name, LIVELY))
            await asyncio.to_thread(display.connect)
            try:
                for number in range(3):
                    display.log("warning", f"line {number}")
                display.service_failed("player.service")
                service = Service(self.api.url, self.api.token)
                exercise = Exercise(tap, service, commands=True, reboot=reboot, answer_seconds=6.0)
                return judge(tap.record, await exercise.run())
            finally:
                await asyncio.to_thread(display.close)


@pytest.fixture
def bench(stack: Stack, tmp_path: Path) -> "Any":
    thread = LoopThread()
    yield Bench(stack.api(), ("127.0.0.1", int(stack.ports["MQTT_DISPLAYS_PORT"])), tmp_path, thread)
    thread.close()


def test_the_reference_passes_every_row_and_each_spoiled_client_breaks_just_its_own(bench: Bench) -> None:
    kinds: list[type[Display]] = [Display, *SPOILED]

    async def all_of_them() -> list[list[Line]]:
        return await asyncio.gather(*(bench.checked(kind, reboot=kind is Display) for kind in kinds))

    reference, *spoiled = asyncio.run(all_of_them())

    assert {line.verdict.outcome for line in reference} == {Outcome.PASS}, "\n".join(printed(reference))
    for (kind, row), lines in zip(SPOILED.items(), spoiled, strict=True):
        assert failed(lines) == [row], kind.__name__ + "\n" + "\n".join(printed(lines))


def test_without_leave_it_sends_nothing_that_a_client_could_carry_out(bench: Bench, capsys: Any) -> None:
    exercise = Exercise(Tap(str(uuid.uuid4()), "signage", bench.broker), Service(bench.api.url, bench.api.token))

    given = give_everything(exercise)

    assert given, "nothing was given at all"
    actions = {json.loads(one).get("action") for one in given if one.startswith(b'{"id": "')}
    assert actions == {"conformance_probe"}


def give_everything(exercise: Exercise) -> list[bytes]:
    """What the check puts before a client that is always there and never answers."""
    given: list[bytes] = []

    async def give(payload: bytes, **_: Any) -> float:
        given.append(payload)
        return 1.0

    async def at_once(_look: Callable[[], Any], _seconds: float) -> None:
        return None

    exercise._give = give  # type: ignore[method-assign]
    exercise._wait = at_once  # type: ignore[method-assign,assignment]
    asyncio.run(exercise._probe())
    return given


def test_a_client_that_never_comes_is_no_pass(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--mqtt-url", f"mqtt://127.0.0.1:{bench.broker[1]}", "--api-url", bench.api.url, "--token", "x"]

    code = command.main(["--uuid", str(uuid.uuid4()), "--listen", str(free_port()), "--patience", "0.1", *where])

    assert code == 2
    assert "did not connect" in capsys.readouterr().err


def test_every_row_quotes_the_contract() -> None:
    document = " ".join((REPOSITORY / "docs" / "protocol.md").read_text(encoding="utf-8").split())

    missing = [rule.name for rule in RULES if " ".join(rule.sentence.split()) not in document]

    assert missing == []
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(re.fullmatch(r"[a-z_]+", rule.name) for rule in RULES)


def test_a_heartbeat_that_comes_too_late_for_its_own_interval_is_named() -> None:
    record, body = Record(), {"process_status": "running", "interval_seconds": 5}
    for second in (0.0, 5.0, 14.0):
        payload = json.dumps({**body, "seq": second}).encode()
        record.said.append(Said(second, 0, "t", "heartbeat", payload, 1, retain=False, expiry_seconds=30))

    verdict = next(rule for rule in RULES if rule.name == "heartbeat_interval").judge(record, Tried())

    assert verdict.outcome is Outcome.FAIL
    assert "9.0 s" in verdict.detail


def test_who_never_connected_is_told_so() -> None:
    async def nobody() -> None:
        async with Tap(str(uuid.uuid4()), "signage", ("127.0.0.1", free_port())) as tap:
            await Exercise(tap, Service("http://127.0.0.1:9", "x"), arrival_seconds=0.05).run()

    with pytest.raises(NeverCame):
        asyncio.run(nobody())
