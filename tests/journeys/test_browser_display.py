"""A display that is only a browser: Chromium with a page of another origin, and the real stack."""

import asyncio
import base64
import functools
import hashlib
import http.server
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Browser, BrowserContext, Error, Playwright, sync_playwright

from deploy.parts import gateway as nginx
from deploy.parts.config_file import Certificate, Listener
from deploy.parts.gateway import Gateway
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running as running_program
from deploy.parts.websocket_door import Door
from displays.conformance.checklist import RULES, Line, failed, judge, printed
from displays.conformance.exercise import Exercise
from displays.conformance.service import Service
from displays.conformance.tap import Tap
from displays.conformance.verdict import Outcome
from tests.deploy.certificates import Authority
from tests.diary import progress
from tests.stack import Api, Stack, eventually

CHROMIUM = "/usr/bin/chromium-headless-shell"
PATIENCE_MS = 120_000
ARGUMENTS = ("--no-sandbox", "--disable-gpu")
NOT_OF_A_BROWSER = {"service_failed", "leaving", "reboot", "boot_counted", "journal_survives", "hours"}


CONTENT = """<!doctype html><title>Player</title><p>content<script>
for (const n of [1, 2, 3])
  parent.postMessage({signage: "log", level: "warning", message: "line " + n, context: {n}}, "*");
localStorage.kept = "kept";
const able = `fullscreen ${document.fullscreenEnabled}, storage ${localStorage.kept}`;
parent.postMessage({signage: "log", level: "warning", message: able}, "*");
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the content without a log."""

    def log_message(self, *_: Any) -> None:
        """Write no line for each request."""


