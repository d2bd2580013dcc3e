"""The nginx in front of the dashboard's files and the api function."""

import gzip
import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from deploy.parts import gateway as nginx
from deploy.parts.gateway import Gateway
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, wait_until
from functions import problems
from functions.api import limits
from shared.access.rules import sealed
from shared.errors import NotFound
from shared.words.reader import words_of


@dataclass
class Answer:
    """One HTTP answer."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        assert self.headers["Content-Type"].startswith("application/problem+json")
        document: dict[str, Any] = json.loads(self.body)
        assert document["status"] == self.status
        assert (
            document.keys() - {"limit_bytes", "retry_after_seconds"}
            == problems.document(NotFound(), "", words_of("en")).keys()
        )
        assert document["type"] == f"urn:signage:problem:{document['code']}"
        assert document["request_id"] == self.headers["X-Request-ID"]
        return document


def ask(
    gateway: Gateway,
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    source: tuple[str, int] | None = None,
) -> Answer:
    connection = http.client.HTTPConnection(LOOPBACK, gateway.port, timeout=60, source_address=source)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


class Upstream(BaseHTTPRequestHandler):
    """Stands in for the api function and answers with the request that it received."""

    protocol_version = "HTTP/1.1"
    arrived = threading.Semaphore(0)  # released once for each request whose headers have arrived

    def answer(self) -> None:
        Upstream.arrived.release()
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        said = {"path": self.path, "headers": dict(self.headers.items()), "bytes": len(body)}
        document = json.dumps(said).encode()
        self.send_response(418 if self.path == "/api/teapot" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Request-ID", "said by the upstream")
        self.send_header("Content-Length", str(len(document)))
        with suppress(ConnectionError):  # the gateway has closed this connection
            self.end_headers()
            self.wfile.write(document)

    do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815 - the names that http.server looks for

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dashboard")
    (folder / "index.html").write_text("<!doctype html><title>Fleet</title>")
    (folder / "app.js").write_text("export const one = 1;\n" * 100)
    (folder / "lib.mjs").write_text("export const two = 2;\n")
    (folder / "style.css").write_text("body { margin: 0 }\n")
    (folder / "package.json").write_text("{}")
    (folder / ".hidden").write_text("not for you")
    (folder / "refresh.py").write_text("not for you")
    (folder / "types.d.ts").write_text("not for you")
    for tools in ("node_modules", "tests"):
        (folder / tools).mkdir()
        (folder / tools / "x.js").write_text("not for you")
    return folder


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, dashboard: Path) -> Iterator[Gateway]:
    """Run the gateway before an upstream that echoes."""
    folder = tmp_path_factory.mktemp("gateway")
    with ThreadingHTTPServer((LOOPBACK, 0), Upstream) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        made = Gateway(folder, free_port(), upstream.server_port, 5_000_000, dashboard)
        with nginx.serve(made, folder / "log"):
            yield made
        upstream.shutdown()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/lib.mjs", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
    ],
)
def test_a_file_of_the_dashboard_comes_with_its_type_and_the_strict_headers(
    gateway: Gateway, path: str, kind: str
) -> None:
    answer = ask(gateway, "GET", path)

    assert answer.status == 200
    assert answer.headers["Content-Type"] == kind
    assert policy_of(answer)["default-src"] == "'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["Server"] == "nginx"  # without a version


def policy_of(answer: Answer) -> dict[str, str]:
    """Return the sources of each directive in the answer's Content-Security-Policy."""
    return dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere(gateway: Gateway) -> None:
    answer = ask(gateway, "GET", "/")

    policy = policy_of(answer)
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in answer.headers["Content-Security-Policy"]


def test_the_policy_lets_no_page_embed_an_object(gateway: Gateway) -> None:
    """A plugin has an origin of its own; without `object-src`, `default-src` applies to objects."""
    policy = policy_of(ask(gateway, "GET", "/"))

    assert policy.get("object-src", policy["default-src"]) == "'none'"


def test_an_unchanged_file_is_not_sent_again(gateway: Gateway) -> None:
    first = ask(gateway, "GET", "/app.js")

    again = ask(gateway, "GET", "/app.js", {"If-None-Match": first.headers["ETag"]})

    assert (again.status, again.body) == (304, b"")


def test_text_is_compressed_for_whoever_takes_it(gateway: Gateway, dashboard: Path) -> None:
    answer = ask(gateway, "GET", "/app.js", {"Accept-Encoding": "gzip"})

    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.body) == (dashboard / "app.js").read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/package.json",
        "/.hidden",
        "/node_modules/x.js",
        "/tests/x.js",
        "/refresh.py",
        "/types.d.ts",
        "/nothing",
        "/../tests/conftest.py",
        "/%2e%2e/x",
        "/api",
    ],
)
def test_what_is_no_file_of_the_dashboard_is_not_found(gateway: Gateway, path: str) -> None:
    answer = ask(gateway, "GET", path)

    assert answer.status in {400, 404}
    assert answer.problem["code"] in {"bad_request", "not_found"}


