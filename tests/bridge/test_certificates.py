"""The end of a door's certificate: read by TLS from a real listener, stored, shown as a gauge, notified in time."""

import socket
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from deploy.box.box import Box
from deploy.parts.broker_accounts import certificates
from deploy.parts.broker_accounts.certificates import Certificates, doors
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port
from shared.errors import ConfigurationError
from shared.leadership.rules import CERTIFICATE_KNOWN_FOR
from shared.overview.gauges import rules
from shared.overview.gauges import store as gauges
from shared.postgres.door import snapshot
from shared.vocabulary import Door
from tests.bridge.conftest import Database
from tests.deploy.certificates import listening

DAY = timedelta(days=1)


def days_left(engine: Engine, of: str = "seconds_left") -> dict[str, float]:
    """Door -> this gauge in days."""
    with snapshot(engine) as connection:
        now = datetime.now(UTC)
        both = rules.certificates(now, gauges.certificates(connection, now - CERTIFICATE_KNOWN_FOR))
    [gauge] = [one for one in both if one.name == f"certificate_{of}"]
    return {labels[0]: round(value / 86_400, 1) for labels, value in gauge.samples}


@pytest.mark.parametrize(
    ("age", "left", "said"),
    [
        (70 * DAY, 20 * DAY, None),
        (80 * DAY, 10 * DAY, "certificate_old"),
        (88 * DAY, 2 * DAY, "certificate_ending"),
        (2 * DAY, 4 * DAY, None),
        (5 * DAY, DAY, "certificate_old"),
        (91 * DAY, -DAY, "certificate_ending"),
    ],
    ids=["good", "old", "ending", "short and good", "short and old", "ended"],
)
def test_what_a_door_shows_is_stored_and_said_until_it_is_renewed(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: timedelta, left: timedelta, said: str | None
) -> None:
    lines: list[str] = []
    monkeypatch.setattr(certificates, "event", lambda word, *_, **__: lines.append(word))
    with listening(tmp_path, left, age) as door:
        looker = Certificates(engine, {Door.DISPLAYS: door.address})

        assert looker.look()
        assert days_left(engine) == {"displays": left / DAY}
        assert days_left(engine, of="lifetime_seconds") == {"displays": (age + left) / DAY}
        assert lines == ([said] if said else [])

        door.load(90 * DAY)
        assert looker.look()
        assert days_left(engine) == {"displays": 90.0}
        assert lines == ([said] if said else [])


def test_a_door_that_does_not_answer_keeps_what_was_seen_a_removed_one_is_forgotten(
    engine: Engine, database: Database, tmp_path: Path
) -> None:
    with listening(tmp_path, 20 * DAY) as door:
        assert Certificates(engine, {Door.DISPLAYS: door.address, Door.PEOPLE: door.address}).look()
    gone = ("127.0.0.1", free_port())

    assert not Certificates(engine, {Door.DISPLAYS: gone}).look()
    assert days_left(engine) == {"displays": 20.0}

    database.do("UPDATE door_certificates SET seen_at = now() - interval '3 days'")
    assert days_left(engine) == {}, "nobody looks any more: another one may have come"

    assert Certificates(engine, {}).look()
    assert database.value("SELECT count(*) FROM door_certificates") == 0


def test_a_door_that_speaks_no_tls_is_not_seen(engine: Engine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def answer() -> None:
            accepted, _ = plain.accept()
            with accepted:
                accepted.recv(1)
                accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert not Certificates(engine, {Door.PEOPLE: plain.getsockname()}).look()
        thread.join()


def test_the_doors_of_a_box_are_asked_on_its_own_machine() -> None:
    told = {"BOX_HOST": "box.test", "BOX_CERTIFICATE_FILE": "/c", "BOX_KEY_FILE": "/k"}

    def of(**more: str) -> str:
        return str((Box({**told, **more}).service("broker-accounts").environment or {})["CERTIFICATE_DOORS"])

    assert doors(of()) == {Door.DISPLAYS: ("127.0.0.1", 8883), Door.PEOPLE: ("127.0.0.1", 443)}
    assert doors(of(BOX_REMOTE_SERVICES="1", MQTT_DISPLAYS_PORT="9883")) == {Door.DISPLAYS: ("127.0.0.1", 9883)}
    assert doors(of(BOX_LISTEN="10.0.0.7"))[Door.PEOPLE] == ("10.0.0.7", 443)
    assert "CERTIFICATE_DOORS" not in (Box(told).service("bridge").environment or {})


@pytest.mark.parametrize("told", ["shop=127.0.0.1:1", "displays", "displays=:1", "people=h:0", "people=h:x"])
def test_a_door_that_nobody_can_ask_is_refused(told: str) -> None:
    with pytest.raises(ConfigurationError):
        doors(told)


def test_a_renewed_certificate_comes_to_the_doors_with_its_mode(tmp_path: Path) -> None:
    """Brings it to a box with systemd, and a renewed one to a box with Docker; both are scripts here."""
    lineage, to = tmp_path / "live", tmp_path / "etc"
    lineage.mkdir()
    to.mkdir()
    (lineage / "fullchain.pem").write_text("certificate")
    (lineage / "privkey.pem").write_text("key")
    done = tmp_path / "done"
    for name in ("systemctl", "docker"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $* >> {done}\n")
        (tmp_path / name).chmod(0o755)
    own = {part: subprocess.run(["id", flag], capture_output=True, text=True, check=True).stdout.strip()
           for part, flag in (("SIGNAGE_OWNER", "-u"), ("SIGNAGE_GROUP", "-g"))}  # fmt: skip
    told = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "RENEWED_LINEAGE": str(lineage),
        "SIGNAGE_CERTIFICATES": str(to),
        **own,
    }
    hook = str(REPOSITORY / "deploy" / "box" / "renewed.sh")

    subprocess.run([hook], env=told, check=True)
    (lineage / "fullchain.pem").write_text("renewed certificate")
    subprocess.run([hook], env={**told, "COMPOSE_FILE": "/x/compose.yaml"}, check=True)

    assert {file.name: (file.read_text(), oct(file.stat().st_mode & 0o777)) for file in to.iterdir()} == {
        "certificate.pem": ("renewed certificate", "0o644"),
        "key.pem": ("key", "0o640"),
    }
    assert done.read_text().splitlines() == [
        "systemctl try-reload-or-restart signage-gateway.service",
        "systemctl try-restart signage-broker.service",
        "docker compose --file /x/compose.yaml restart broker gateway",
    ]
