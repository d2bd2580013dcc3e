"""The runner of `make test`: a suite is not judged by how long it takes, and leaves no process behind."""

import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from tests.local.test_processes import TAG
from tests.stack import eventually

SUITES = {
    "whole": "def test_one(): pass\n",
    "broken": """
import pytest
@pytest.fixture
def torn():
    yield
    raise OSError("its end was bad")
def test_what_is_wrong():
    assert "this" == "that"
def test_with_a_bad_end(torn): pass
@pytest.mark.skip(reason="not today")
def test_another_day(): pass
""",
    "unreadable": "import nothing_of_this_name\n",
    "barren": "",
    "careless": """
import os
def test_that_leaves_a_process(): os.posix_spawnp("sleep", ["sleep", "987"], os.environ)
""",
    "dying": """
import os, signal
def test_that_ends_pytest(): os.kill(os.getpid(), signal.SIGKILL)
""",
    "long": """
import time
from tests.diary import progress
def test_that_gets_on():
    for second in range(15):
        time.sleep(1)
        progress(f"{second} s")
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


@contextmanager
def run_of(folder: Path, *names: str, mute_seconds: float = 600) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the runner with these suites; also return the mark that every process below it carries."""
    for name in names:
        (folder / name).mkdir()
        (folder / name / f"test_{name}.py").write_text(SUITES[name])
    tag = uuid.uuid4().hex
    command = ["env", "--default-signal=HUP", sys.executable, "-m", "tests.run"]  # nohup would leave it ignored
    command += ["--folder", str(folder), "--mute-seconds", str(mute_seconds)]
    process = subprocess.Popen(
        command, cwd=REPOSITORY, env={**os.environ, TAG: tag}, stdout=subprocess.PIPE, text=True, start_new_session=True
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


def test_each_failure_is_named_again_at_the_end_and_the_last_line_counts(tmp_path: Path) -> None:
    with run_of(tmp_path, "whole", "broken", "unreadable", "barren", "dying") as (process, _tag):
        said, _ = process.communicate()

    at_the_end = said.partition("usually")[2]
    assert process.returncode == 1
    assert said.splitlines()[-1] == "1 passed, 5 failed"
    assert re.search(r"FAILED in broken: .*test_what_is_wrong\n    AssertionError: assert 'this' == 'that'", at_the_end)
    assert re.search(r"FAILED in broken: .*test_with_a_bad_end\n    OSError: its end was bad", at_the_end)
    assert re.search(r"FAILED in unreadable: .*\n(    .*\n)*    .*No module named 'nothing_of_this_name'", at_the_end)
    assert "FAILED barren: no test ran, pytest ended with exit code 5" in at_the_end
    assert re.search(r"FAILED dying: pytest was ended by signal 9 in .*test_that_ends_pytest \(call\)", at_the_end)
    assert re.search(r"skipped in broken: .*test_another_day\n    Skipped: not today", at_the_end)


def test_a_mute_suite_is_ended_with_where_it_was_and_nothing_of_it_stays(tmp_path: Path) -> None:
    with run_of(tmp_path, "mute", mute_seconds=10) as (process, tag):
        said, _ = process.communicate()

    assert re.search(r"FAILED mute: mute for 10 s and ended in .*test_that_hangs \(call\)", said)
    assert re.search(r"File .*test_mute.py\", line \d+ in test_that_hangs", said)
    assert "no test ran" not in said
    assert said.splitlines()[-1] == "1 passed, 1 failed"
    assert marked(tag) == {}


def test_a_long_test_that_gets_on_is_not_mute(tmp_path: Path) -> None:
    with run_of(tmp_path, "long", mute_seconds=10) as (process, _tag):
        said, _ = process.communicate()

    assert said.splitlines()[-1] == "1 passed, 0 failed"


def test_a_process_that_a_suite_leaves_behind_is_a_failure_and_is_ended(tmp_path: Path) -> None:
    with run_of(tmp_path, "careless", mute_seconds=10) as (process, tag):
        said, _ = process.communicate()

    assert "FAILED careless: left a process behind: sleep 987" in said
    assert said.splitlines()[-1] == "1 passed, 1 failed"
    assert marked(tag) == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_runner_that_is_ended_takes_everything_with_it(tmp_path: Path, number: signal.Signals) -> None:
    with run_of(tmp_path, "mute") as (process, tag):
        eventually((tmp_path / "mute" / "hangs").exists, "the test that hangs", 120)
        process.send_signal(number)

        eventually(lambda: not marked(tag), "the end of all", 60)
        assert process.wait() == (-9 if number == signal.SIGKILL else 128 + number)


@pytest.mark.parametrize("which", ["--alone", "-m pytest"])
def test_a_suite_whose_process_is_killed_is_a_failure_and_leaves_nothing(tmp_path: Path, which: str) -> None:
    with run_of(tmp_path, "mute") as (process, tag):
        eventually((tmp_path / "mute" / "hangs").exists, "the test that hangs", 120)
        (pid,) = [pid for pid, command in marked(tag).items() if which in command]
        os.kill(pid, signal.SIGKILL)
        said, _ = process.communicate()

    assert process.returncode == 1
    assert "FAILED mute: " in said
    assert marked(tag) == {}