def test_a_call_reaches_the_api_with_what_the_gateway_knows_not_what_callers_claim(gateway: Gateway) -> None:
    claims = {
        "X-Forwarded-For": "203.0.113.7",
        "X-Goog-IAP-JWT-Assertion": "forged",
        "Forwarded": "for=203.0.113.7",
        "X-Gateway-Key": "a stranger's own",
        "X-Request-ID": "not/an id",
    }

    answer = ask(gateway, "GET", "/api/clients?q=a%20b", claims)

    said = json.loads(answer.body)
    assert said["path"] == "/api/clients?q=a%20b"
    assert said["headers"]["X-Forwarded-For"] == LOOPBACK
    assert said["headers"]["Host"] == f"{LOOPBACK}:{gateway.port}"
    assert "X-Goog-IAP-JWT-Assertion" not in said["headers"]
    assert "Forwarded" not in said["headers"]
    assert said["headers"]["X-Gateway-Key"] == gateway.key
    assert len(said["headers"]["X-Request-ID"]) == 32
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers.get_all("X-Request-ID") == [said["headers"]["X-Request-ID"]]


def test_a_callers_own_request_id_is_kept(gateway: Gateway) -> None:
    answer = ask(gateway, "GET", "/api/clients", {"X-Request-ID": "journey-0001"})

    assert json.loads(answer.body)["headers"]["X-Request-ID"] == "journey-0001"
    assert answer.headers["X-Request-ID"] == "journey-0001"


def test_the_apis_own_errors_pass_unchanged(gateway: Gateway) -> None:
    answer = ask(gateway, "GET", "/api/teapot")

    assert answer.status == 418
    assert json.loads(answer.body)["path"] == "/api/teapot"


def test_a_body_beyond_the_limit_is_refused_before_it_is_read(gateway: Gateway) -> None:
    with socket.create_connection((LOOPBACK, gateway.port), 60) as connection:
        head = f"POST /api/event-media HTTP/1.1\r\nHost: {LOOPBACK}\r\nContent-Length: 600000000\r\n\r\n"
        connection.sendall(head.encode())  # and nothing of the body

        answer = connection.recv(65_536).decode()

    assert answer.startswith("HTTP/1.1 413 ")
    assert "urn:signage:problem:too_large" in answer
    assert f'"limit_bytes": {gateway.upload_limit_bytes}' in answer


@pytest.mark.parametrize("language", ["en", "de", "ja"])
def test_a_refusal_of_nginx_is_in_the_readers_language(gateway: Gateway, language: str) -> None:
    asked = {"Accept-Language": f"{language}-XX,{language};q=0.9"}
    unknown = ask(gateway, "GET", "/nothing/here", headers=asked).problem
    large = ask(gateway, "POST", "/api/clients", headers=asked, body=b"x" * 4_000_000).problem

    for told, error in ((unknown, problems.PathUnknown()), (large, limits.too_large(limits.BODY_LIMIT))):
        own = problems.document(error, "", words_of(language))
        assert (told["title"], told["detail"]) == (own["title"], re.sub(r"(?<=\d)[.,](?=\d)", "", own["detail"]))


def test_only_an_upload_may_be_large(gateway: Gateway) -> None:
    body = b"x" * 4_000_000

    refused = ask(gateway, "POST", "/api/clients", body=body).problem
    assert (refused["code"], refused["limit_bytes"]) == ("too_large", limits.BODY_LIMIT)
    assert refused["detail"] == f"The body may have {limits.BODY_LIMIT} bytes at most here."
    assert ask(gateway, "POST", "/api/event-media/7", body=body).problem["code"] == "too_large"
    for path in ("/api/session", "/api/enroll", "/api/enroll/rotate?x=1"):
        assert ask(gateway, "POST", path, body=bytes(limits.PUBLIC_BODY_LIMIT)).status == 200
        refused = ask(gateway, "POST", path, body=bytes(limits.PUBLIC_BODY_LIMIT + 1)).problem
        assert (refused["code"], refused["limit_bytes"]) == ("too_large", limits.PUBLIC_BODY_LIMIT)
    for method, path in (("POST", "/api/event-media"), ("PATCH", "/api/event-media/uploads/x")):
        assert json.loads(ask(gateway, method, path, body=body).body)["bytes"] == len(body)


