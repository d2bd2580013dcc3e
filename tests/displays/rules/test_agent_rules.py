"""The agent's decisions: the states of units, the ladder of a machine without a connection, the kernel's vitals."""

import asyncio
import os
import socket
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from displays.agent import vitals
from displays.agent.heal_rules import ALONE_SECONDS, Budget, Ladder, Step, next_step
from displays.agent.helper import Refused, command_for, serve_one
from displays.agent.machine import Machine
from displays.agent.settings import MACHINE, BadSetting, Places, Settings, load
from displays.agent.status import words
from displays.agent.unit_rules import Loop, UnitFacts, has_failed, in_words, process_status
from displays.agent.vitals import CpuTimes, cpu_percent
from displays.client.credentials import Credentials
from tests.deploy.certificates import Authority

DAY = "2026-03-01"
OWN = os.getuid()
FACTS = [  # a unit's facts, whether it loops, the player's state, whether it has failed, the words
    (UnitFacts("p"), False, "unknown", False, "systemd has not reported its state yet"),
    (UnitFacts("p", "not-found", "inactive"), False, "unknown", False, "there is no such unit on this machine"),
    (UnitFacts("p", "masked", "inactive"), False, "unknown", False, "systemd cannot load it (masked)"),
    (UnitFacts("p", "loaded", "active"), False, "running", False, "it runs"),
    (UnitFacts("p", "loaded", "activating"), False, "starting", False, "it is starting"),
    (UnitFacts("p", "loaded", "inactive"), False, "stopped", False, "it is stopped"),
    (UnitFacts("p", "loaded", "failed", result="signal"), False, "crashed", True, "it has failed (signal)"),
    (
        UnitFacts("p", "loaded", "active"),
        True,
        "crashed",
        True,
        "it ends again and again (0 restarts)",
    ),
    (UnitFacts("p", "loaded", "deactivating"), False, "running", False, "deactivating"),
]


@pytest.mark.parametrize(("facts", "looping", "status", "failed", "said"), FACTS)
def test_a_units_state_has_a_word(facts: UnitFacts, looping: bool, status: str, failed: bool, said: str) -> None:
    assert process_status(
        facts, looping=looping, before="running" if facts.active == "deactivating" else "unknown"
    ) == (status)
    assert has_failed(facts, looping=looping) is failed
    assert in_words(facts, looping=looping) == said


def test_a_player_that_restarts_every_second_is_a_loop_until_it_has_lived_a_minute() -> None:
    loop = Loop()
    for second in range(4):
        loop.seen(UnitFacts("p", restarts=second), float(second))

    assert [loop.is_on(second) for second in (3.0, 60.0, 62.0, 64.0)] == [True, True, False, False]


def test_restarts_before_the_agent_started_are_no_loop() -> None:
    loop = Loop()
    for second, restarts in enumerate((70, 70, 71, 72)):
        loop.seen(UnitFacts("p", restarts=restarts), float(second))

    assert not loop.is_on(3.0)
    loop.seen(UnitFacts("p", restarts=73), 4.0)
    assert loop.is_on(4.0)


def test_a_restart_by_a_person_begins_the_count_anew() -> None:
    loop = Loop()
    for restarts in (2, 0, 1):
        loop.seen(UnitFacts("p", restarts=restarts), 1.0)

    assert not loop.is_on(1.0)


def test_a_machine_alone_restarts_its_network_then_reboots_three_times_a_day() -> None:
    ladder, budget = Ladder(0.0), Budget()

    assert next_step(ladder, budget, DAY, ALONE_SECONDS - 1) is Step.NOTHING
    assert next_step(ladder, budget, DAY, ALONE_SECONDS) is Step.RESTART_NETWORK
    tried = ladder.restarted(ALONE_SECONDS)
    assert next_step(tried, budget, DAY, 2 * ALONE_SECONDS - 1) is Step.NOTHING
    assert next_step(tried, budget, DAY, 2 * ALONE_SECONDS) is Step.REBOOT
    for _ in range(3):
        budget = budget.spent(DAY)
    assert next_step(tried, budget, DAY, 2 * ALONE_SECONDS) is Step.NOTHING
    assert next_step(tried, budget, "2026-03-02", 2 * ALONE_SECONDS) is Step.REBOOT


