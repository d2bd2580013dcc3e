"""How the agent switches a screen: the helper's commands, what is declared, and what the kernel then shows."""

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from displays.agent import screen_switch
from displays.agent.connectors import outputs, signal
from displays.agent.helper import answer
from displays.agent.machine import Machine
from displays.agent.screen_rules import (
    CEC,
    WAYLAND,
    X11,
    NoMeans,
    PlayerUnit,
    command,
    environment_of,
    power_of,
)
from displays.agent.screen_switch import ScreenSwitch
from displays.agent.settings import Places, Settings
from displays.agent.vitals import clock_in_step, clock_is_sure

RUN = ("systemd-run", "--quiet", "--wait", "--pipe", "--collect")
KIOSK = PlayerUnit("kiosk", 1001, {"DISPLAY": ":7", "HOME": "/home/kiosk"})

COMMANDS: list[tuple[str, str, Sequence[str]]] = [
    (
        X11,
        "off",
        (
            *("--uid=kiosk", "--setenv=XDG_RUNTIME_DIR=/run/user/1001", "--setenv=DISPLAY=:7"),
            *("xset", "dpms", "0", "0", "0", "dpms", "force", "off"),
        ),
    ),
    (
        WAYLAND,
        "on",
        (
            *("--uid=kiosk", "--setenv=XDG_RUNTIME_DIR=/run/user/1001", "--setenv=WAYLAND_DISPLAY=wayland-0"),
            *("--setenv=DISPLAY=:7", "wlr-randr", "--output", "HDMI-A-1", "--on", "--output", "HDMI-A-2", "--on"),
        ),
    ),
    (CEC, "on", ("cec-ctl", "--playback", "--to", "0", "--image-view-on")),
    (CEC, "off", ("cec-ctl", "--playback", "--to", "0", "--standby")),
    (CEC, "state", ("cec-ctl", "--playback", "--to", "0", "--give-device-power-status")),
]


@pytest.mark.parametrize(("means", "word", "program"), COMMANDS)
def test_each_means_has_its_command(means: str, word: str, program: Sequence[str]) -> None:
    assert command(means, word, KIOSK, ["HDMI-A-1", "HDMI-A-2"]) == (*RUN, *program)


@pytest.mark.parametrize(
    ("means", "word", "there"),
    [(X11, "state", ["A"]), (X11, "on;reboot", ["A"]), (WAYLAND, "off", []), (CEC, "reboot", ["A"]), ("", "on", ["A"])],
)
def test_everything_else_is_refused(means: str, word: str, there: Sequence[str]) -> None:
    with pytest.raises(NoMeans):
        command(means, word, KIOSK, there)


def test_a_units_environment_is_read_with_its_quotes() -> None:
    assert environment_of("DISPLAY=:0 'XAUTHORITY=/home/k/a b' PLAIN") == {
        "DISPLAY": ":0",
        "XAUTHORITY": "/home/k/a b",
    }
    assert environment_of("BROKEN='") == {}


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("\tpwr-state: on (0x00)", "ok"),
        ("\tpwr-state: standby (0x01)", "off"),
        ("\tpwr-state: to-on (0x02)", "ok"),
        ("\tpwr-state: to-standby (0x03)", "off"),
        ("\tTimed out", "failed: the television does not say whether it is on"),
        ("", "failed: the television does not say whether it is on"),
    ],
)
def test_a_television_says_whether_it_is_on(said: str, word: str) -> None:
    assert power_of(said) == word


def test_the_helper_switches_by_the_means_of_roots_configuration_alone(tmp_path: Path) -> None:
    places, ran = Places(tmp_path), list[Sequence[str]]()
    connector(tmp_path, "card1-HDMI-A-1", "connected", "On")

    def run(command: Sequence[str], **_: object) -> "subprocess.CompletedProcess[str]":
        ran.append(command)
        said = {"--property=User": "root", "--property=Environment": "DISPLAY=:1"}.get(command[2], "")
        return subprocess.CompletedProcess(command, 0, said, "")

    assert answer("screen off", places, run).startswith("refused: no means")
    assert ran[-1][0] == "systemctl", "nothing was switched"
    places.configuration.parent.mkdir(parents=True)
    places.configuration.write_text("[display]\nplayer = kiosk.service\nscreen = x11\n", encoding="utf-8")

    assert answer("screen off", places, run) == "ok"
    assert ran[-1][-2:] == ("force", "off")
    assert "--setenv=DISPLAY=:1" in ran[-1]
    assert answer("screen state", places, run).startswith("refused:")


