"""The agent on a kernel of its own, its units as they are shipped: boot id, reboot, power cut, no network, 1990."""

import json
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.diary import progress
from tests.lab.campaigns.whole import Whole
from tests.machines.displays.conftest import Seen
from tests.machines.displays.kernels import emulated
from tests.machines.displays.lines import stored_lines
from tests.stack import Stack, enrolled, eventually

JOURNAL = "/var/lib/signage-display/journal.jsonl"
CLOCK = "the clock is not synchronised and may be wrong"
MINUTES = 600.0  # an emulated machine boots slowly, the more so beside other suites


def test_a_reboot_and_a_power_cut_of_a_real_machine(stack: Stack, tmp_path: Path) -> None:
    api, name = stack.api(), str(uuid.uuid4())
    login = replace(enrolled(api, name), url=api.url)
    seen = Seen(api, name)
    with emulated(tmp_path, login, (int(stack.ports["GATEWAY_PORT"]), login.port)) as machine:
        machine.boot("-rtc", "base=1990-01-01")
        eventually(seen.runs, "the display", MINUTES)
        first = seen.client()["boot_id"]
        machine.begin_to_write()
        progress("it runs")
        eventually(lambda: f"Trouble: {CLOCK}." in seen.logs(), "the trouble", MINUTES)
        assert f"trouble   {CLOCK}" in machine.run("signage-display status")

        rebooted = seen.send("reboot_host")
        assert eventually(lambda: seen.over(rebooted), "the end of the reboot", MINUTES)["state"] == "succeeded"
        progress("it has rebooted")
        second = eventually(lambda: seen.client()["boot_id"] != first and seen.client()["boot_id"], "the boot", MINUTES)
        eventually(seen.runs, "the display", MINUTES)

        progress("it runs again")
        restarted = seen.send("restart_app")
        eventually(lambda: api.get(f"/api/commands/{restarted}")["running_at"], "the restart", MINUTES)
        machine.cut_power()
        on_the_disk = journal(machine.file(JOURNAL))
        assert [one["id"] for one in on_the_disk].count(restarted) >= 2, "received and running stood on the disk"
        machine.boot()
        machine.plug_network(into=False)
        progress("its power is back, and its network is not")
        eventually(machine.found_no_connection, "a boot without a network", MINUTES)
        assert seen.client()["boot_id"] == second, "it was heard without a network"
        machine.plug_network(into=True)
        progress("its network is back too")

        eventually(lambda: seen.client()["boot_id"] not in {first, second} and seen.runs(), "the display", MINUTES)
        eventually(lambda: seen.over(restarted), "the end of the restart", MINUTES)
        written, lost, twice = machine.lines_lost_and_twice(lambda: stored_lines(Whole(stack), name))
        machine.cut_power()
        runs = [one for one in journal(machine.file(JOURNAL)) if one["id"] == restarted]
        assert {one["boot_id"] for one in runs} == {second}, "it began in one boot and in no other"
        assert written > 0
        assert (lost, twice) == (0, 0)


def journal(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