def test_an_answer_restarts_the_ladder() -> None:
    heard = Ladder(0.0).restarted(ALONE_SECONDS).heard(5000.0)

    assert next_step(heard, Budget(), DAY, 5000.0 + ALONE_SECONDS) is Step.RESTART_NETWORK


@pytest.mark.parametrize(
    ("clock", "left"),
    [
        (DAY, 0),
        ("2026-02-28", 0),  # it stepped back over midnight
        ("1970-01-01", 0),  # it lost its time, and nothing has set it since
        ("2026-03-02", 3),
        ("2026-02-27", 3),  # it showed a day in the future when the reboots were counted
        ("2036-03-01", 3),
    ],
)
def test_three_reboots_are_all_of_their_day_whatever_the_clock_shows_then(clock: str, left: int) -> None:
    alone, budget = Ladder(0.0).restarted(ALONE_SECONDS), Budget(DAY, 3)
    done = 0
    while next_step(alone, budget, clock, 2 * ALONE_SECONDS) is Step.REBOOT:
        budget, done = budget.spent(clock), done + 1

    assert done == left
    assert budget.used(clock) == 3


def test_once_something_answers_only_the_reboots_of_that_day_count() -> None:
    assert Budget(DAY, 2).heard(DAY) == Budget(DAY, 2)
    assert Budget(DAY, 2).heard("2026-03-02") == Budget()
    assert Budget("1970-01-01", 3).heard(DAY) == Budget()


VERBS = [
    ("restart kiosk.service", ("systemctl", "restart", "kiosk.service")),
    ("reboot", ("systemctl", "reboot")),
    ("power-off", ("systemctl", "poweroff")),
    ("restart-network", ("systemctl", "restart", "networking.service")),
    ("ping", ("true",)),
]
REFUSED = [
    "restart ssh.service",
    "restart kiosk.service ssh.service",
    "restart",
    "restart --force",
    "reboot now",
    "reboot; rm",
    "start kiosk.service",
    "screen off",
    "screen off now",
    "",
    "\x00",
]


@pytest.mark.parametrize(("question", "command"), VERBS)
def test_the_helper_knows_a_few_verbs(question: str, command: tuple[str, ...]) -> None:
    assert command_for(question, "kiosk.service", lambda unit: unit == "networking.service") == command


@pytest.mark.parametrize("question", REFUSED)
def test_the_helper_refuses_everything_else(question: str) -> None:
    with pytest.raises(Refused):
        command_for(question, "kiosk.service", lambda _unit: False)


def test_the_helper_restarts_no_network_that_it_does_not_know() -> None:
    with pytest.raises(Refused, match="no known service"):
        command_for("restart-network", "kiosk.service", lambda _unit: False)


def test_a_machine_without_a_player_has_nothing_to_restart() -> None:
    with pytest.raises(Refused, match="is not a service"):
        command_for(f"restart {MACHINE}", MACHINE, lambda _unit: False)


