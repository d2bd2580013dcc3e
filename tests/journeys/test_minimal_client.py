"""The client in one file fails exactly the rules that docs/protocol.md lists for it."""

import asyncio
import json
import re
import sys
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import MQTTMessage

from deploy.parts.layout import REPOSITORY
from displays import minimal
from displays.conformance.checklist import failed, judge, printed
from displays.conformance.exercise import Exercise
from displays.conformance.service import Service
from displays.conformance.tap import Tap
from tests.stack import Stack, enrolled

PLAYER = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_the_client_in_one_file_breaks_only_the_rows_that_the_contract_names(stack: Stack, tmp_path: Path) -> None:
    broken = broken_rows(stack, tmp_path, answer_seconds=10.0)
    if broken != named_in_the_contract():  # a slow machine may spoil a run
        broken = broken_rows(stack, tmp_path, answer_seconds=60.0)

    assert broken == named_in_the_contract()


def test_it_refuses_what_its_disk_does_not_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    login, said = tmp_path / "login.json", list[tuple[str, Any]]()
    login.write_text(json.dumps({"uuid": "u", "topic_root": "signage"}), encoding="utf-8")
    client = minimal.Client(login, PLAYER)
    started = client.process

    def say(topic: str, **body: Any) -> dict[str, Any]:
        said.append((topic, body))
        return {}

    monkeypatch.setattr(client, "say", say)
    command = MQTTMessage(topic=b"signage/u/commands")
    command.payload = json.dumps({"id": "c1", "action": "restart_app"}).encode()
    client.losses, client.told, client.beat_at = 0, "", 0.0
    try:
        client.file = tmp_path / "gone" / "login.state"  # a folder that is not there: nothing can be written
        client.heard(None, None, command)
        client.heard(None, None, command)
        client.report()
    finally:
        started.kill()
        started.wait()

    answers = [(body["id"], body["state"], body["reason"]) for topic, body in said if topic == "acks"]
    assert answers == [("c1", "rejected", "no_journal")] * 2
    assert [body["disk_writable"] for topic, body in said if topic == "health"] == [False]
    assert client.process is started


def broken_rows(stack: Stack, folder: Path, answer_seconds: float) -> list[str]:
    """Exercise and judge a new display with the client."""
    name, login = str(uuid.uuid4()), folder / "login.json"
    broker = ("127.0.0.1", int(stack.ports["MQTT_DISPLAYS_PORT"]))
    given = asdict(enrolled(stack.api(), name))

    async def checked() -> list[str]:
        async with Tap(name, "signage", broker) as tap:
            mqtt = {"host": "127.0.0.1", "port": tap.port, "tls": False, "ca_pem": None}
            login.write_text(json.dumps({**given, "mqtt": mqtt}), encoding="utf-8")
            client = await asyncio.create_subprocess_exec(sys.executable, minimal.__file__, login, *PLAYER)
            try:
                service = Service(stack.url, stack.api().token)
                lines = judge(
                    tap.record, await Exercise(tap, service, commands=True, answer_seconds=answer_seconds).run()
                )
            finally:
                client.terminate()
                await client.wait()
        print("\n".join(printed(lines)))
        return failed(lines)

    return asyncio.run(checked())


def named_in_the_contract() -> list[str]:
    """The rules of the check that docs/protocol.md lists as failed by the short client."""
    text = (REPOSITORY / "docs" / "protocol.md").read_text(encoding="utf-8")
    return re.findall(r"`(\w+)` fails", text)
