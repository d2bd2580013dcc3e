"""The probes: what our app does inside a real functions-framework process, byte for byte."""

import contextlib
import io
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from deploy.local.layout import LOOPBACK, REPOSITORY
from deploy.local.probes import wait_until
from functions.api.limits import BODY_LIMIT
from shared.access.rules import compose_token
from tests.api import probe_routes
from tests.api.function_process import FunctionProcess, function_process

UPLOAD_LIMIT = 3_000_000
ENVIRONMENT = {
    "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:9/none",
    "MQTT_USERNAME": "api",
    "MQTT_PASSWORD": "no-broker-in-this-test",
    "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
    "UPLOAD_LIMIT_BYTES": str(UPLOAD_LIMIT),
}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FunctionProcess]:
    """A process with the probe routes."""
    with function_process("tests/api/probe_function.py", ENVIRONMENT, tmp_path_factory.mktemp("probe")) as running:
        yield running


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FunctionProcess]:
    """The shipped function."""
    with function_process("functions/api/main.py", ENVIRONMENT, tmp_path_factory.mktemp("api")) as running:
        yield running


def ask(process: FunctionProcess, method: str, path: str, **options: Any) -> requests.Response:
    return requests.request(method, process.url + path, timeout=20, **options)


def problem(answer: requests.Response) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