BAD = [
    ("[display]\nplayer = ../x", "is no name of a unit"),
    ("[display]\nunits = a.service -rf", "is no name of a unit"),
    ("[display]\nheartbeat_seconds = 4", "heartbeat_seconds"),
    ("[display]\nscreen = hdmi", "screen: 'hdmi' is none of x11, wayland, cec"),
    ("[display]\nheartbeat_seconds = soon", "heartbeat_seconds"),
    ("[display]\ndevtools_port = 70000", "devtools_port"),
    ("[display]\nheal = no", "heal: 'no' is neither on nor off"),
    ("[display]\nplayr = a.service", "there is no setting playr"),
    ('[display]\napp_version_command = "x', "app_version_command"),
    ("player = a.service", "cannot be read"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_a_bad_setting_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "display.conf"
    file.write_text(text)

    with pytest.raises(BadSetting, match=said):
        load(file)


def test_settings_are_what_the_owner_wrote_and_else_the_machine_is_watched(tmp_path: Path) -> None:
    file = tmp_path / "display.conf"

    assert load(file) == Settings()
    assert not load(file).has_player
    file.write_text("[display]\nplayer = a.service\nunits = b.service, c@1.service a.service\nheartbeat_seconds = 10\n")
    assert load(file).watched == ("a.service", "b.service", "c@1.service")
    assert load(file).heartbeat_seconds == 10
    assert load(file).heal
    file.write_text("[display]\nheal = off\n")
    assert not load(file).heal


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_what_the_kernel_says_becomes_figures(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "proc/stat": "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1 1 1\n",
            "proc/meminfo": "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n",
            "sys/class/thermal/thermal_zone0/temp": "47000\n",
            "sys/class/thermal/thermal_zone1/temp": "-274000\n",
            "sys/class/hwmon/hwmon0/name": "cpu_thermal\n",
            "etc/os-release": 'NAME="X"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
        },
    )

    assert vitals.cpu_times(root) == CpuTimes(busy=200, all=1000)
    assert cpu_percent(CpuTimes(100, 500), CpuTimes(200, 1000)) == 20
    assert (vitals.memory_percent(root), vitals.temperature(root)) == (75, 47.0)
    assert vitals.system_name(root) == "Debian GNU/Linux 12 (bookworm)"


@pytest.mark.parametrize(("flag", "said"), [("0\n", False), ("1\n", True), ("", None), (None, None)])
def test_under_voltage_is_known_only_where_the_kernel_measures_it(
    tmp_path: Path, flag: str | None, said: bool | None
) -> None:
    write(tmp_path, {"sys/class/hwmon/hwmon0/name": "cpu_thermal\n", "sys/class/hwmon/hwmon0/in0_lcrit_alarm": "1\n"})
    if flag is not None:
        write(tmp_path, {"sys/class/hwmon/hwmon1/name": "rpi_volt\n", "sys/class/hwmon/hwmon1/in0_lcrit_alarm": flag})

    assert vitals.report(tmp_path, tmp_path)["under_voltage"] is said
    assert ("under_voltage" in vitals.troubles(tmp_path, tmp_path)) is (said is True)


def test_a_machine_that_says_nothing_has_no_figures(tmp_path: Path) -> None:
    told = (vitals.cpu_times(tmp_path), vitals.memory_percent(tmp_path), vitals.temperature(tmp_path))

    assert (*told, vitals.disk_percent(tmp_path / "none"), cpu_percent(None, CpuTimes(1, 1))) == (None,) * 5


def test_what_is_wrong_with_a_machine_has_a_word(tmp_path: Path) -> None:
    mounts = "21 1 8:1 / / {} - ext4 /dev/root {}\n22 21 0:5 / /proc ro - proc proc ro\n"
    write(tmp_path, {"proc/self/mountinfo": mounts.format("ro,relatime", "rw")})

    assert "read_only_root" not in vitals.troubles(tmp_path, tmp_path)  # the agent's own view alone
    for after_a_fault in ("ro,errors=remount-ro", "rw,errors=remount-ro,emergency_ro"):  # the second: of Linux 6.18
        write(tmp_path, {"proc/self/mountinfo": mounts.format("ro,relatime", after_a_fault)})
        assert vitals.troubles(tmp_path, tmp_path)["read_only_root"] == "the root file system is read-only"


def test_a_unit_that_does_not_exist_is_a_trouble_until_it_does(tmp_path: Path) -> None:
    machine = Machine(Places(tmp_path), Settings(player="kiosk.service", units=("ghost.service",)))

    def troubles(load: str) -> list[str]:
        machine.told(UnitFacts("ghost.service", load, "inactive"))
        asyncio.run(machine.report())
        return [text for text in machine.troubles.values() if "ghost" in text]

    assert troubles("not-found") == ["ghost.service: there is no such unit on this machine"]
    assert troubles("masked") == ["ghost.service: systemd cannot load it (masked)"]
    assert troubles("loaded") == []


@pytest.mark.parametrize(("percent", "said"), [(94, None), (95, "the disk is 95 % full"), (None, None)])
def test_a_disk_is_full_from_95_percent_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, percent: int | None, said: str | None
) -> None:
    monkeypatch.setattr(vitals, "disk_percent", lambda _folder: percent)

    assert vitals.troubles(tmp_path, tmp_path).get("disk_full") == said


@pytest.mark.parametrize("in_step", [True, False])
def test_a_clock_that_nothing_keeps_in_step_has_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_step: bool
) -> None:
    """As that of 1970: systemd begins at a date of its own then."""
    monkeypatch.setattr(vitals, "clock_in_step", lambda: in_step)

    said = vitals.troubles(tmp_path, tmp_path).get("clock_not_in_step")

    assert said == (None if in_step else "the clock is not synchronised and may be wrong")


