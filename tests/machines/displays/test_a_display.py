"""A bare Debian becomes a display by one line, and everything that it then does: on systemd, journald and D-Bus.

The tests stand in the order of a display's life, on one machine; each leaves it well, and each can be run alone.
"""

import asyncio
import json
import random
import uuid
from pathlib import Path

import pytest

from displays.agent.journald_rules import MISSING
from displays.conformance.checklist import failed, printed
from extensions.screenshots.rules import read_jpeg
from tests.diary import progress
from tests.displays.pages import STILL, chromium
from tests.lab.campaigns.display_kills import Kills
from tests.lab.campaigns.display_lab import Lab, prepare, undo
from tests.lab.campaigns.display_network import OwnNetwork
from tests.lab.campaigns.whole import Whole
from tests.machines.displays.conftest import Installed, install
from tests.machines.displays.handling import (
    AGENT,
    SMALL_DISK,
    SPOILS,
    STATE,
    configure,
    connect_to,
    exercised,
    say,
    with_drop_in,
    without_drop_in,
    without_drop_in_on_the_disk,
)
from tests.stack import Stack, eventually

HELPER = "/run/signage-display-helper.sock"
HELPER_UNIT = "signage-display-helper"
ASK = (
    "import socket, sys; door = socket.socket(socket.AF_UNIX); door.connect(sys.argv[1]);"
    " door.sendall(sys.argv[2].encode() + b'\\n'); print(door.makefile().readline().strip())"
)

TELEVISION = """#!/bin/sh
# A television as cec-ctl shows it: its state is in a file.
case "$*" in
*--standby) echo standby >/run/television ;;
*--image-view-on) echo on >/run/television ;;
*) printf '\\tpwr-state: %s (0x00)\\n' "$(cat /run/television 2>/dev/null || echo on)" ;;
esac
"""


def test_the_one_line_makes_a_bare_debian_a_display_that_is_heard(display: Installed) -> None:
    client = eventually(display.runs, "the display")

    assert client["status"] == "running"
    assert display.said.startswith("install: apt-get installs it; if it needs Debian's servers and cannot reach them, ")
    assert "; heard " in display.said
    assert f"display   {display.uuid}" in display.status()
    assert "player    kiosk.service: it runs" in display.status()


def test_the_line_once_more_follows_no_link_of_the_agents_user(display: Installed) -> None:
    there, login = display.machine, display.machine.run("cat", f"{STATE}/credentials.json")
    for name in (".probe", "credentials.json.new"):
        there.run("ln", "-s", "/etc/ld.so.preload", f"{STATE}/{name}", user="signage-display")

    install(there, display.api, display.uuid)

    assert there.try_to("ls", "/etc/ld.so.preload").returncode != 0
    assert there.run("cat", f"{STATE}/credentials.json") != login
    assert there.run("stat", "--format=%U %a", f"{STATE}/credentials.json").split() == ["signage-display", "600"]
    eventually(display.runs, "the display")


def test_restart_app_is_proven_by_another_start_of_the_player(display: Installed) -> None:
    before = display.machine.shown("kiosk.service", "MainPID")

    done = display.command("restart_app")

    assert done["confirmed_by"] is not None
    assert display.machine.shown("kiosk.service", "MainPID") != before


def test_a_television_is_switched_by_the_root_helper_and_says_so_itself(display: Installed) -> None:
    there = display.machine
    there.run(
        "sh", "-c", 'printf "%s" "$1" >/usr/local/bin/cec-ctl && chmod 755 /usr/local/bin/cec-ctl', "sh", TELEVISION
    )
    assert "plan      it cannot be switched: no means is named" in display.status()
    configure(there, "player = kiosk.service\nscreen = cec\n")
    try:
        display.command("screen_off")
        dark = display.client()
        assert (dark["screen_health"], dark["screen_off_by"]) == ("off", "command")
        assert there.run("cat", "/run/television").strip() == "standby"
        assert "plan      off by an operator" in display.status()

        there.run("systemctl", "restart", AGENT)
        display.command("screen_on")
        eventually(lambda: display.client()["screen_off_by"] is None, "the end of the plan")
        assert there.run("cat", "/run/television").strip() == "on"
    finally:
        configure(there, "player = kiosk.service\n")
    eventually(lambda: not display.may("screen_off"), "the end of the means", 180)


