"""A pytest plugin that writes the steps of each test to a file: `pytest -p tests.diary --diary=FILE`.

The runner reads it to show the running test, and failed tests with their reasons, also of a suite that it ended.
Each line is a JSON document.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest  # not imported by the runner, which only reads diaries

FIRST_LINES = 4
LAST_LINES = 16


@dataclass(frozen=True)
class Entry:
    """One step of one test. `phase`: begin, setup, call, teardown, or collect (then `test` is a file); or `progress`
    within a long call.

    `outcome`: passed, failed or skipped; `message`: the reason, without the middle of a long one.
    """

    test: str
    phase: str
    outcome: str = "passed"
    message: str = ""


class Diary:
    """Writes each entry to the file at once."""

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
    """Note that a long test still works, so that the runner does not end it. Outside of `make test` do nothing."""
    for diary in _kept:
        diary.write(Entry(os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0], "progress", message=what))


def read(path: Path) -> list[Entry]:
    """All entries so far, without an incomplete last line."""
    if not path.exists():
        return []
    whole, _, _cut = path.read_text(encoding="utf-8").rpartition("\n")
    return [Entry(**json.loads(line)) for line in whole.splitlines()]


def _message(report: "pytest.TestReport | pytest.CollectReport") -> str:
    """The reason of a failed or skipped test; of a long one the first lines and the last, which often say the cause."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):  # of a skipped test: file, line, reason
        text = str(report.longrepr[2])
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash is not None else report.longreprtext
    lines = text.splitlines()
    if len(lines) > FIRST_LINES + LAST_LINES:
        lines[FIRST_LINES:-LAST_LINES] = ["[…]"]
    return "\n".join(lines)


def pytest_addoption(parser: "pytest.Parser") -> None:
    parser.addoption("--diary", type=Path, help="a file to which every test's steps are written")


def pytest_configure(config: "pytest.Config") -> None:
    path = config.getoption("--diary")
    if path is not None:
        _kept.append(Diary(path))
        config.pluginmanager.register(_kept[0])
