"""The local stack's command: `python -m deploy.local.up [run | stop | status | reset]`, as make calls it.

Exit codes: 0 done, 1 failed or already running, 2 something is missing, 3 (status) not running.
"""

import argparse
import asyncio
import json
import os
import shlex
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from deploy.local import postgres, prerequisites
from deploy.local.console import Console
from deploy.local.lock import Lock
from deploy.local.postgres import PostgresUnusable
from deploy.local.processes import Runner, StartFailed
from deploy.local.stack import Stack
from deploy.parts import guardian
from deploy.parts.broker import BrokerUnusable
from deploy.parts.broker_launch import CRASHES, CRASHES_KEPT
from deploy.parts.gateway import GatewayUnusable
from deploy.parts.layout import (
    ADMIN,
    SCRIPTS_KEY,
    SIGN_IN,
    BadSetting,
    Layout,
    layout_from,
    read_stack_env,
    write_file,
)
from deploy.parts.probes import port_is_free
from shared.errors import ConfigurationError

Unusable = (BadSetting, BrokerUnusable, GatewayUnusable, PostgresUnusable, ConfigurationError, StartFailed, OSError)
STOP_SECONDS = 60.0
DEMO_STANDS = "all displays are started"  # the demo fleet's own words


def run(arguments: argparse.Namespace) -> int:
    """Start the stack and run it until a stop signal."""
    if arguments.with_parent:
        guardian.die_with_parent(signal.SIGTERM, os.getppid())
    stack = Stack(os.environ)
    needs = prerequisites.missing("run")
    if needs:
        print(prerequisites.how_to_install(needs), file=sys.stderr)
        return 2
    stack.layout.prepare()
    lock = Lock(stack.layout)
    if not lock.take() and not _take_from_one_that_stops(lock, stack.dashboard_url):
        return 1
    taken = [f"{name}={port}" for name, port in stack.used_ports().items() if not port_is_free(port)]
    if taken:
        print(f"Other programs use the ports of {', '.join(taken)}.", file=sys.stderr)
        print(f"Choose others, for example: make run {taken[0].split('=')[0]}=...", file=sys.stderr)
        return 1
    code = guardian.guard(lambda: asyncio.run(_serve(stack)))
    if code > 128:
        print("The runner was killed. Everything that it had started has ended too.", file=sys.stderr)
    return code


def _take_from_one_that_stops(lock: Lock, dashboard_url: str) -> bool:
    """Wait for the lock of a runner that is stopping, because its guardian was killed. False when a stack runs."""
    holder = lock.holder()
    runs = holder is not None and Path(f"/proc/{holder}").exists()
    if not runs and lock.take_within(STOP_SECONDS):
        return True
    print(f"Signage Fleet is running already (process {holder}): {dashboard_url}/", file=sys.stderr)
    print("`make status` says more, `make stop` stops it.", file=sys.stderr)
    return False


async def _serve(stack: Stack) -> int:
    """Prepare, start in waves, print the addresses, wait, and stop in reverse order. Returns the exit code."""
    console = Console()
    status = stack.layout.run / "status.json"
    runner = Runner(console, lambda lives: write_file(status, json.dumps(lives)))
    _obey_signals(runner, console)
    began = time.monotonic()
    code = 0
    try:
        await _start(stack, runner, console)
        _announce(stack, console, time.monotonic() - began)
        await runner.stopping.wait()
    except Unusable as error:
        if not runner.stopping.is_set():
            console.say(f"Signage Fleet could not start: {error}")
            code = 1
    except Exception:  # noqa: BLE001 - every error is printed, and everything is stopped
        console.say(traceback.format_exc())
        code = 1
    console.say("Stopping.")
    await runner.stop()
    with suppress(OSError):
        status.unlink()
    console.say("Stopped.")
    console.close()
    return code


def _obey_signals(runner: Runner, console: Console) -> None:
    """Let the first signal stop the stack in order, and the second one kill it."""

    def on_signal() -> None:
        if runner.stopping.is_set():
            console.say("Killing what is left.")
            runner.kill()
        runner.stopping.set()

    for number in guardian.FORWARDED:
        asyncio.get_running_loop().add_signal_handler(number, on_signal)


async def _start(stack: Stack, runner: Runner, console: Console) -> None:
    console.say(f"Starting Signage Fleet; its state is in {stack.layout.root}")
    stack.layout.stack_env.unlink(missing_ok=True)  # it may have other ports
    if stack.prepare():
        console.say("  ✓ made a new database")
    await runner.start(*stack.foundation())
    if stack.cluster is not None:
        await asyncio.to_thread(postgres.ensure_database, stack.cluster, stack.database_password)
    for name, *command in (("migrations", "alembic", "upgrade", "head"), ("first-admin", "deploy.parts.first_admin")):
        began = time.monotonic()
        if await runner.run_once(name, [sys.executable, "-m", *command], stack.environment(**stack.owner_login())) != 0:
            raise StartFailed(f"{name} failed; the lines above say why.")
        console.say(f"  ✓ {name:<17} {time.monotonic() - began:5.1f} s")
    for wave in (stack.middle(), stack.front()):
        await runner.start(*wave)
    _write_stack_env(stack)
    if stack.is_demo:
        past = [sys.executable, "-m", "deploy.local.demo_past"]
        if await runner.run_once("demo-past", past, stack.environment(**stack.owner_login())) != 0:
            console.say("  ! the demo's displays have no past; the lines above say why")
    await runner.start(*stack.demo())


