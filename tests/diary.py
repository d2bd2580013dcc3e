"""What becomes of each test, written while it goes on: `pytest -p tests.diary --diary=FILE`.

The runner reads it to say which test is being run, which failed and why, also after a suite that had to be ended.
Each line is a JSON document.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest  # the runner, which has no use for it, reads diaries too

MESSAGE_LINES = 12


@dataclass(frozen=True)
class Entry:
    """One step of one test. `phase`: begin, setup, call, teardown, or collect (then `test` is a file); or `progress`
    within a long call.

    `outcome` is passed, failed or skipped; `message` is the first lines of why.
    """

    test: str
    phase: str
    outcome: str = "passed"
    message: str = ""


class Diary:
    """Writes entries as pytest goes on; each stands in the file at once."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def write(self, entry: Entry) -> None:
        self._file.write(json.dumps(asdict(entry)) + "\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(Entry(nodeid, "begin"))

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        self.write(Entry(report.nodeid, report.when, report.outcome, _message(report)))

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        if not report.passed:
            self.write(Entry(report.nodeid, "collect", report.outcome, _message(report)))

    def pytest_unconfigure(self) -> None:
        self._file.close()


_kept: list[Diary] = []


def progress(what: str) -> None:
    """A long test gets on: it is not mute. Outside of `make test` this does nothing."""
    for diary in _kept:
        diary.write(Entry(os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0], "progress", message=what))


def read(path: Path) -> list[Entry]:
    """Every entry so far; nothing where no test has begun. A last line that was cut is left out."""
    if not path.exists():
        return []
    whole, _, _cut = path.read_text(encoding="utf-8").rpartition("\n")
    return [Entry(**json.loads(line)) for line in whole.splitlines()]


def _message(report: "pytest.TestReport | pytest.CollectReport") -> str:
    """Why a test failed or was skipped, in its first lines."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):  # of a skipped test: file, line, reason
        text = str(report.longrepr[2])
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash is not None else report.longreprtext
    return "\n".join(text.splitlines()[:MESSAGE_LINES])


def pytest_addoption(parser: "pytest.Parser") -> None:
    parser.addoption("--diary", type=Path, help="a file to which every test's steps are written")


def pytest_configure(config: "pytest.Config") -> None:
    path = config.getoption("--diary")
    if path is not None:
        _kept.append(Diary(path))
        config.pluginmanager.register(_kept[0])
