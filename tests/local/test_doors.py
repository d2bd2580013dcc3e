"""A share of `make campaign ONLY=doors`: hostile peers call the gateway before a real api function."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from deploy.parts import gateway as nginx
from deploy.parts import guardian
from deploy.parts.gateway import Gateway
from deploy.parts.probes import free_port
from shared.access.rules import sealed
from shared.vocabulary import Role
from tests import migrated
from tests.api.function_process import ENVIRONMENT, function_process
from tests.api.people import issue_token
from tests.lab.campaigns import doors, leaks, paths
from tests.lab.campaigns.doors import Doors


@pytest.fixture(scope="module")
def standing(database_url: str, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """Run both doors as the local stack has them."""
    folder = tmp_path_factory.mktemp("doors")
    media = folder / "state" / "media"
    media.mkdir(parents=True)
    run = folder / "state" / "run"
    run.mkdir()
    environment = {
        **ENVIRONMENT,
        "DATABASE_URL": migrated.address_for("api", database_url),
        "MEDIA_ROOT": str(media),
        "THREADS": "64",
    }
    with function_process("functions/api/main.py", environment, run) as function:
        gateway = Gateway(run, free_port(), function.port)
        with nginx.serve(gateway, run / "nginx.log") as server:
            pids = {"api": function.pid, "gateway": server.pid}
            yield Doors(
                gateway.port,
                function.port,
                sealed(issue_token(engine, Role.ADMIN), gateway.key),
                folder,
                media,
                lambda: {name: {pid} | guardian.descendants(pid) for name, pid in pids.items()},
            )


def test_hostile_peers_get_nothing_from_outside_and_hold_nobody_up(standing: Doors) -> None:
    ledger = doors.knock(doors.Plan(paths=200, connections=300, seconds=1.5, seed=7), standing)

    print(ledger.text())
    assert not ledger.broken
    assert ledger.counted["answers_404"] > 50  # the requests did reach a function that checks them


def test_what_came_from_outside_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    outside = leaks.plant(tmp_path, tmp_path / "media")
    canary = (tmp_path / "canary.txt").read_bytes()

    def faults(head: str, body: bytes = b"{}") -> list[str]:
        return leaks.wrong(head.encode() + b"\r\n\r\n" + body, outside, {b"a file of the dashboard"})

    json = "HTTP/1.1 200 OK\r\nContent-Type: application/json"
    assert faults(json) == faults("HTTP/1.1 200 OK", b"a file of the dashboard") == []
    assert faults(json, canary) == ["came from outside"]
    assert faults(json, Path("/etc/passwd").read_bytes()) == ["came from outside"]
    assert faults("HTTP/1.1 500 Oh") == ["was answered with 5xx"]
    assert faults("HTTP/1.1 200 OK\r\nContent-Type: text/html") == ["was served that is no file of the dashboard"]
    assert faults(json + "\r\nX-Injected: yes") == ["was smuggled into the headers"]
    assert leaks.wrong(None, outside, set()) == ["went unanswered"]


def test_each_spelling_comes_up_and_the_same_seed_draws_the_same() -> None:
    drawn = [list(paths.attempts(2000, 1, [b"/"], [b"etc/passwd"], b"h")) for _ in range(2)]

    assert drawn[0] == drawn[1]
    every = b"\n".join(one.target for one in drawn[0])
    assert all(spelling in every for spelling in (*paths.DOTS, *paths.SLASHES, *paths.ENDINGS))
    assert len(set(drawn[0])) > 1900
