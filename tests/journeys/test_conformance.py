"""The check for authors of clients: the reference client passes every rule, and each spoiled client fails its own rule.

All run side by side on one stack, each through its own tap. A slow machine may spoil a run: whoever is not judged as
expected is tried once more, with few beside, and has more time.
"""

import asyncio
import json
import os
import re
import sys
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port
from displays.conformance import __main__ as command
from displays.conformance.checklist import RULES, Line, failed, judge, printed
from displays.conformance.exercise import Exercise, NeverCame
from displays.conformance.record import Record, Said
from displays.conformance.service import Service
from displays.conformance.tap import Tap
from displays.conformance.verdict import Outcome, Tried
from displays.simulated.display import Behaviour, Display
from displays.simulated.simulated import LoopThread, SimulatedDisplay
from tests.diary import progress
from tests.journeys.spoiled_displays import SPOILED, ForgetsAcks, ForgetsLogs, StaysAway
from tests.stack import Api, Stack, enrol

LIVELY = Behaviour(interval_seconds=5, health_every=1)
MORE_TIME = 3.0  # times the usual patience
FEW = 4


@dataclass(frozen=True)
class Bench:
    """The stack and the folder of this test's displays."""

    api: Api
    broker: tuple[str, int]
    state: Path  # the stack's
    folder: Path
    thread: LoopThread

    async def living(self, kind: type[Display], name: str, port: int) -> SimulatedDisplay:
        """Enrol a display of this kind, connect it to this port, and let it send its first messages."""
        enrolled = await asyncio.to_thread(enrol, self.api, name, self.folder / name)
        login = replace(enrolled.display.credentials, url=self.api.url)  # a display with an address sends pictures
        here = login.at(f"mqtt://127.0.0.1:{port}")
        await asyncio.to_thread(enrolled.close)
        display = SimulatedDisplay(here, self.folder / name, LIVELY, self.thread)
        display.display = self.thread.call(lambda: kind(here, self.folder / name, LIVELY))
        await asyncio.to_thread(display.connect)
        await asyncio.to_thread(say_something, display)
        return display

    async def checked(
        self, kind: type[Display], *, commands: bool = False, reboot: bool = False, patience: float = 1.0
    ) -> tuple[Record, list[Line]]:
        """Exercise and judge one display of this kind."""
        name, seconds = str(uuid.uuid4()), patience * {ForgetsLogs: 6.0, Display: 60.0}.get(kind, 15.0)
        async with Tap(name, "signage", self.broker) as tap:
            display = await self.living(kind, name, tap.port)
            try:
                service = Service(self.api.url, self.api.token)
                exercise = Exercise(tap, service, commands=commands, reboot=reboot, answer_seconds=seconds)
                exercise.coming_back_seconds = patience * (2.0 if kind is StaysAway else 45.0)
                return tap.record, judge(tap.record, await exercise.run())
            finally:
                await asyncio.to_thread(display.close)
                progress(kind.__name__)

    async def by_command(self, kind: type[Display], *options: str, name: str = "") -> tuple[int | None, str]:
        """Run the command as an author of a client does. Returns its exit code and output."""
        name, port = name or str(uuid.uuid4()), free_port()
        arguments = ("-m", "displays.conformance", "--uuid", name, "--listen", str(port), *options)
        environment = {**os.environ, "LOCAL_STATE_DIR": str(self.state)}
        running = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, cwd=REPOSITORY, env=environment, stdout=asyncio.subprocess.PIPE
        )
        display = await self.living(kind, name, port)
        try:
            said, _ = await running.communicate()
            return running.returncode, said.decode()
        finally:
            await asyncio.to_thread(display.close)

    def alone(self, kind: type[Display], *, commands: bool = False, reboot: bool = False) -> tuple[Record, list[Line]]:
        """Exercise and judge one display, with more time and nothing beside."""
        return asyncio.run(self.checked(kind, commands=commands, reboot=reboot, patience=MORE_TIME))

    def few_at_a_time(self, kinds: Sequence[type[Display]]) -> dict[type[Display], list[Line]]:
        """Exercise and judge one display of each kind, with more time and few beside."""

        async def all_of_them() -> list[list[Line]]:
            turns = asyncio.Semaphore(FEW)

            async def one(kind: type[Display]) -> list[Line]:
                async with turns:
                    return (await self.checked(kind, commands=True, patience=MORE_TIME))[1]

            return await asyncio.gather(*map(one, kinds))

        return dict(zip(kinds, asyncio.run(all_of_them()), strict=True))


