"""Results of `make check`'s audits of dependencies and our own code: found, not found, or service unreachable."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from deploy.parts.probes import free_port
from tests import dependencies, findings
from tests.serving import serving

FLAW = {"id": "GHSA-0000-test", "summary": "leaks", "modified": "2026-01-01T00:00:00Z"}


class Osv(ThreadingHTTPServer):
    """Answers as OSV does: returns the known vulnerabilities of a package, by name."""

    daemon_threads = True

    def __init__(self, *vulnerable: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.vulnerable = vulnerable
        self.asked: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/query"


class _Handler(BaseHTTPRequestHandler):
    server: Osv

    def do_POST(self) -> None:  # http.server's name
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["package"]
        self.server.asked.add(asked["name"])
        fixed = {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.0"}]}
        known = {**FLAW, "affected": [{"package": asked, "ranges": [fixed]}]}
        body = json.dumps({"vulns": [known]} if asked["name"] in self.server.vulnerable else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def osv(*vulnerable: str) -> Iterator[Osv]:
    """Run a service on this machine that reports these packages as vulnerable."""
    with serving(Osv(*vulnerable)) as server:
        yield server


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> str:
    """Replace the package that every service must know by one that does not exist."""
    monkeypatch.setattr(dependencies, "PATIENCE_SECONDS", 60)
    monkeypatch.setitem(dependencies.KNOWN, "package", {"name": "known-to-be-bad", "ecosystem": "PyPI"})
    return "known-to-be-bad"


def test_a_known_vulnerability_fails_and_is_named(known: str, capsys: pytest.CaptureFixture[str]) -> None:
    with osv(known, "flask") as service:
        code = dependencies.main(["--osv-url", service.url])

    said = capsys.readouterr().out
    assert code == 1
    assert "flask 3" in said
    assert "GHSA-0000-test, mended in 99.0" in said
    assert {"flask", "sqlalchemy", "werkzeug", "pytest"} <= service.asked


def test_where_nothing_is_known_it_says_how_many_were_asked_about(
    known: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a report as pip-audit wrote it above: another run of it takes two processor seconds."""
    audited = [{"name": name, "version": "1.0", "vulns": list[str]()} for name in ("one", "two")]
    skipped = {"name": "ours", "skip_reason": "not on PyPI"}
    monkeypatch.setattr(dependencies, "report", lambda _url: {"dependencies": [*audited, skipped]})

    with osv(known) as service:
        code = dependencies.main(["--osv-url", service.url])

    said = capsys.readouterr().out
    assert code == 0
    assert "dependencies: 2 audited, 0 with a known vulnerability" in said
    assert "dependencies that were not audited: ours (not on PyPI)" in said


def test_where_nobody_can_be_asked_it_says_so_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    code = dependencies.main(["--osv-url", f"http://127.0.0.1:{free_port()}/v1/query"])

    assert code == 0
    assert capsys.readouterr().out == "dependencies were not audited: the service is not reachable\n"


def test_who_knows_of_nothing_is_not_believed(capsys: pytest.CaptureFixture[str]) -> None:
    with osv() as service:
        code = dependencies.main(["--osv-url", service.url])

    assert code == 0
    said = "dependencies were not audited: the service that answers knows no vulnerabilities\n"
    assert capsys.readouterr().out == said


def test_what_bandit_finds_is_excepted_by_a_mark_on_its_line_and_of_its_number(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(
        "import random\n"
        "import tempfile\n"
        "a = random.random()\n"
        "b = random.random()  # noqa: S311 - no secret\n"
        "c = tempfile.mktemp()  # noqa: S311 - the mark of something else\n"
    )

    found = findings.findings([str(tmp_path)])

    assert [(one["test_id"], one["line_number"]) for one in found] == [("B311", 3), ("B306", 5)]
