"""The runner of `make test`: a suite is not judged by how long it takes, and leaves no process behind."""

import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from tests import diary, run
from tests.local.test_processes import TAG
from tests.stack import eventually

MUTE: Final = "MUTE_SECONDS"
SUITES: Final = {
    "broken": """
import os, pytest, time
from tests.diary import progress
@pytest.fixture
def torn():
    yield
    raise OSError("its end was bad")
def test_what_is_wrong():
    assert "this" == "that"
def test_with_a_bad_end(torn): pass
@pytest.mark.skip(reason="not today")
def test_another_day(): pass
def test_that_gets_on_for_longer_than_a_suite_may_be_mute():
    for second in range(int(os.environ["MUTE_SECONDS"]) + 5):
        time.sleep(1)
        progress(f"{second} s")
""",
    "unreadable": "import nothing_of_this_name\n",
    "barren": "",
    "careless": """
import os
def test_that_leaves_a_process(): os.posix_spawnp("sleep", ["sleep", "987"], os.environ)
""",
    "dying": """
import os, signal, subprocess
def test_that_ends_pytest():
    subprocess.Popen(["sleep", "985"], start_new_session=True)
    os.kill(os.getpid(), signal.SIGKILL)
""",
    "forsaken": """
import os, signal, subprocess, threading
def test_that_ends_what_watches_it():
    subprocess.Popen(["sleep", "984"], start_new_session=True)
    os.kill(os.getppid(), signal.SIGKILL)
    threading.Event().wait()
""",
    "mute": """
import pathlib, subprocess, threading
def test_of_before(): pass
def test_that_hangs():
    subprocess.Popen(["sleep", "986"], start_new_session=True)
    pathlib.Path(__file__).with_name("hangs").touch()
    threading.Event().wait()
""",
}
LONGER_AND_LONGER: Final = (10, 40, 160)
"""How many seconds a suite may be mute here. On a very slow machine the first are over before a test has begun."""


@dataclass(frozen=True)
class Ended:
    """What a run of the runner said, its exit code, and what it left behind."""

    said: str
    code: int
    left: dict[int, str]


@contextmanager
def run_of(folder: Path, *names: str, mute_seconds: int = 600) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the runner with these suites; also return the mark that every process below it carries."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / f"test_{name}.py").write_text(SUITES[name])
    tag = uuid.uuid4().hex
    command = ["env", "--default-signal=HUP", sys.executable, "-m", "tests.run"]  # nohup would leave it ignored
    command += ["--folder", str(folder), "--mute-seconds", str(mute_seconds)]
    environment = {**os.environ, TAG: tag, MUTE: str(mute_seconds)}
    process = subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        try:
            yield process, tag
        finally:
            process.terminate()