@pytest.mark.parametrize(
    ("user", "question", "said"),
    [
        (OWN, "ping", None),
        (OWN, "restart-network", None),  # what is refused only for want of a known service is no intrusion
        (OWN, "restart dbus.service", f"dbus.service is not the player's unit ({MACHINE}) (user {OWN}, 'restart"),
        (OWN, "halt", f"there is no verb 'halt' (user {OWN}, 'halt')"),
        (OWN + 1, "reboot", f"user {OWN} may not ask (user {OWN}, 'reboot')"),
        (OWN, "\x1b[2J\x07", f"there is no verb '\\x1b[2J\\x07' (user {OWN}, "),
    ],
)
def test_whom_the_helper_refused_is_a_trouble_until_the_next_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, question: str, said: str | None
) -> None:
    """`user` may ask; the test asks as its own user."""
    places = Places(tmp_path)
    places.refusal.parent.mkdir(parents=True)
    monkeypatch.setattr("displays.agent.helper.NETWORKS", ())
    here, there = socket.socketpair()
    with here, there:
        here.sendall(question.encode() + b"\n")
        serve_one(there, frozenset({user}), places)

    found = vitals.troubles(tmp_path, tmp_path).get("helper_refused")

    assert (found is None) == (said is None)
    assert (said or "") in (found or "")
    assert (found or "").isprintable()


@pytest.mark.parametrize(
    ("file", "command", "said"),
    [
        ("version", (), "4.2.1"),
        ("", ("echo", "Chromium 120"), "Chromium 120"),
        ("none", (), None),
        ("", ("no-such-program",), None),
        ("", ("true",), None),
        ("", (), None),
    ],
)
def test_the_players_version_is_asked_as_its_owner_says(
    tmp_path: Path, file: str, command: tuple[str, ...], said: str | None
) -> None:
    (tmp_path / "version").write_text("4.2.1\nbuilt yesterday\n")

    assert vitals.app_version(str(tmp_path / file) if file else "", command) == said


KNOWN = {
    "uuid": "u",
    "broker": "b:1",
    "up": False,
    "why": "the broker does not answer",
    "heard_at": None,
    "player": MACHINE,
    "has_player": False,
    "units": {},
    "process_status": "running",
    "capabilities": [],
    "last_command": None,
    "logs_trouble": "",
    "logs_waiting": 3,
    "troubles": {"x": "y"},
    "screen": "off",
    "screen_trouble": "",
    "screen_plan": "off by its hours",
}


def test_status_says_each_thing_in_a_line() -> None:
    said = words(KNOWN, 0.0)

    assert said[1] == "service   not connected to b:1: the broker does not answer"
    assert said[2] == "player    none is named: the machine itself is watched (signage-display player UNIT)"
    assert said[4:] == [
        "screen    off",
        "plan      off by its hours",
        "commands  none can be carried out",
        "logs      3 wait for the service",
        "trouble   y",
    ]


@pytest.mark.parametrize(("lines", "said"), [(0, "0 wait"), (99, "99 wait"), (100, "at least 100 wait")])
def test_lines_that_may_be_unread_in_journald_are_not_counted_as_none(lines: int, said: str) -> None:
    assert f"logs      {said} for the service" in words({**KNOWN, "logs_waiting": lines}, 0.0)


@pytest.mark.parametrize("told", ["why", "screen_trouble", "screen_plan", "logs_trouble", "process_status"])
def test_what_others_say_stays_text_on_its_own_line_of_the_status(told: str) -> None:
    said = words({**KNOWN, told: "\x1b[2Jgone\nlogs      all sent\x9b1A\u202e"}, 0.0)

    assert all(line.isprintable() for line in said)
    assert len(said) == len(words(KNOWN, 0.0))


@pytest.mark.parametrize(
    ("journal", "helper", "picture", "able"),
    [
        (True, True, True, ["restart_app", "reboot_host", "shutdown_host", "screenshot"]),
        (True, True, False, ["restart_app", "reboot_host", "shutdown_host"]),
        (True, False, True, ["screenshot"]),
        (True, False, False, []),
        (False, True, True, []),
    ],
)
def test_what_is_declared_follows_from_what_is_there(
    tmp_path: Path, journal: bool, helper: bool, picture: bool, able: list[str]
) -> None:
    places = Places(tmp_path)
    if helper:
        places.helper.parent.mkdir(parents=True)
        places.helper.touch()
    machine = Machine(places, Settings(player="kiosk.service"))

    assert list(machine.capabilities(journal_is_writable=journal, has_picture=picture)) == able


