"""A port that one process was given is given to no other one, also before anybody listens on it."""

import subprocess
import sys

import pytest

from deploy.parts import probes

OTHER = """
import sys
from deploy.parts.probes import free_port
print(free_port(), flush=True)
sys.stdin.read()
"""


def test_a_port_that_another_process_was_given_is_not_given_until_that_process_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = subprocess.Popen([sys.executable, "-c", OTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    port = int(other.stdout.readline())
    monkeypatch.setattr(probes, "CHOSEN_PORTS", (port, port + 1))
    with pytest.raises(OSError, match="none of 100 ports"):
        probes.free_port()
    other.communicate("")
    assert probes.free_port() == port


def test_a_process_is_given_each_port_once(monkeypatch: pytest.MonkeyPatch) -> None:
    port = probes.free_port()
    monkeypatch.setattr(probes, "CHOSEN_PORTS", (port, port + 1))
    with pytest.raises(OSError, match="none of 100 ports"):
        probes.free_port()
