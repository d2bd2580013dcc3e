"""The client in one file fails exactly the rules that docs/protocol.md lists for it."""

import asyncio
import json
import re
import sys
import uuid
from dataclasses import asdict
from pathlib import Path

from deploy.displays import minimal
from deploy.displays.conformance.checklist import failed, judge, printed
from deploy.displays.conformance.exercise import Exercise
from deploy.displays.conformance.service import Service
from deploy.displays.conformance.tap import Tap
from deploy.parts.layout import REPOSITORY
from tests.stack import Stack, enrolled

PLAYER = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_the_client_in_one_file_breaks_only_the_rows_that_the_contract_names(stack: Stack, tmp_path: Path) -> None:
    broken = broken_rows(stack, tmp_path, answer_seconds=10.0)
    if broken != named_in_the_contract():  # a slow machine may spoil a run
        broken = broken_rows(stack, tmp_path, answer_seconds=60.0)

    assert broken == named_in_the_contract()


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
