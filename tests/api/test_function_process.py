"""The app in a real functions-framework process, checked byte by byte by means of the probe routes."""

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
import requests

from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import wait_until
from shared.access.rules import compose_token
from tests.api import probe_routes
from tests.api.function_process import ENVIRONMENT, FunctionProcess, ask, problem

# --- the shipped function ---

STRONG = {"DATABASE_URL": "postgresql://signage:0f8fad5bd9cb469fa165@127.0.0.1:9/signage"}


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


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/favicon.ico", (404, "not_found")),
        ("GET", "/api/clients/%0A/recovery", (404, "not_found")),  # a line break matches no route
        ("TRACE", "/api/health/live", (405, "method_not_allowed")),
        ("QUERY", "/api/health/live", (405, "method_not_allowed")),
    ],
)
def test_what_the_framework_refuses_by_itself_is_a_problem_document_of_ours(
    function: FunctionProcess, method: str, path: str, expected: tuple[int, str]
) -> None:
    answer = ask(function, method, path)

    assert problem(answer) == expected
    assert answer.headers["X-Request-Id"]


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
        ({"DEPLOYMENT_MODE": "box", **STRONG, "MQTT_PASSWORD": "changeme"}, "MQTT_PASSWORD"),
        ({"DEPLOYMENT_MODE": "cloud", **STRONG}, "MQTT_URL"),
        ({"DEPLOYMENT_MODE": "somewhere"}, "DEPLOYMENT_MODE"),
    ],
)
def test_a_function_that_must_not_run_so_names_the_variable_and_ends(changed: dict[str, str], named: str) -> None:
    assert refused_start("api", changed) == named


@pytest.mark.parametrize(
    ("function", "changed", "named"),
    [
        ("convert_worker", {"HOST": "0.0.0.0"}, "HOST"),
        ("scheduler_tick", {"DEPLOYMENT_MODE": "cloud", **STRONG}, "MQTT_URL"),
    ],
)
def test_so_do_the_others(function: str, changed: dict[str, str], named: str) -> None:
    accounts = {"SCHEDULER_SERVICE_ACCOUNT": "scheduler@signage.test"}

    assert refused_start(function, {**accounts, **changed}) == named


def refused_start(function: str, changed: dict[str, str]) -> str:
    """Start a function with a bad setting. Returns the setting that its refusal names."""
    source = f"functions/{function}/main.py"
    code = f"import functions_framework; functions_framework.create_app({function!r}, {source!r})"
    environment = {**ENVIRONMENT, "HOST": LOOPBACK, "PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", **changed}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )

    assert ended.returncode != 0
    said = re.findall(r"ConfigurationError: (\w+)", ended.stderr)
    return str(said[-1]) if said else ended.stderr


# --- the frame, by the probe routes ---


def test_errors_keep_their_form(probe_process: FunctionProcess) -> None:
    assert problem(ask(probe_process, "GET", "/probe/none")) == (404, "not_found")
    wrong_method = ask(probe_process, "PUT", "/probe/address")
    assert problem(wrong_method) == (405, "method_not_allowed")
    assert set(wrong_method.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}
    assert problem(ask(probe_process, "GET", "/probe/locked")) == (409, "locked_out")
    assert problem(
        ask(probe_process, "POST", "/probe/echo", data="{", headers={"Content-Type": "application/json"})
    ) == (
        400,
        "malformed_json",
    )


def test_an_unforeseen_error_tells_its_text_to_the_log_only(probe_process: FunctionProcess) -> None:
    answer = ask(probe_process, "GET", "/probe/boom")

    assert problem(answer) == (500, "internal_error")
    assert probe_routes.SECRET not in answer.text + str(answer.headers)
    wait_until(lambda: probe_routes.SECRET in probe_process.log.read_text(), 60)
    assert answer.json()["request_id"] in probe_process.log.read_text()


