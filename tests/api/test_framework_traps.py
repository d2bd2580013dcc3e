"""Traps of the framework: a bare function falls into each, and the product's function does not."""

import contextlib
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import requests

from deploy.parts.layout import LOOPBACK
from tests.api.function_process import ENVIRONMENT, FunctionProcess, ask, function_process

STALLS = 4
SHORT_SECONDS, LONG_SECONDS = 1.5, 60.0  # seconds to wait: for the function that will not answer, and for ours
HALF = b"POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FunctionProcess]:
    """A process without our frame, with the framework's default threads for one core."""
    few = {**ENVIRONMENT, "THREADS": str(STALLS)}
    with function_process("tests/api/bare_function.py", few, tmp_path_factory.mktemp("bare")) as running:
        yield running


def breaks_without_a_problem_document(process: FunctionProcess) -> bool:
    """Whether the framework's own handler answers an unforeseen error, without a request id."""
    answer = ask(process, "GET", "/probe/boom")
    assert answer.status_code == 500
    return answer.headers["Content-Type"] != "application/problem+json"


def waits_for_a_body_it_will_refuse(process: FunctionProcess, patience: float) -> bool:
    """Whether a caller who announced 600 MB and has sent nothing gets no answer."""
    with socket.create_connection((LOOPBACK, process.port), patience) as connection:
        connection.sendall(b"POST /anything HTTP/1.1\r\nHost: x\r\nContent-Length: 600000000\r\n\r\n")
        try:
            return connection.recv(16) == b""
        except TimeoutError:
            return True


def takes_a_request_line_without_an_end(process: FunctionProcess, patience: float) -> bool:
    """Whether a caller with an endless request line gets no answer."""
    with socket.create_connection((LOOPBACK, process.port), patience) as connection:
        connection.sendall(b"GET /" + b"a" * 100_000)
        try:
            return not connection.recv(65_536).startswith(b"HTTP/1.1 414 ")
        except TimeoutError:
            return True


def is_stopped_by_stalled_callers(process: FunctionProcess, patience: float) -> bool:
    """Whether a few callers with unfinished requests keep everybody else from getting an answer."""
    with ExitStack() as callers:
        for _ in range(STALLS):
            connection = callers.enter_context(socket.create_connection((LOOPBACK, process.port), LONG_SECONDS))
            connection.sendall(HALF)
        with contextlib.suppress(requests.Timeout):
            requests.get(process.url + "/probe/address", timeout=patience)
            return False
        return True


def test_an_unforeseen_error_is_answered_by_our_handler(bare: FunctionProcess, probe_process: FunctionProcess) -> None:
    assert breaks_without_a_problem_document(bare)
    assert not breaks_without_a_problem_document(probe_process)


def test_a_body_is_refused_before_it_is_read(bare: FunctionProcess, probe_process: FunctionProcess) -> None:
    assert waits_for_a_body_it_will_refuse(bare, SHORT_SECONDS)
    assert not waits_for_a_body_it_will_refuse(probe_process, LONG_SECONDS)


def test_a_request_line_ends_somewhere(bare: FunctionProcess, function: FunctionProcess) -> None:
    assert takes_a_request_line_without_an_end(bare, SHORT_SECONDS)
    assert not takes_a_request_line_without_an_end(function, LONG_SECONDS)


def test_a_few_stalled_callers_do_not_stop_the_others(bare: FunctionProcess, probe_process: FunctionProcess) -> None:
    assert is_stopped_by_stalled_callers(bare, SHORT_SECONDS)
    assert not is_stopped_by_stalled_callers(probe_process, LONG_SECONDS)