def test_no_more_uploads_run_at_once_from_one_address_than_it_may_have(gateway: Gateway) -> None:
    Upstream.arrived = threading.Semaphore(0)
    with ExitStack() as stack:
        for _ in range(nginx.UPLOADS_OF_ONE_ADDRESS):
            upload = stack.enter_context(socket.create_connection((LOOPBACK, gateway.port), 60))
            upload.sendall(f"POST /api/event-media HTTP/1.1\r\nHost: {LOOPBACK}\r\nContent-Length: 9\r\n\r\n1".encode())
            assert Upstream.arrived.acquire(timeout=60)

        one_more = ask(gateway, "POST", "/api/event-media", body=b"1")
        reading = ask(gateway, "GET", "/api/event-media")

    assert one_more.status == 429
    assert one_more.headers["Retry-After"] == "5"
    assert one_more.problem["code"] == "too_many_uploads"
    assert reading.status == 200
    wait_until(lambda: ask(gateway, "POST", "/api/event-media", body=b"1").status == 200, 60)


def test_who_asks_for_status_pages_without_end_has_to_wait_and_nobody_else_does(
    tmp_path: Path, dashboard: Path
) -> None:
    """The api does not run, so that the requests come as fast as nginx alone can take them."""
    gateway = Gateway(tmp_path, free_port(), free_port(), dashboard=dashboard)
    many = nginx.STATUS_PAGES_AT_ONCE * 5
    one = f"GET /api/status HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n"
    last = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")

    with nginx.serve(gateway, tmp_path / "log"):
        with socket.create_connection((LOOPBACK, gateway.port), 60, source_address=("127.0.0.2", 0)) as reader:
            reader.sendall((one * (many - 1) + last).encode())
            with reader.makefile("rb") as stream:
                answers = stream.read().decode().split("HTTP/1.1 ")[1:]
        elsewhere = ask(gateway, "GET", "/api/clients", source=("127.0.0.2", 0))
        another = ask(gateway, "GET", "/api/status")

    refused = [answer for answer in answers if answer.startswith("429 ")]
    assert len(answers) == many
    assert all(answer.startswith("502 ") for answer in answers[: nginx.STATUS_PAGES_AT_ONCE])
    assert refused
    assert "Retry-After: 5\r\n" in refused[0]
    assert json.loads(refused[0].partition("\r\n\r\n")[2])["code"] == "too_many_requests"
    assert [elsewhere.status, another.status] == [502, 502]


def test_nobody_learns_from_the_public_page_where_a_reader_came_from(gateway: Gateway, dashboard: Path) -> None:
    (dashboard / "status.html").write_text("<!doctype html><title>Displays</title>")

    public = [ask(gateway, "GET", path).headers for path in ("/status.html", "/api/status", "/api/status?x=1")]
    usual = [ask(gateway, "GET", path).headers for path in ("/", "/api/status-links")]

    assert {(one["Referrer-Policy"], one["X-Robots-Tag"]) for one in public} == {("no-referrer", "noindex")}
    assert {(one["Referrer-Policy"], one["X-Robots-Tag"]) for one in usual} == {("same-origin", None)}


def test_stalled_connections_do_not_hold_up_known_callers(gateway: Gateway) -> None:
    known = {"Authorization": f"Bearer {sealed('token', gateway.key)}"}
    with ExitStack() as stack:
        for _ in range(300):
            stalled = stack.enter_context(socket.create_connection((LOOPBACK, gateway.port), 60))
            stalled.sendall(f"POST /api/clients HTTP/1.1\r\nHost: {LOOPBACK}\r\nContent-Length: 9\r\n\r\n1".encode())

        assert ask(gateway, "GET", "/api/clients", known).status == 200


def test_another_host_name_is_not_answered(gateway: Gateway) -> None:
    assert ask(gateway, "GET", "/", {"Host": "rebound.example"}).problem["code"] == "misdirected"
    assert ask(gateway, "GET", "/", {"Host": f"localhost:{gateway.port}"}).status == 200


def test_an_address_that_is_too_long_is_a_problem_document(gateway: Gateway) -> None:
    assert ask(gateway, "GET", "/" + "a" * 9000).problem["code"] == "uri_too_long"


def test_headers_that_are_too_large_are_a_problem_document_of_the_same_status(gateway: Gateway) -> None:
    answer = ask(gateway, "GET", "/api/clients", {"X-Large": "a" * 20_000})

    assert (answer.status, answer.problem["code"]) == (431, "headers_too_large")


def test_an_api_that_is_not_running_is_said_in_words(tmp_path: Path, dashboard: Path) -> None:
    gateway = Gateway(tmp_path, free_port(), free_port(), dashboard=dashboard)

    with nginx.serve(gateway, tmp_path / "log"):
        answer = ask(gateway, "GET", "/api/clients")

    assert answer.status == 502
    assert answer.headers["Retry-After"] == "2"
    assert answer.problem["code"] == "api_unavailable"


def test_an_api_that_does_not_answer_is_given_up(tmp_path: Path, dashboard: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as silent:
        port = silent.getsockname()[1]
        gateway = Gateway(tmp_path, free_port(), port, dashboard=dashboard, api_timeout_seconds=1)

        with nginx.serve(gateway, tmp_path / "log"):
            answer = ask(gateway, "GET", "/api/clients")

    assert answer.problem["code"] == "api_timeout"
