"""What plays on a machine, by its processes, and which lines would tell the agent of it."""

from pathlib import Path

import pytest

from displays.agent.enrolment import _write_configuration
from displays.agent.players import Playing, playing, unit_of
from displays.agent.settings import Places, load

DOCKER = "/system.slice/docker-" + "0a" * 32 + ".scope"
PLACES = [
    ("/system.slice/kiosk.service", "kiosk.service"),
    ("/system.slice/system-cage.slice/cage@tty1.service", "cage@tty1.service"),
    ("/system.slice/kiosk.service/libpod-payload-0a", "kiosk.service"),
    ("/user.slice/user-1000.slice/user@1000.service/app.slice/kiosk.service", "user@1000.service"),
    ("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-0a.scope", "user@1000.service"),
    ("/user.slice/user-1000.slice/session-2.scope", ""),
    (DOCKER, "docker.service"),
    ("/system.slice/a b.service", ""),
    ("/", ""),
    ("", ""),
]


@pytest.mark.parametrize(("place", "unit"), PLACES)
def test_a_program_is_restarted_by_the_systems_unit_that_it_runs_in(place: str, unit: str) -> None:
    assert unit_of(place) == unit


def runs(root: Path, pid: int, name: str, place: str, *words: str, version: int = 2) -> None:
    """Let this machine have a process."""
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text(name + "\n")
    (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in (name, *words)))
    (folder / "cgroup").write_text(f"0::{place}\n" if version == 2 else f"3:cpu:/x\n1:name=systemd:{place}\n")


def test_what_can_be_restarted_alone_is_the_player(tmp_path: Path) -> None:
    runs(tmp_path, 90, "sshd", "/system.slice/ssh.service")
    runs(tmp_path, 100, "firefox", "/user.slice/user-1000.slice/session-2.scope")
    runs(tmp_path, 200, "chromium", "/system.slice/kiosk.service", "--type=renderer", "--remote-debugging-port=1")
    runs(
        tmp_path, 300, "chromium", "/system.slice/kiosk.service", "--kiosk", "--remote-debugging-port=9333", "http://m/"
    )

    assert playing(tmp_path) == Playing("chromium", "/system.slice/kiosk.service", is_chromium=True, port=9333)


def test_an_older_kernels_groups_are_read_and_a_machine_without_a_player_has_none(tmp_path: Path) -> None:
    assert playing(tmp_path) is None
    runs(tmp_path, 7, "mpv", "/system.slice/film.service", version=1)
    (tmp_path / "proc/8").mkdir()

    plays = playing(tmp_path)

    assert plays is not None
    assert plays.unit == "film.service"


@pytest.mark.parametrize(
    ("program", "place", "words", "says"),
    [
        ("chromium", "/system.slice/kiosk.service", ["--remote-debugging-port", "9222"], ["devtools_port = 9222"]),
        ("chromium", "/system.slice/kiosk.service", [], ["--remote-debugging-port=9222"]),
        (
            "mpv",
            "/user.slice/user-7.slice/user@7.service/app.slice/a.service",
            [],
            ["player = user@7.service", "no DevTools"],
        ),
        ("vlc", "/user.slice/user-1000.slice/session-2.scope", [], ["Let a unit start it"]),
        ("chromium", DOCKER, [], ["all that runs beside it: player = docker.service"]),
    ],
)
def test_the_owner_is_told_which_line_would_tell_it(
    tmp_path: Path, program: str, place: str, words: list[str], says: list[str]
) -> None:
    runs(tmp_path, 5, program, place, *words)

    plays = playing(tmp_path)

    assert plays is not None
    said = "\n".join(plays.advice())
    assert all(part in said for part in says), said
    lines = [line.rpartition(": ")[2] for line in plays.advice() if " = " in line]
    (tmp_path / "display.conf").write_text("\n".join(["[display]", *lines]), encoding="utf-8")
    load(tmp_path / "display.conf")


def test_a_page_that_can_be_seen_is_seen_from_the_enrolment_on(tmp_path: Path) -> None:
    places = Places(tmp_path)
    plays = Playing("chromium", "/system.slice/kiosk.service", is_chromium=True, port=9333)

    for unit, port in (("other.service", 0), ("kiosk.service", 9333)):
        _write_configuration(places, unit, plays)
        settings = load(places.configuration)
        assert (settings.player, settings.devtools_port) == (unit, port)
    places.configuration.write_text("[display]\ndevtools_port = 9222\n", encoding="utf-8")
    _write_configuration(places, "kiosk.service", plays)
    assert load(places.configuration).devtools_port == 9222, "the owner's line stays"