# --- the agent's side ---


def connector(root: Path, name: str, status: str, dpms: str) -> Path:
    folder = root / "sys/class/drm" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "status").write_text(f"{status}\n", encoding="ascii")
    (folder / "dpms").write_text(f"{dpms}\n", encoding="ascii")
    return folder


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an xset, which is found first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "xset").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_what_is_missing_is_said_and_nothing_is_declared(tmp_path: Path, programs: Path) -> None:
    helper = tmp_path / "helper.sock"

    assert ScreenSwitch(tmp_path, helper, "").trouble.startswith("no means is named")
    assert ScreenSwitch(tmp_path, helper, WAYLAND).trouble == "wlr-randr is not installed"
    assert ScreenSwitch(tmp_path, helper, X11).trouble == "the helper is not there"
    helper.touch()
    assert ScreenSwitch(tmp_path, helper, X11).trouble.startswith("the kernel shows no video connector")
    connector(tmp_path, "card0-HDMI-A-1", "connected", "On")
    assert ScreenSwitch(tmp_path, helper, X11).trouble == ""


def test_the_screens_commands_are_declared_where_the_helper_and_the_means_are(tmp_path: Path) -> None:
    places = Places(tmp_path)
    machine = Machine(places, Settings(player="kiosk.service"))
    assert machine.capabilities(journal_is_writable=True, has_switch=True) == ()
    places.helper.parent.mkdir(parents=True)
    places.helper.touch()

    assert machine.capabilities(journal_is_writable=True, has_switch=True)[-2:] == ("screen_on", "screen_off")
    assert "screen_on" not in machine.capabilities(journal_is_writable=True)
    assert machine.capabilities(journal_is_writable=False, has_switch=True) == ()


@pytest.mark.parametrize(
    ("answered", "dpms", "failed"),
    [
        ("ok", "Off", None),
        ("ok", "On", "screen_did_not_switch"),
        ("ok", None, "screen_does_not_say"),
        ("failed: unable to open display", "On", "failed: unable to open display"),
    ],
    ids=["it is off", "it says so", "it says nothing any more", "it says why not"],
)
def test_off_is_what_the_kernel_shows_and_not_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: str, dpms: str | None, failed: str | None
) -> None:
    monkeypatch.setattr(screen_switch, "SHOWS_SECONDS", 0.2)
    monkeypatch.setattr(screen_switch, "LOOK_SECONDS", 0.02)
    folder, asked = connector(tmp_path, "card0-HDMI-A-1", "connected", "On"), list[bytes]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        (folder / "dpms").write_text(dpms or "", encoding="ascii")
        (folder / "status").write_text("connected" if dpms else "disconnected", encoding="ascii")
        writer.write(f"{answered}\n".encode())
        writer.close()

    async def switched() -> str | None:
        async with await asyncio.start_unix_server(serve, tmp_path / "helper.sock"):
            return await ScreenSwitch(tmp_path, tmp_path / "helper.sock", X11).switch(False)

    assert asyncio.run(switched()) == failed
    assert asked == [b"screen off\n"]


def test_only_connectors_with_a_screen_are_switched(tmp_path: Path) -> None:
    connector(tmp_path, "card0-HDMI-A-2", "connected", "Off")
    connector(tmp_path, "card0-HDMI-A-1", "connected", "On")
    connector(tmp_path, "card0-DP-1", "disconnected", "On")

    assert outputs(tmp_path) == ["HDMI-A-1", "HDMI-A-2"]
    assert (signal(tmp_path).known, signal(tmp_path).connected, signal(tmp_path).lit) == (3, 2, 1)


def test_a_clock_without_a_battery_is_sure_only_in_step(tmp_path: Path) -> None:
    assert clock_is_sure(tmp_path) is clock_in_step()
    (tmp_path / "sys/class/rtc/rtc0").mkdir(parents=True)
    assert clock_is_sure(tmp_path)