def test_an_answer_that_breaks_in_the_middle_tells_nothing_and_the_next_is_whole(
    probe_process: FunctionProcess,
) -> None:
    answer = probe_process.raw(b"GET /probe/torn HTTP/1.1\r\nHost: x\r\n\r\n")

    assert b"begun" in answer
    assert probe_routes.SECRET.encode() not in answer
    assert not answer.endswith(b"0\r\n\r\n")  # the reader can see that the answer is incomplete
    assert ask(probe_process, "GET", "/probe/address").status_code == 200


def test_head_has_the_headers_and_no_body(probe_process: FunctionProcess) -> None:
    answer = ask(probe_process, "HEAD", "/probe/file")

    assert answer.status_code == 200
    assert answer.headers["Content-Length"] == str(len(probe_routes.FILE))
    assert answer.content == b""


def test_options_lists_the_methods(probe_process: FunctionProcess) -> None:
    answer = ask(probe_process, "OPTIONS", "/probe/echo")

    assert answer.status_code == 200
    assert set(answer.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


@pytest.mark.parametrize(
    ("wanted", "status", "part"),
    [
        ("bytes=0-9", 206, probe_routes.FILE[:10]),
        ("bytes=-5", 206, probe_routes.FILE[-5:]),
        ("bytes=4090-", 206, probe_routes.FILE[4090:]),
        ("bytes=99999-", 416, None),
        ("bytes=0-1,5-6", 200, probe_routes.FILE),  # several ranges: the whole file is a valid answer
        ("pages=1-2", 200, probe_routes.FILE),
        ("nonsense", 200, probe_routes.FILE),
    ],
)
def test_a_file_is_had_in_parts(probe_process: FunctionProcess, wanted: str, status: int, part: bytes | None) -> None:
    answer = ask(probe_process, "GET", "/probe/file", headers={"Range": wanted})

    assert answer.status_code == status
    if part is None:
        assert problem(answer) == (416, "range_not_satisfiable")
        assert answer.headers["Content-Range"] == f"bytes */{len(probe_routes.FILE)}"
    else:
        assert answer.content == part


def test_a_file_that_one_has_already_is_not_sent_again(probe_process: FunctionProcess) -> None:
    etag = ask(probe_process, "GET", "/probe/file").headers["ETag"]

    answer = ask(probe_process, "GET", "/probe/file", headers={"If-None-Match": etag})

    assert (answer.status_code, answer.content) == (304, b"")


def test_a_streamed_answer_arrives_in_pieces_and_is_followed_by_its_end(probe_process: FunctionProcess) -> None:
    with requests.get(probe_process.url + "/probe/stream", stream=True, timeout=60) as answer:
        assert answer.headers["Transfer-Encoding"] == "chunked"
        text = b"".join(answer.iter_content(None)).decode()

    assert text.split() == [str(number) for number in range(probe_routes.CHUNKS)]
    wait_until(lambda: "stream" in ask(probe_process, "GET", "/probe/torn-down").json()["got"], 60)


def test_an_upload_by_multipart_arrives_whole(probe_process: FunctionProcess) -> None:
    content = bytes(1_000_000)

    answer = ask(probe_process, "POST", "/probe/multipart", files={"file": ("deck.pptx", io.BytesIO(content))})

    assert answer.json()["got"] == ["deck.pptx", len(content)]


def chunked(size: int) -> Iterator[bytes]:
    for _ in range(size // 10_000):
        yield bytes(10_000)


def test_a_body_of_unknown_length_arrives_whole(probe_process: FunctionProcess) -> None:
    answer = ask(probe_process, "POST", "/probe/count", data=chunked(2_000_000))

    assert answer.json()["got"] == 2_000_000


def test_a_cold_start_does_not_pay_for_what_it_does_not_use() -> None:
    heavy = (
        "grpc",
        "google.cloud.tasks_v2",
        "google.api_core",
        "argon2",
        "paho",
        "pypdfium2",
        "alembic",
        "requests",
        "jwt",
    )
    code = f"import sys, functions.api.app; print([name for name in {heavy!r} if name in sys.modules])"

    printed = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert printed.stdout.strip() == "[]"