@pytest.fixture
def content(tmp_path: Path) -> Iterator[str]:
    """The address of a page of another origin, which logs three lines."""
    (tmp_path / "index.html").write_text(CONTENT, encoding="utf-8")
    handler = functools.partial(Quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer((LOOPBACK, 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def driver() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(driver: Playwright) -> Iterator[Browser]:
    """One browser for all these tests."""
    launched = driver.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS])
    yield launched
    launched.close()


@pytest.fixture
def chromium(browser: Browser) -> Iterator[BrowserContext]:
    """A display's browser: its pages share their data, and it begins without any."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


def enrolling(api: Api, display: str) -> str:
    return str(api.post(f"/api/clients/{display}/enrolment", expected=201)["code"])


def opened(gateway: str, api: Api, display: str, content: str) -> str:
    """Enrol a display. Returns the address that it opens."""
    return f"{gateway}/display/?code={enrolling(api, display)}&show={content}&version=4.2.1"


def running(api: Api, display: str) -> Any:
    return eventually(
        lambda: (found := api.get(f"/api/clients/{display}"))["status"] == "running" and found, f"{display} running"
    )


def test_a_page_enrols_runs_logs_and_restarts_with_proof(stack: Stack, content: str, chromium: BrowserContext) -> None:
    api, display = stack.api(), str(uuid.uuid4())
    page = chromium.new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.goto(opened(stack.url, api, display, content))

    before = running(api, display)
    eventually(lambda: "line 3" in str(api.get(f"/api/client-logs/{display}/logs")), "the last line")
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-same-origin allow-forms"
    eventually(
        lambda: "fullscreen true, storage kept" in str(api.get(f"/api/client-logs/{display}/logs")), "its rights"
    )
    command = api.post(f"/api/clients/{display}/commands", {"action": "restart_app", "reason": "test"}, 202)

    done = eventually(lambda: _settled(api, display, command["id"]), "the outcome")
    page.wait_for_load_state()
    assert done["state"] == "succeeded", done
    eventually(lambda: running(api, display)["app_instance"] != before["app_instance"], "a heartbeat of the new page")
    assert told == []


def _settled(api: Api, display: str, command_id: str) -> Any:
    found = next(one for one in api.get(f"/api/clients/{display}/commands")["items"] if one["id"] == command_id)
    return found if found["state"] in {"succeeded", "failed", "expired", "rejected"} else None


def test_of_two_pages_with_one_login_only_one_speaks(stack: Stack, content: str, chromium: BrowserContext) -> None:
    api, display = stack.api(), str(uuid.uuid4())
    first, second = chromium.new_page(), chromium.new_page()
    first.goto(opened(stack.url, api, display, content))
    before = running(api, display)

    second.goto(f"{stack.url}/display/")
    second.wait_for_function("navigator.locks.query().then(({pending}) => pending.length === 1)")
    assert api.get(f"/api/clients/{display}")["app_instance"] == before["app_instance"]
    first.close()

    eventually(lambda: api.get(f"/api/clients/{display}")["app_instance"] != before["app_instance"], "the second")


def test_without_a_login_nothing_is_shown(stack: Stack, content: str, chromium: BrowserContext) -> None:
    page = chromium.new_page()

    page.goto(f"{stack.url}/display/?show={content}")

    page.get_by_text("This display has no login.").wait_for()
    assert page.locator("iframe").count() == 0


@pytest.mark.parametrize("form", ["{}/", "{}/display/?show=http://other.test/", "http:/"])
def test_a_page_of_our_own_address_is_not_shown_beside_the_login(
    stack: Stack, chromium: BrowserContext, form: str
) -> None:
    api, display = stack.api(), str(uuid.uuid4())
    page = chromium.new_page()

    page.goto(opened(stack.url, api, display, quote(form.format(stack.url), safe="")))

    eventually(lambda: "must not be at this" in str(api.get(f"/api/client-logs/{display}/logs")), "a line about it")
    assert page.locator("iframe").count() == 0


@contextmanager
def with_its_own_ca(stack: Stack, folder: Path) -> Iterator[tuple[str, str]]:
    """A gateway whose certificate no public CA signed: its address, and the hash of its key as Chromium takes it."""
    files = Authority(folder).sign("localhost")
    ports = {name: int(stack.ports[name]) for name in ("API_PORT", "MQTT_BROWSERS_PORT")}
    gateway = Gateway(folder / "run", free_port(), ports["API_PORT"], displays_port=ports["MQTT_BROWSERS_PORT"])
    nginx.prepare(gateway, Listener(tls=Certificate(*files)))
    key = x509.load_pem_x509_certificate(files[0].read_bytes()).public_key()
    spki = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    with running_program(nginx.command(gateway), accepts(gateway.port), folder / "log", user=nginx.system_user()):
        yield f"https://{LOOPBACK}:{gateway.port}", base64.b64encode(hashlib.sha256(spki).digest()).decode()


def test_a_browser_that_distrusts_the_gateways_ca_starts_no_client_and_uses_no_code(
    stack: Stack, content: str, driver: Playwright, chromium: BrowserContext, tmp_path: Path
) -> None:
    api, display = stack.api(), str(uuid.uuid4())
    with with_its_own_ca(stack, tmp_path) as (gateway, key):
        address = opened(gateway, api, display, content)
        with pytest.raises(Error, match="ERR_CERT_AUTHORITY_INVALID"):
            chromium.new_page().goto(address)
        assert api.get(f"/api/clients/{display}")["last_heartbeat_at"] is None

        trusting = [*ARGUMENTS, f"--ignore-certificate-errors-spki-list={key}"]
        context = driver.chromium.launch_persistent_context(tmp_path / "with", executable_path=CHROMIUM, args=trusting)
        with closing(context):
            context.new_page().goto(address)
            running(api, display)


def test_it_passes_every_row_that_its_capabilities_call_for(
    stack: Stack, content: str, chromium: BrowserContext, tmp_path: Path
) -> None:
    lines = judged(stack, content, chromium, tmp_path / "first")
    if failed(lines):  # a slow machine may spoil a run
        lines = judged(stack, content, chromium, tmp_path / "second")

    unseen = {line.rule.name for line in lines if line.verdict.outcome is Outcome.NOT_SEEN}
    assert len(lines) == len(RULES)
    assert failed(lines) == [], "\n".join(printed(lines))
    assert unseen <= NOT_OF_A_BROWSER, "\n".join(printed(lines))


def judged(stack: Stack, content: str, chromium: BrowserContext, folder: Path) -> list[Line]:
    """Exercise and judge a new display in this browser."""
    folder.mkdir()
    display, is_there = str(uuid.uuid4()), threading.Event()
    ports: list[int] = []
    taps: list[Tap] = []
    lines: list[Line] = []

    async def check() -> None:
        broker = (LOOPBACK, int(stack.ports["MQTT_DISPLAYS_PORT"]))
        async with Tap(display, "signage", broker) as tap:
            with closing(await Door(tap.port).serve(0)) as door:  # a block of its own waits for the page
                ports.append(door.sockets[0].getsockname()[1])
                taps.append(tap)
                is_there.set()
                service = Service(stack.url, stack.environment["SIGNAGE_ADMIN_TOKEN"])
                exercise = Exercise(tap, service, commands=True, answer_seconds=60.0)
                lines.extend(judge(tap.record, await exercise.run()))

    checking = threading.Thread(target=lambda: asyncio.run(check()))
    checking.start()
    assert is_there.wait(60)
    gateway = Gateway(folder / "run", free_port(), int(stack.ports["API_PORT"]), displays_port=ports[0])
    with nginx.serve(gateway, folder / "log"):
        page = chromium.new_page()
        page.goto(opened(f"http://{LOOPBACK}:{gateway.port}", stack.api(), display, content))
        noted = 0
        while checking.is_alive():
            page.wait_for_timeout(200)
            if noted != (noted := len(taps[0].record.said)):
                progress(f"the display has said {noted} things")
        page.close()
    return lines