def test_a_restart_that_the_agent_noted_and_did_not_ask_for_has_failed(display: Installed) -> None:
    there = display.machine
    eventually(display.names_its_player, "the start of the player")
    display.command("restart_app")
    there.run("systemctl", "stop", AGENT)
    player = there.shown("kiosk.service", "InvocationID")
    last = json.loads(there.run("tail", "-n", "1", f"{STATE}/journal.jsonl"))
    begun = json.dumps({**last, "id": str(uuid.uuid4()), "state": "running", "app_instance": player})

    there.run("sh", "-c", f'printf "%s\\n" "$1" >>{STATE}/journal.jsonl', "sh", begun)
    there.run("systemctl", "start", AGENT)

    eventually(lambda: "restart_app, failed (interrupted)" in display.status(), "the outcome")
    assert there.shown("kiosk.service", "InvocationID") == player


def test_each_line_of_the_player_is_stored_once_whenever_the_agent_is_killed(display: Installed) -> None:
    written = [f"line {number:03d} of the player" for number in range(120)]
    for first in range(0, len(written), 30):
        say(display.machine, written[first : first + 30])
        display.machine.kill(AGENT)
        eventually(lambda: display.machine.shown(AGENT, "ActiveState") == "active", "another agent")

    display.machine.run("systemctl", "stop", AGENT)
    say(display.machine, ["while it is off: the end of the player"])
    display.machine.run("systemctl", "start", AGENT)
    eventually(lambda: "while it is off: the end of the player" in display.logs(), "the last line", 120)

    written.append("while it is off: the end of the player")
    assert sorted(line for line in display.logs() if line.endswith("of the player")) == written


def test_kills_between_its_steps_do_nothing_twice_and_lose_no_line(display: Installed, stack: Stack) -> None:
    lab = Lab(display, Whole(stack), OwnNetwork("that of this machine"))
    prepare(lab)
    kills = Kills(lab, random.Random(1), progress)

    kills.run(8)
    written, lost, twice = lab.lines_lost_and_twice()

    undo(lab)
    assert lab.wrong == []
    assert (lost, twice) == (0, 0)
    assert written > 0
    assert kills.at_a_step > 0


def test_lines_that_journald_has_removed_are_told_and_those_after_them_come(display: Installed) -> None:
    there = display.machine
    there.run("systemctl", "stop", AGENT)
    say(there, [f"soon removed {number}" for number in range(20)])
    eventually(lambda: "soon removed 19" in there.run("journalctl", "--unit=kiosk", "--lines=1"), "the line")
    there.run("journalctl", "--rotate", "--vacuum-time=1ms", "--quiet")
    say(there, ["left over"])

    there.run("systemctl", "start", AGENT)

    eventually(lambda: "left over" in display.logs(), "the line after them", 120)
    eventually(lambda: MISSING in display.logs(), "the word about them", 120)
    assert not [line for line in display.logs() if line.startswith("soon removed")]


def test_a_temporary_log_level_brings_the_finer_lines(display: Installed) -> None:
    say(display.machine, ["<7>before it", "a line that is always sent"])
    eventually(lambda: "a line that is always sent" in display.logs(), "the line after it")
    display.api.post(f"/api/clients/{display.uuid}/log-level", {"level": "debug", "minutes": 5}, expected=202)

    def stored() -> bool:
        say(display.machine, ["<7>a fine line"])
        return "a fine line" in display.logs()

    eventually(stored, "the finer line")
    assert "before it" not in display.logs()


def test_the_service_gets_what_the_page_of_the_player_shows(display: Installed, tmp_path: Path) -> None:
    with chromium(tmp_path, STILL) as (_, port):
        configure(display.machine, f"player = kiosk.service\ndevtools_port = {port}\n")
        done = display.command("screenshot")

        [shown] = display.api.get(f"/api/clients/{display.uuid}/screenshots")["items"]
        picture = display.api.call("GET", f"/api/screenshots/{shown['id']}").content
        assert shown["command_id"] == done["id"]
        assert max(read_jpeg(picture).width, read_jpeg(picture).height) > 640
        eventually(lambda: ", screenshot" in display.status(), "the word that it can be done", 90)
    configure(display.machine, "player = kiosk.service\n")
    eventually(lambda: not display.may("screenshot"), "the word that there is no page", 90)