def say_something(display: SimulatedDisplay) -> None:
    """Send the messages that need an occasion. It waits for the broker, so it must not run on the tap's loop."""
    for number in range(3):
        display.log("warning", f"line {number}")
    display.service_failed("player.service")


@pytest.fixture
def bench(stack: Stack, tmp_path: Path) -> Iterator[Bench]:
    thread = LoopThread()
    yield Bench(stack.api(), ("127.0.0.1", int(stack.ports["MQTT_DISPLAYS_PORT"])), stack.state, tmp_path, thread)
    thread.close()


def test_the_reference_passes_every_row_and_each_spoiled_client_breaks_just_its_own(bench: Bench) -> None:
    async def all_of_them() -> Sequence[Any]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2 * len(SPOILED)))
        return await asyncio.gather(
            bench.checked(Display, commands=True, reboot=True),
            bench.checked(Display),
            bench.by_command(Display),
            bench.by_command(ForgetsAcks),
            *(bench.checked(kind, commands=True) for kind in SPOILED),
        )

    (_, reference), (left_alone, cautious), good, bad, *spoiled = asyncio.run(all_of_them())

    if not passes_every_row(reference):
        _, reference = bench.alone(Display, commands=True, reboot=True)
    assert passes_every_row(reference), "\n".join(printed(reference))
    if failed(cautious):
        left_alone, cautious = bench.alone(Display)
    assert failed(cautious) == [], "\n".join(printed(cautious))
    assert actions_in(left_alone) == {"conformance_probe"}, "without leave nothing that can be carried out is sent"
    judged = {kind: lines for kind, (_, lines) in zip(SPOILED, spoiled, strict=True)}
    judged |= bench.few_at_a_time([kind for kind, row in SPOILED.items() if failed(judged[kind]) != [row]])
    for kind, row in SPOILED.items():
        assert failed(judged[kind]) == [row], kind.__name__ + "\n" + "\n".join(printed(judged[kind]))
    for kind, told, expected in ((Display, good, (0, [])), (ForgetsAcks, bad, (1, ["recent_acks"]))):
        code, text = told if told_by_command(told) == expected else asyncio.run(bench.by_command(kind))
        assert told_by_command((code, text)) == expected, text


def passes_every_row(lines: Sequence[Line]) -> bool:
    return {line.verdict.outcome for line in lines} == {Outcome.PASS}


def told_by_command(told: tuple[int | None, str]) -> tuple[int | None, list[str]]:
    """The exit code, and the failed rows of the output."""
    return told[0], re.findall(r"^FAIL .*\[(\w+)\]$", told[1], re.MULTILINE)


def actions_in(record: Record) -> set[str]:
    """The actions of the commands that the client received."""
    commands = [one.payload for one in record.heard if one.name == "commands" and one.payload.startswith(b'{"id": "')]
    return {json.loads(payload)["action"] for payload in commands}


def test_a_second_check_right_after_the_first_sees_as_much(bench: Bench) -> None:
    """Each restart that the service sends locks restarts out for some minutes."""
    name = str(uuid.uuid4())

    async def two_checks() -> list[str]:
        return [(await bench.by_command(Display, "--commands", name=name))[1] for _ in range(2)]

    rows = [
        re.findall(r"^(.{9}) .*\[(new_instance|runs_once)\]$", said, re.MULTILINE) for said in asyncio.run(two_checks())
    ]
    assert rows == [[("pass     ", "new_instance"), ("pass     ", "runs_once")]] * 2


def test_a_check_whose_commands_the_service_refuses_does_not_end_with_0(bench: Bench) -> None:
    viewer = bench.api.post("/api/tokens", {"name": "reads only", "role": "viewer"}, expected=201)["token"]

    code, said = asyncio.run(bench.by_command(Display, "--commands", "--token", viewer))

    assert told_by_command((code, said)) == (3, []), said


def test_a_displays_own_login_is_enough_to_check_it_at_a_service_without_a_token(bench: Bench) -> None:
    name = str(uuid.uuid4())
    mqtt = {"host": bench.broker[0], "port": bench.broker[1], "tls": False, "ca_pem": None}
    answer = {"uuid": name, "username": name, "password": "x", "mqtt": mqtt, "topic_root": "signage"}
    login = bench.folder / "login.json"
    login.write_text(json.dumps(answer), encoding="utf-8")

    code, said = asyncio.run(bench.by_command(Display, "--login", str(login), "--commands", "--reboot", name=name))

    assert told_by_command((code, said)) == (0, []), said
    assert re.findall(r"^not seen .*\[(\w+)\]$", said, re.MULTILINE) == ["screenshot"]
    assert bench.api.get(f"/api/clients/{name}/commands")["items"] == [], "the service never heard of them"


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