def marked(tag: str) -> dict[int, str]:
    """Return each living process with the mark, and its command line."""
    found = {}
    for pid in guardian.parents():
        try:
            if f"{TAG}={tag}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found[pid] = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """One run of all suites, which the tests below judge."""
    for mute_seconds in LONGER_AND_LONGER:
        diary.progress(f"a run in which a suite may be mute for {mute_seconds} s")
        with run_of(tmp_path_factory.mktemp("suites"), *SUITES, mute_seconds=mute_seconds) as (process, tag):
            said, _ = process.communicate()
            left = marked(tag)
        if all("test_that_hangs (call)" in line for line in re.findall(r"FAILED \w+: mute .*", said)):
            break
    return Ended(said, process.returncode, left)


def test_each_failure_is_named_again_at_the_end_and_the_last_line_counts(ended: Ended) -> None:
    at_the_end = ended.said.partition("\nsuite ")[2]

    assert ended.code == 1
    assert ended.said.splitlines()[-1] == "3 passed, 9 failed"
    assert re.search(r"FAILED in broken: .*test_what_is_wrong\n    AssertionError: assert 'this' == 'that'", at_the_end)
    assert re.search(r"FAILED in broken: .*test_with_a_bad_end\n    OSError: its end was bad", at_the_end)
    assert re.search(r"FAILED in unreadable: .*\n(    .*\n)*    .*No module named 'nothing_of_this_name'", at_the_end)
    assert "FAILED barren: no test ran, pytest ended with exit code 5" in at_the_end
    assert re.search(r"skipped in broken: .*test_another_day\n    Skipped: not today", at_the_end)


def test_a_mute_suite_is_ended_with_where_it_was(ended: Ended) -> None:
    assert re.search(r"FAILED mute: mute for \d+ s and ended in .*test_that_hangs \(call\)", ended.said)
    assert re.search(r"File .*test_mute.py\", line \d+ in test_that_hangs", ended.said)
    assert "FAILED mute: no test ran" not in ended.said


def test_a_long_test_that_gets_on_is_not_mute(ended: Ended) -> None:
    assert re.search(r" broken ends: 1 passed, 2 failed, ", ended.said)


def test_a_process_that_a_suite_leaves_behind_is_a_failure(ended: Ended) -> None:
    assert "FAILED careless: left a process behind: sleep 987" in ended.said
    assert " careless ends: 1 passed, 1 failed, " in ended.said


def test_a_suite_whose_process_is_killed_is_a_failure(ended: Ended) -> None:
    assert re.search(r"FAILED dying: pytest was ended by signal 9 in .*test_that_ends_pytest \(call\)", ended.said)
    assert "FAILED dying: left a process behind: sleep 985" in ended.said
    assert "FAILED forsaken: its runner died" in ended.said


def test_nothing_stays_of_a_suite_whatever_way_it_ends(ended: Ended) -> None:
    """Of the mute, the careless, and those whose pytest or runner was killed, processes in other sessions, too."""
    assert ended.left == {}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_runner_that_is_ended_takes_everything_with_it(tmp_path: Path, number: signal.Signals) -> None:
    with run_of(tmp_path, "mute") as (process, tag):
        eventually((tmp_path / "mute" / "hangs").exists, "the test that hangs", 240)
        process.send_signal(number)

        eventually(lambda: not marked(tag), "the end of all", 240)
        assert process.wait() == (-9 if number == signal.SIGKILL else 128 + number)


@pytest.mark.parametrize("number", guardian.FORWARDED)
def test_each_signal_that_stops_programs_stops_the_runner_in_order(number: signal.Signals) -> None:
    program = """
import threading
from tests.suite import end_on_signals
end_on_signals()
try:
    print("begun", flush=True)
    threading.Event().wait()
finally:
    print("tidied up")
"""
    command = ["env", "--default-signal=HUP", sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)

        assert process.stdout.read() == "tidied up\n"
    assert process.returncode == 128 + number


# --- which suites run, and when ---


def test_each_file_of_tests_is_in_one_suite_and_the_longest_suite_begins_first() -> None:
    suites = run.suites_in(REPOSITORY / "tests")
    files = [
        file
        for places in suites.values()
        for place in places
        for file in (place.glob("test_*.py") if place.is_dir() else [place])
    ]
    lengths = [run.usually(suite).processor_seconds / run.usually(suite).cores for suite in suites]

    assert {"stores/1", "stores/2", "api/1", "api/2", "browser/1", "browser/2", "machines"} <= set(suites)
    assert sorted(files) == sorted((REPOSITORY / "tests").glob("*/test_*.py"))
    assert lengths[0] == max(lengths)
    assert {suite.partition("/")[0] for suite in suites} == set(run.USUAL)


def test_a_suite_with_a_command_of_its_own_runs_only_when_it_is_asked_for() -> None:
    suites = {name: [Path(name)] for name in ("rules", "stores/1", "stores/2", *run.LEFT_OUT)}

    assert list(run.chosen(suites, [])) == ["rules", "stores/1", "stores/2"]
    assert list(run.chosen(suites, ["machines"])) == ["machines"]
    assert list(run.chosen(suites, ["stores"])) == ["stores/1", "stores/2"]


@pytest.mark.parametrize(
    ("running", "cores", "may"),
    [
        ([], 1, True),
        (["bridge"], 1, True),
        (["browser/1", "bridge"], 1, False),
        (["browser/1"], 2, True),
        (["browser/1", "bridge"], 2, True),
        (["browser/1", "browser/2", "stores/1"], 2, False),
        (["stores/1", "stores/2", "api/1"], 2, False),
        (["stores/1", "stores/2", "browser/1"], 4, True),
    ],
)
def test_a_suite_begins_when_the_running_ones_leave_half_a_core(running: list[str], cores: int, may: bool) -> None:
    assert run.may_begin(running, cores) is may