def test_a_player_that_dies_every_second_has_crashed_and_its_failure_is_told(display: Installed) -> None:
    dies = "[Service]\nExecStart=\nExecStart=/bin/false\nRestart=always\n"
    with_drop_in(display.machine, "kiosk.service", dies)
    display.machine.run("systemctl", "restart", "--no-block", "kiosk.service")

    eventually(lambda: display.client()["process_status"] == "crashed", "the crash", 120)
    assert "kiosk.service: it ends again and again" in display.status()
    assert failures(display) == {"kiosk.service"}
    without_drop_in(display.machine, "kiosk.service")
    display.machine.run("systemctl", "restart", "kiosk.service")
    eventually(display.runs, "the player", 120)


def test_a_unit_that_does_not_exist_is_named_and_cannot_be_restarted(display: Installed) -> None:
    refused = display.machine.try_to("signage-display", "player", "ghost.service")
    configure(display.machine, "player = ghost.service\n")

    assert refused.returncode == 1
    assert "There is no unit ghost.service" in refused.stderr
    eventually(lambda: "ghost.service: there is no such unit on this machine" in display.status(), "the word")
    assert "commands  reboot_host, shutdown_host" in display.status()
    trouble = "Trouble: ghost.service: there is no such unit on this machine."
    eventually(lambda: trouble in display.logs(), "the word on the page", 120)
    configure(display.machine, "player = kiosk.service\n")
    eventually(lambda: "kiosk.service: it runs" in display.status(), "the player")


def test_the_helper_restarts_only_the_player_and_answers_only_the_agent(display: Installed) -> None:
    there, player = display.machine, display.machine.shown("dbus.service", "MainPID")

    def ask(question: str, user: str) -> str:
        done = there.try_to("python3", "-c", ASK, HELPER, question, user=user)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    assert ask("restart kiosk.service", "nobody").startswith("PermissionError")
    there.run("chmod", "666", HELPER)
    assert ask("restart kiosk.service", "nobody") == "refused: user 65534 may not ask"
    there.run("chmod", "600", HELPER)
    word = "since the boot the root helper has refused a request: user 65534 may not ask"
    eventually(lambda: f"trouble   {word}" in display.status(), "the word", 120)
    eventually(lambda: any(line.startswith(f"Trouble: {word}") for line in display.logs()), "the word on the page", 120)
    assert ask(
        "restart dbus.service", "signage-display"
    ) == (  # after the log has the first refusal, which it tells once
        "refused: dbus.service is not the player's unit (kiosk.service)"
    )
    assert ask("halt", "signage-display") == "refused: there is no verb 'halt'"
    assert there.shown("dbus.service", "MainPID") == player


def test_a_helper_that_dies_again_and_again_carries_out_the_next_command(display: Installed) -> None:
    for _ in range(8):  # systemd's usual limit is five starts in ten seconds
        display.machine.run("python3", "-c", "import socket, sys; socket.socket(1).connect(sys.argv[1])", HELPER)
        display.machine.kill(f"{HELPER_UNIT}.service")

    display.command("restart_app")


def test_commands_are_withdrawn_while_nobody_listens_for_the_helper(display: Installed) -> None:
    there = display.machine
    there.run("systemctl", "stop", f"{HELPER_UNIT}.socket")

    word = "trouble   no command can be carried out: the helper cannot be reached: "
    eventually(lambda: word in display.status(), "the word", 240)
    assert "commands  none can be carried out" in display.status()
    eventually(lambda: not display.may("reboot_host"), "the word on the page")

    there.run("systemctl", "start", f"{HELPER_UNIT}.socket")
    eventually(lambda: display.may("reboot_host"), "the commands", 240)


def test_a_second_agent_on_the_machine_says_that_there_is_one(display: Installed) -> None:
    second = display.machine.try_to("signage-display", "run", user="signage-display")

    assert second.returncode == 2
    assert "another agent runs here already" in second.stderr
    assert display.runs()


