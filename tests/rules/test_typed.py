"""Values as types: many threads that meet a new type at once."""

import subprocess
import sys

import msgspec
import pytest

from deploy.parts.layout import REPOSITORY
from shared import typed

MEET_NEW_TYPES = """
import sys, threading
from msgspec import defstruct
from shared import typed

sys.setswitchinterval(1e-6)
WORKERS = 8
for number in range(150):
    inner = defstruct(f"Inner{number}", [("a", int), ("b", str | None), ("c", list[int])])
    row = defstruct(f"Row{number}", [("x", int), ("y", inner | None), ("z", dict[str, int] | None)])
    value = [{"x": 1, "y": {"a": 1, "b": None, "c": [1]}, "z": {"q": 2}}]
    gate, read = threading.Barrier(WORKERS), []

    def meet():
        gate.wait()
        read.append(typed.convert(value, list[row])[0].y.a)

    threads = [threading.Thread(target=meet) for _ in range(WORKERS)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert read == [1] * WORKERS, read
"""


def test_many_threads_may_meet_a_new_type_at_once() -> None:
    """In a process of its own, which msgspec alone ends by a signal."""
    done = subprocess.run([sys.executable, "-c", MEET_NEW_TYPES], cwd=REPOSITORY, capture_output=True, check=False)

    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        typed.convert(["1"], list[int])
    with pytest.raises(msgspec.DecodeError):
        typed.decode("[1", list[int])

    assert typed.convert(["1"], list[int], strict=False) == [1]
    assert typed.decode("[1]", list[int]) == [1]