def memory_of(pid: int) -> int:
    """The most resident bytes that any process of the group ever had."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True)
    pids = [pid, *map(int, children.stdout.split())]
    fields = [Path(f"/proc/{one}/status").read_text().split("VmHWM:")[1].split()[0] for one in pids]
    return max(map(int, fields)) * 1024


# --- the shipped function ---


def test_the_shipped_function_answers_and_is_closed(function: FunctionProcess) -> None:
    assert ask(function, "GET", "/api/health/live").json() == {"status": "ok"}
    assert problem(ask(function, "GET", "/api/clients")) == (401, "unauthenticated")
    assert problem(ask(function, "GET", "/api/none")) == (404, "not_found")
    assert problem(ask(function, "DELETE", "/api/health/live")) == (405, "method_not_allowed")


def test_without_a_database_a_caller_is_told_to_come_back(function: FunctionProcess) -> None:
    token = compose_token("0" * 12, "0" * 64)
    answer = ask(function, "GET", "/api/clients", headers={"Authorization": f"Bearer {token}"})

    assert problem(answer) == (503, "database_unavailable")
    assert "nobody" not in answer.text


@pytest.mark.parametrize("path", ["/favicon.ico", "/robots.txt", "/", "/api", "/api/", "/index.html"])
def test_nothing_is_served_outside_the_api(function: FunctionProcess, path: str) -> None:
    assert ask(function, "GET", path).status_code == 404


def test_the_log_is_json_lines_without_credentials(function: FunctionProcess) -> None:
    ask(function, "GET", "/api/none?password=hunter2", headers={"Authorization": "Bearer hunter3"})

    lines = [json.loads(line) for line in function.log.read_text().splitlines()]
    assert any(line["event"] == "request" and line["status"] == 404 for line in lines)
    assert "hunter" not in function.log.read_text()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"DATABASE_URL": ""}, "DATABASE_URL"),
        ({"DATABASE_URL": "mysql://x/y"}, "DATABASE_URL"),
        ({"MQTT_PASSWORD": ""}, "MQTT_PASSWORD"),
        ({"TASKS_SERVICE_ACCOUNT": ""}, "TASKS_SERVICE_ACCOUNT"),
        ({"HOST": "0.0.0.0"}, "HOST"),
        ({"HOST": ""}, "HOST"),
        ({"DEPLOYMENT_MODE": "box", "HOST": "192.0.2.1"}, "HOST"),
        ({"DEPLOYMENT_MODE": "box", "MQTT_PASSWORD": "changeme"}, "MQTT_PASSWORD"),
        ({"DEPLOYMENT_MODE": "cloud"}, "MQTT_URL"),
        ({"DEPLOYMENT_MODE": "somewhere"}, "DEPLOYMENT_MODE"),
    ],
)
def test_a_function_that_must_not_run_so_names_the_variable_and_ends(changed: dict[str, str], named: str) -> None:
    code = "import os, functions_framework; functions_framework.create_app('api', 'functions/api/main.py')"
    environment = {**ENVIRONMENT, "HOST": LOOPBACK, "PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", **changed}

    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )

    assert ended.returncode != 0
    assert f"ConfigurationError: {named}" in ended.stderr


# --- the frame, by the probe routes ---


def test_errors_keep_their_form(probe: FunctionProcess) -> None:
    assert problem(ask(probe, "GET", "/probe/none")) == (404, "not_found")
    wrong_method = ask(probe, "PUT", "/probe/address")
    assert problem(wrong_method) == (405, "method_not_allowed")
    assert set(wrong_method.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}
    assert problem(ask(probe, "GET", "/probe/locked")) == (409, "locked_out")
    assert problem(ask(probe, "POST", "/probe/echo", data="{", headers={"Content-Type": "application/json"})) == (
        400,
        "malformed_json",
    )


def test_an_unforeseen_error_tells_its_text_to_the_log_only(probe: FunctionProcess) -> None:
    answer = ask(probe, "GET", "/probe/boom")

    assert problem(answer) == (500, "internal_error")
    assert probe_routes.SECRET not in answer.text + str(answer.headers)
    wait_until(lambda: probe_routes.SECRET in probe.log.read_text(), 5)
    assert answer.json()["request_id"] in probe.log.read_text()


def test_an_answer_that_breaks_in_the_middle_tells_nothing_and_the_next_is_whole(probe: FunctionProcess) -> None:
    answer = probe.raw(b"GET /probe/torn HTTP/1.1\r\nHost: x\r\n\r\n")

    assert b"begun" in answer
    assert probe_routes.SECRET.encode() not in answer
    assert not answer.endswith(b"0\r\n\r\n")  # the reader can tell that it is not whole
    assert ask(probe, "GET", "/probe/address").status_code == 200


def test_head_has_the_headers_and_no_body(probe: FunctionProcess) -> None:
    answer = ask(probe, "HEAD", "/probe/file")

    assert answer.status_code == 200
    assert answer.headers["Content-Length"] == str(len(probe_routes.FILE))
    assert answer.content == b""


def test_options_lists_the_methods(probe: FunctionProcess) -> None:
    answer = ask(probe, "OPTIONS", "/probe/echo")

    assert answer.status_code == 200
    assert set(answer.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


@pytest.mark.parametrize(
    ("wanted", "status", "part"),
    [
        ("bytes=0-9", 206, probe_routes.FILE[:10]),
        ("bytes=-5", 206, probe_routes.FILE[-5:]),
        ("bytes=4090-", 206, probe_routes.FILE[4090:]),
        ("bytes=99999-", 416, None),
        ("bytes=0-1,5-6", 200, probe_routes.FILE),  # several parts: the whole is a legal answer
        ("pages=1-2", 200, probe_routes.FILE),
        ("nonsense", 200, probe_routes.FILE),
    ],
)
def test_a_file_is_had_in_parts(probe: FunctionProcess, wanted: str, status: int, part: bytes | None) -> None:
    answer = ask(probe, "GET", "/probe/file", headers={"Range": wanted})

    assert answer.status_code == status
    if part is None:
        assert problem(answer) == (416, "range_not_satisfiable")
        assert answer.headers["Content-Range"] == f"bytes */{len(probe_routes.FILE)}"
    else:
        assert answer.content == part


def test_a_file_that_one_has_already_is_not_sent_again(probe: FunctionProcess) -> None:
    etag = ask(probe, "GET", "/probe/file").headers["ETag"]

    answer = ask(probe, "GET", "/probe/file", headers={"If-None-Match": etag})

    assert (answer.status_code, answer.content) == (304, b"")


def test_a_streamed_answer_arrives_in_pieces_and_is_followed_by_its_end(probe: FunctionProcess) -> None:
    with requests.get(probe.url + "/probe/stream", stream=True, timeout=10) as answer:
        assert answer.headers["Transfer-Encoding"] == "chunked"
        text = b"".join(answer.iter_content(None)).decode()

    assert text.split() == [str(number) for number in range(probe_routes.CHUNKS)]
    wait_until(lambda: "stream" in ask(probe, "GET", "/probe/torn-down").json()["got"], 5)


def test_an_upload_by_multipart_arrives_whole(probe: FunctionProcess) -> None:
    content = bytes(1_000_000)

    answer = ask(probe, "POST", "/probe/multipart", files={"file": ("deck.pptx", io.BytesIO(content))})

    assert answer.json()["got"] == ["deck.pptx", len(content)]


def chunked(size: int) -> Iterator[bytes]:
    for _ in range(size // 10_000):
        yield bytes(10_000)


def test_a_body_of_unknown_length_arrives_whole(probe: FunctionProcess) -> None:
    answer = ask(probe, "POST", "/probe/count", data=chunked(2_000_000))

    assert answer.json()["got"] == 2_000_000


# --- what is too large ---


def test_a_declared_length_beyond_the_limit_is_refused_before_any_of_it_and_the_connection_closed(
    probe: FunctionProcess,
) -> None:
    head = f"POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Length: {BODY_LIMIT + 1}\r\n\r\n"
    began = time.monotonic()

    answer = probe.raw(head.encode())  # returns when the connection is closed; none of the body was sent

    assert answer.startswith(b"HTTP/1.1 413")
    assert b"Connection: close" in answer
    document = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (document["code"], document["limit_bytes"]) == ("too_large", BODY_LIMIT)
    assert time.monotonic() - began < 8


@pytest.mark.parametrize("path", ["/probe/echo", "/probe/none", "/favicon.ico"])
def test_the_limit_holds_on_every_address(probe: FunctionProcess, path: str) -> None:
    answer = probe.raw(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 600000000\r\n\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("length", ["-1", "+5", "1e3", "99999999999999999999999", "0x10", "5,5"])
def test_a_length_that_is_no_sound_number_is_refused(probe: FunctionProcess, length: str) -> None:
    answer = probe.raw(f"POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode())

    assert answer.split(b" ")[1] in {b"400", b"413"}


def test_a_body_of_unknown_length_ends_at_the_limit(probe: FunctionProcess) -> None:
    size = UPLOAD_LIMIT + 1024 * 1024 + 10_000
    parts = [b"%x\r\n%s\r\n" % (10_000, bytes(10_000))] * (size // 10_000 + 1) + [b"0\r\n\r\n"]
    head = b"POST /probe/count HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"

    answer = probe.raw(head + b"".join(parts))

    assert answer.startswith(b"HTTP/1.1 413")
    assert b'"code":"too_large"' in answer


def test_uploads_may_be_as_large_as_the_setting_says(probe: FunctionProcess) -> None:
    answer = ask(probe, "POST", "/probe/count", data=bytes(UPLOAD_LIMIT))

    assert answer.json()["got"] == UPLOAD_LIMIT


def test_a_body_that_nobody_reads_is_not_gathered_in_memory(function: FunctionProcess) -> None:
    before = memory_of(function.pid)
    head = b"POST /api/event-media HTTP/1.1\r\nHost: x\r\nContent-Length: 3900000\r\n\r\n"

    answers = [read_while_sending(function, head) for _ in range(20)]  # 78 MB, all without credentials

    assert all(answer.startswith(b"HTTP/1.1 401") for answer in answers)
    assert memory_of(function.pid) - before < 20_000_000


def read_while_sending(process: FunctionProcess, head: bytes) -> bytes:
    """What is answered while a body is still on its way; the server may close before it has all."""
    with socket.create_connection((LOOPBACK, process.port), 10) as connection:
        connection.sendall(head + bytes(60_000))
        answer = connection.recv(65_536)
        with contextlib.suppress(OSError):
            connection.sendall(bytes(3_840_000))
        return answer


def test_an_address_too_long_is_a_414(probe: FunctionProcess) -> None:
    for size in (9_000, 100_000):
        answer = probe.raw(b"GET /probe/address?x=" + b"a" * size + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 414")


def test_the_connection_serves_the_next_request_after_an_unread_body(probe: FunctionProcess) -> None:
    with requests.Session() as session:
        for _ in range(3):
            first = session.post(probe.url + "/probe/unread", data=bytes(50_000), timeout=10)
            second = session.get(probe.url + "/probe/address", timeout=10)
            assert (first.status_code, second.status_code) == (202, 200)


def test_stalled_connections_do_not_stop_the_others(probe: FunctionProcess) -> None:
    half = b"POST /probe/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    stalled = [socket.create_connection((LOOPBACK, probe.port), 10) for _ in range(12)]
    try:
        for connection in stalled:
            connection.sendall(half)
        began = time.monotonic()
        assert ask(probe, "GET", "/probe/address").status_code == 200
        assert time.monotonic() - began < 5
    finally:
        for connection in stalled:
            connection.close()


def test_many_requests_at_once_each_get_their_own_answer(probe: FunctionProcess) -> None:
    def echo(number: int) -> bool:
        answer = ask(probe, "POST", "/probe/echo", json={"text": str(number)})
        return bool(answer.json()["got"]["text"] == str(number))

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(echo, range(200)))