def test_without_a_network_it_starts_and_says_so_and_comes_back_with_it(display: Installed) -> None:
    with_drop_in(display.machine, AGENT, "[Service]\nPrivateNetwork=yes\n")
    display.machine.run("systemctl", "restart", AGENT)

    eventually(lambda: "service   not connected to 127.0.0.1" in display.status(), "the word")
    assert display.machine.shown(AGENT, "ActiveState") == "active"
    without_drop_in(display.machine, AGENT)
    display.machine.run("systemctl", "restart", AGENT)
    eventually(lambda: "; heard " in display.status(), "the service")


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_disk_that_takes_nothing_refuses_commands_and_the_display_still_lives(display: Installed, spoil: str) -> None:
    there = display.machine
    there.run("systemctl", "stop", AGENT)
    there.run("sh", "-c", f"{SMALL_DISK} && {spoil}")
    there.run("systemctl", "start", AGENT)

    eventually(lambda: "no journal of commands can be kept" in display.status(), "the word")
    eventually(lambda: "; heard " in display.status(), "the service")
    assert "commands  none can be carried out" in display.status()
    there.run("systemctl", "stop", AGENT)
    there.run("umount", STATE)
    there.run("systemctl", "start", AGENT)
    eventually(lambda: "commands  restart_app, reboot_host, shutdown_host" in display.status(), "the commands")


def test_a_reboot_is_proven_by_another_boot(display: Installed) -> None:
    before = display.machine.boot_id()

    display.command("reboot_host")

    display.machine.wait_until_booted(after=before)
    eventually(display.runs, "the display", 120)
    assert "the last one, reboot_host, succeeded" in display.status()


def test_a_power_cut_between_command_and_outcome_repeats_nothing(display: Installed) -> None:
    slow = "[Service]\nExecStartPre=/bin/sh -c 'echo begun >>/root/starts; sleep 600'\nTimeoutStartSec=infinity\n"
    display.machine.run("sh", "-c", ": >/root/starts")
    with_drop_in(display.machine, "kiosk.service", slow)
    eventually(display.runs, "the display", 120)
    sent = display.send("restart_app")
    eventually(lambda: "begun" in display.machine.run("cat", "/root/starts"), "the restart")

    display.machine.cut_power()
    without_drop_in_on_the_disk(display.machine, "kiosk.service")
    display.machine.boot()

    ended = eventually(lambda: display.over(sent), "the end of the command", 180)
    assert ended["state"] == "succeeded", "another start of the player is its effect"
    assert display.machine.run("cat", "/root/starts").count("begun") == 1
    asked = display.machine.run(
        "journalctl", "--unit=signage-display-helper.service", "--boot", "--quiet", "--no-pager"
    )
    assert "restart kiosk.service" not in asked


def test_the_agent_keeps_every_rule_of_the_contract(display: Installed, stack: Stack) -> None:
    broker = int(stack.ports["MQTT_DISPLAYS_PORT"])

    lines = asyncio.run(exercised(display, broker, lambda port: port))

    connect_to(display.machine, broker)
    assert failed(lines) == [], "\n".join(printed(lines))
    eventually(display.runs, "the display", 120)


def test_removed_and_installed_again_it_goes_on_with_its_login(display: Installed) -> None:
    there, file = display.machine, "/tmp/signage-display.deb"
    there.run("curl", "-fsS", "-o", file, f"{display.api.url}/display/signage-display.deb")
    there.run("apt-get", "remove", "-y", "-q", "signage-display")
    assert there.shown(AGENT, "ActiveState") == "inactive"

    there.run("apt-get", "install", "-y", "-q", file)

    eventually(lambda: "; heard " in display.status(), "the service")
    assert there.shown(f"{HELPER_UNIT}.socket", "ActiveState") == "active"


def test_nothing_is_left_when_it_is_purged(display: Installed) -> None:
    display.machine.run("rm", "-r", f"/etc/systemd/system/{AGENT}.d")  # the tests' own
    display.machine.run("apt-get", "purge", "-y", "-q", "signage-display")

    left = display.machine.run("sh", "-c", "find / -xdev -path /var/log -prune -o -name '*signage*' -print")
    assert left.split() == []
    assert display.machine.try_to("id", "signage-display").returncode != 0
    assert display.machine.shown(AGENT, "LoadState") == "not-found"


def failures(display: Installed) -> set[str]:
    """The units whose failure the service has on its list."""
    page = display.api.get("/api/clients/service_failed")
    return {one["service_failed_unit"] for one in page["items"] if one["uuid"] == display.uuid}