def _write_stack_env(stack: Stack) -> None:
    """Write `stack.env` for scripts and the demo fleet, once the stack answers. It stays when the stack stops."""
    layout = stack.layout
    values = {
        "SIGNAGE_API_URL": stack.dashboard_url,
        "SIGNAGE_ADMIN_TOKEN": layout.secret(SCRIPTS_KEY),
        "SIGNAGE_SIGN_IN_USER": ADMIN,
        "SIGNAGE_SIGN_IN_PASSWORD": layout.secret(SIGN_IN),
        "SIGNAGE_MQTT_URL": stack.displays_url,
        "DATABASE_URL": stack.database_url,
        **stack.addresses(),
    }
    write_file(layout.stack_env, "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items()))


def _announce(stack: Stack, console: Console, seconds: float) -> None:
    console.say(f"Signage Fleet is running after {seconds:.1f} s.")
    console.say(f"  for scripts    . {stack.layout.stack_env}")
    console.say("  to stop        Ctrl-C, or make stop")
    if stack.is_demo:
        switch = "on" if stack.config["CRASH_RECOVERY_ENABLED"] else "off"
        console.say(f"  demo           simulated displays; automatic recovery is {switch} (CRASH_RECOVERY_ENABLED)")
    why_not = stack.why_no_conversions()
    if why_not is not None:
        console.say(f"  ! presentations are not converted on this machine: {why_not}")
    _say_sign_in(stack, console)
    console.tell_after(DEMO_STANDS, lambda: _say_sign_in(stack, console))


def _say_sign_in(stack: Stack, console: Console) -> None:
    """Say the two facts that a newcomer needs. The last lines of a start are the ones that stay in sight."""
    console.say(f"  dashboard      {stack.dashboard_url}/")
    console.say(f"  first sign-in  {ADMIN} / {stack.layout.secret(SIGN_IN)}")


def stop(_arguments: argparse.Namespace) -> int:
    """Stop the running stack and wait until it has ended."""
    layout = layout_from(os.environ)
    lock = Lock(layout)
    holder = lock.holder()
    if holder is None:
        print("Signage Fleet is not running.")
        return 0
    guardian.send(holder, signal.SIGTERM)
    if not lock.take_within(STOP_SECONDS):
        print(f"Process {holder} has not stopped within {STOP_SECONDS:.0f} s.", file=sys.stderr)
        return 1
    lock.release()
    print("Signage Fleet has stopped.")
    return 0


def status(_arguments: argparse.Namespace) -> int:
    """Print the state of each service. Returns 0 when all run, 1 when a service does not, 3 when no stack runs."""
    layout = layout_from(os.environ)
    holder = Lock(layout).holder()
    if holder is None:
        print("Signage Fleet is not running.")
        return 3
    lives: list[dict[str, Any]] = []
    with suppress(FileNotFoundError):
        lives = json.loads((layout.run / "status.json").read_text(encoding="utf-8"))
    print(f"Signage Fleet runs as process {holder}; its state is in {layout.root}")
    for one in lives:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["since"]))
        restarts = f"restarted {one['restarts']}x" if one["restarts"] else ""
        print(
            f"  {one['name']:<16} {one['state']:<9} {one['pid'] or '':>8}  since {since}  {one['address']} {restarts}"
        )
    _say_crashes(layout.data / "mosquitto" / CRASHES)
    with suppress(FileNotFoundError):
        print(f"  dashboard        {read_stack_env(layout.stack_env)['SIGNAGE_API_URL']}/")
        print(f"  first sign-in    {ADMIN}; its password is the first line of {layout.secrets / SIGN_IN}")
    return 0 if lives and all(one["state"] == "ready" for one in lives) else 1


def _say_crashes(noted: Path) -> None:
    """Print how often the broker crashed, if it did."""
    moments: list[str] = []
    with suppress(OSError, UnicodeError):
        moments = noted.read_text(encoding="ascii").split()
    if moments:
        last = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(moments[-1])))
        times = f"{len(moments)}x" if len(moments) < CRASHES_KEPT else f"{CRASHES_KEPT}x or more"
        print(f"  ! the broker crashed {times}, last {last}: docs/alerts.md, SignageBrokerCrashed")


def reset(arguments: argparse.Namespace) -> int:
    """Stop the stack, then delete its files in the state directory."""
    layout = layout_from(os.environ)
    if not layout.root.exists():
        print(f"There is nothing in {layout.root}.")
        return 0
    layout.check_ours()
    if os.environ.get("FORCE", "0") in {"", "0"} and not _agrees(layout.root):
        print("Nothing was deleted. FORCE=1 deletes without asking.")
        return 1
    code = stop(arguments)
    if code == 0:
        _delete(layout)
        print(f"Deleted what was kept in {layout.root}.")
    return code


def _agrees(folder: Path) -> bool:
    if not sys.stdin.isatty():
        return False
    return input(f"Delete the database, media and secrets in {folder}? Type yes: ").strip() == "yes"


def _delete(layout: Layout) -> None:
    """Delete only the stack's own files: the folder may have others."""
    layout.stack_env.unlink(missing_ok=True)
    for folder in (layout.data, layout.media, layout.secrets, layout.demo, layout.run):
        if folder.exists():
            shutil.rmtree(folder)
    with suppress(OSError):
        layout.root.rmdir()


COMMANDS = {"run": run, "stop": stop, "status": status, "reset": reset}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. An error that a person can fix is printed in one line."""
    parser = argparse.ArgumentParser(prog="deploy.local.up", description=__doc__)
    parser.add_argument("command", choices=COMMANDS, nargs="?", default="run")
    parser.add_argument("--with-parent", action="store_true", help="stop when the caller (make) ends")
    given = parser.parse_args(arguments)
    try:
        return COMMANDS[given.command](given)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