DEAD = "no command can be carried out: the helper"


@pytest.mark.parametrize(
    ("helper", "able", "trouble"),
    [
        ("answers", 3, None),
        ("is gone", 0, f"{DEAD} cannot be reached: [Errno 2] No such file or directory"),
        ("is not listened for", 0, f"{DEAD} cannot be reached: [Errno 111] Connection refused"),
        ("ends", 0, f"{DEAD} ended without an answer"),
    ],
)
def test_commands_are_declared_while_the_helper_answers(
    tmp_path: Path, helper: str, able: int, trouble: str | None
) -> None:
    places = Places(tmp_path)
    places.helper.parent.mkdir(parents=True)
    machine = Machine(places, Settings(player="kiosk.service"))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"ok\n" if helper == "answers" else b"")
        writer.close()

    async def declared() -> int:
        await machine.report()
        return len(machine.capabilities(journal_is_writable=True))

    async def look() -> int:
        async with await asyncio.start_unix_server(serve, places.helper):
            if helper in {"answers", "ends"}:
                await machine.ask_helper(0.0)
                return await declared()
        places.helper.unlink(missing_ok=True)
        if helper != "is gone":
            with socket.socket(socket.AF_UNIX) as door:
                door.bind(str(places.helper))
        assert await machine.ask_helper(0.0)
        return await declared()

    assert asyncio.run(look()) == able
    assert machine.troubles.get("no_helper") == trouble


def test_a_helper_that_answers_is_asked_hourly_and_one_that_does_not_at_each_look(tmp_path: Path) -> None:
    """Each question starts it. Whether systemd still listens for it, the kernel's list says."""
    places, asked = Places(tmp_path), list[str]()
    listed = f"0: 2 0 00010000 0001 01 7 {places.helper}\n"
    write(tmp_path, {"proc/net/unix": f"Num ...\n{listed}", "run/x": ""})
    machine = Machine(places, Settings(player="kiosk.service"))

    async def looks() -> None:
        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append("ping")
            writer.write(b"ok\n")
            writer.close()

        async with await asyncio.start_unix_server(serve, places.helper):
            for now in (0.0, 60.0, 3599.0, 3600.0):
                assert not await machine.ask_helper(now)
            machine.doubt_helper()
            assert not await machine.ask_helper(3660.0)
        assert asked == ["ping"] * 3
        write(tmp_path, {"proc/net/unix": "Num ...\n"})
        assert await machine.ask_helper(3720.0), "nobody listens any more"
        async with await asyncio.start_unix_server(serve, places.helper):
            assert await machine.ask_helper(3780.0), "it is back"

    asyncio.run(looks())


# --- the authority in its login ---


def authority(folder: Path, lifetime: timedelta) -> str:
    return Authority(folder, lifetime).ca_file.read_text(encoding="ascii")


def login(ca_pem: str | None) -> Credentials:
    return Credentials("u", "u", "secret", "broker.test", 8883, tls=True, ca_pem=ca_pem, topic_root="signage")


def test_the_end_of_the_authority_in_the_login_is_read_from_its_certificate(tmp_path: Path) -> None:
    first, second = (authority(tmp_path, timedelta(days=days)) for days in (1, 400))

    told = [login(pem).authority_ends_at() for pem in (first, first + second, second + first)]

    ends = [x509.load_pem_x509_certificate(one.encode()).not_valid_after_utc for one in (first, second, second)]
    assert [datetime.fromisoformat(one or "") for one in told] == ends
    assert login(None).authority_ends_at() is None


def test_an_authority_for_ever_ends_at_the_last_time_of_the_contract(tmp_path: Path) -> None:
    assert login(authority(tmp_path, timedelta(days=200 * 365))).authority_ends_at() == "2099-12-31T23:59:59+00:00"


def test_a_login_with_something_else_for_an_authority_is_refused() -> None:
    with pytest.raises((ValueError, OSError)):
        login("no certificate").authority_ends_at()
