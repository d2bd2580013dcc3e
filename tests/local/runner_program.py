"""A whole runner for tests: `python -m tests.local.runner_program FOLDER WAVES_AS_JSON`.

Waves are lists of {name, program, ...}: a program is Python text that runs with FOLDER as its argument and
is ready when it has made the file `<name>.ready`. The status goes to FOLDER/status.json.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from deploy.local.console import Console
from deploy.local.processes import Runner, StartFailed
from deploy.parts import guardian
from deploy.parts.layout import write_file
from deploy.parts.service import Service


def service(folder: Path, given: dict[str, Any]) -> Service:
    name = given["name"]
    return Service(
        name,
        (sys.executable, "-c", given["program"], str(folder)),
        (folder / f"{name}.ready").exists,
        stop_seconds=given.get("stop_seconds", 60.0),
        ready_seconds=given.get("ready_seconds", 60.0),
        pid_file=folder / f"{name}.pid",
    )


async def serve(folder: Path, waves: list[list[dict[str, Any]]]) -> int:
    console = Console()
    runner = Runner(console, lambda lives: write_file(folder / "status.json", json.dumps(lives)))
    for number in guardian.FORWARDED:
        asyncio.get_running_loop().add_signal_handler(number, runner.stopping.set)
    code = 0
    try:
        for wave in waves:
            await runner.start(*(service(folder, given) for given in wave))
        write_file(folder / "all.ready", str(os.getpid()))  # in one step: a reader never sees half of the file
        await runner.stopping.wait()
    except StartFailed as error:
        console.say(str(error))
        code = 1
    await runner.stop()
    console.close()
    return code


if __name__ == "__main__":
    place = Path(sys.argv[1])
    described = json.loads(sys.argv[2])
    raise SystemExit(guardian.guard(lambda: asyncio.run(serve(place, described)), grace_seconds=3))
