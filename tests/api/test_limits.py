"""A real functions-framework process refuses requests that are too large before it reads them."""

import contextlib
import json
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from deploy.parts.layout import LOOPBACK
from functions.api.limits import BODY_LIMIT, PUBLIC_BODY_LIMIT
from tests.api.function_process import UPLOAD_LIMIT, FunctionProcess, ask


def memory_of(pid: int) -> int:
    """The largest resident set of any process of the group, in bytes."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True)
    pids = [pid, *map(int, children.stdout.split())]
    fields = [Path(f"/proc/{one}/status").read_text().split("VmHWM:")[1].split()[0] for one in pids]
    return max(map(int, fields)) * 1024


@pytest.mark.parametrize(
    ("path", "limit"), [("/probe/echo", PUBLIC_BODY_LIMIT), ("/probe/none", BODY_LIMIT), ("/favicon.ico", BODY_LIMIT)]
)
def test_a_declared_length_beyond_the_limit_is_refused_and_the_connection_closed(
    probe_process: FunctionProcess, path: str, limit: int
) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAccept-Language: ja\r\nContent-Length: {limit + 1}\r\n\r\n"

    answer = probe_process.raw(head.encode())  # until the server closes; no body was sent

    assert answer.startswith(b"HTTP/1.1 413")
    assert b"Connection: close" in answer
    document = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (document["code"], document["limit_bytes"]) == ("too_large", limit)
    assert document["detail"] == f"リクエストは{limit:,}バイトまでです。"


@pytest.mark.parametrize("length", ["-1", "+5", "1e3", "99999999999999999999999", "0x10", "5,5"])
def test_a_length_that_is_no_sound_number_is_refused(probe_process: FunctionProcess, length: str) -> None:
    answer = probe_process.raw(f"POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode())

    assert answer.split(b" ")[1] in {b"400", b"413"}


def test_a_body_of_unknown_length_ends_at_the_limit(probe_process: FunctionProcess) -> None:
    size = UPLOAD_LIMIT + 1024 * 1024 + 10_000
    parts = [b"%x\r\n%s\r\n" % (10_000, bytes(10_000))] * (size // 10_000 + 1) + [b"0\r\n\r\n"]
    head = b"POST /probe/count HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"

    answer = probe_process.raw(head + b"".join(parts))

    assert answer.startswith(b"HTTP/1.1 413")
    assert b'"code":"too_large"' in answer


def test_uploads_may_be_as_large_as_the_setting_says(probe_process: FunctionProcess) -> None:
    answer = ask(probe_process, "POST", "/probe/count", data=bytes(UPLOAD_LIMIT))

    assert answer.json()["got"] == UPLOAD_LIMIT


def test_a_body_that_nobody_reads_is_not_gathered_in_memory(function: FunctionProcess) -> None:
    before = memory_of(function.pid)
    head = b"POST /api/event-media HTTP/1.1\r\nHost: x\r\nContent-Length: 3900000\r\n\r\n"

    answers = [read_while_sending(function, head) for _ in range(20)]  # 78 MB, all without credentials

    assert all(answer.startswith(b"HTTP/1.1 401") for answer in answers)
    assert memory_of(function.pid) - before < 20_000_000


def read_while_sending(process: FunctionProcess, head: bytes) -> bytes:
    """The answer to a request whose body is still being sent; the server may close the connection early."""
    with socket.create_connection((LOOPBACK, process.port), 10) as connection:
        connection.sendall(head + bytes(60_000))
        answer = connection.recv(65_536)
        with contextlib.suppress(OSError):
            connection.sendall(bytes(3_840_000))
        return answer


def test_an_address_too_long_is_a_414(probe_process: FunctionProcess) -> None:
    for size in (9_000, 100_000):
        answer = probe_process.raw(b"GET /probe/address?x=" + b"a" * size + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 414")


def test_the_connection_serves_the_next_request_after_an_unread_body(probe_process: FunctionProcess) -> None:
    with requests.Session() as session:
        for _ in range(3):
            first = session.post(probe_process.url + "/probe/unread", data=bytes(50_000), timeout=60)
            second = session.get(probe_process.url + "/probe/address", timeout=60)
            assert (first.status_code, second.status_code) == (202, 200)


def test_stalled_connections_do_not_stop_the_others(probe_process: FunctionProcess) -> None:
    half = b"POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    stalled = [socket.create_connection((LOOPBACK, probe_process.port), 10) for _ in range(12)]
    try:
        for connection in stalled:
            connection.sendall(half)
        assert ask(probe_process, "GET", "/probe/address").status_code == 200
        assert not any(was_answered(connection) for connection in stalled)  # they were open all the time
    finally:
        for connection in stalled:
            connection.close()


def was_answered(connection: socket.socket) -> bool:
    """Whether the server answered or closed the connection."""
    connection.setblocking(False)
    try:
        connection.recv(1)
    except BlockingIOError:
        return False
    return True


def test_many_requests_at_once_each_get_their_own_answer(probe_process: FunctionProcess) -> None:
    def echo(number: int) -> bool:
        answer = ask(probe_process, "POST", "/probe/echo", json={"text": str(number)})
        return bool(answer.json()["got"]["text"] == str(number))

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(echo, range(200)))
