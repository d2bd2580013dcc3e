"""One stack, one Chromium, and for each test pages whose errors are recorded."""

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from shared.postgres.door import engine_for
from tests.browser.people import SessionState, session_of
from tests.browser.sign_in_service import sign_in_service
from tests.browser.watched import WatchedPage
from tests.browser.windows import PATIENCE_MS, Opened, Windows
from tests.stack import Api, Stack, enrol, running_stack

CHROMIUM = "/usr/bin/chromium"
WITHOUT_A_WINDOW = "/usr/bin/chromium-headless-shell"
"""Chromium without a user interface: half the processor time for each page."""
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run")
IN_FEW_PROCESSES = (
    "--renderer-process-limit=1",
    "--in-process-gpu",
    "--enable-features=NetworkServiceInProcess2",
)
"""One renderer for each browser, no process for the GPU and none for the network: a third of the processor time for
each page."""

ASK_FOR_EACH = '"no-cache"'
OpenPage = Callable[..., WatchedPage]
Enter = Callable[..., WatchedPage]


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack without recovery and with a tick every five seconds: ticks are expensive, and few tests need them.

    People sign in by password or at a sign-in service.
    """
    settings = {
        "TICK_SECONDS": "5",
        "DEMO": "",
        "LOG_RETENTION_DAYS": "270",  # for log lines at two changes of the clocks
    }
    with (
        sign_in_service(tmp_path_factory.mktemp("sign-in-service")) as service,
        running_stack(tmp_path_factory.mktemp("stack"), **settings, **service) as running,
    ):
        let_browsers_keep_files(running)
        yield running


def let_browsers_keep_files(stack: Stack) -> None:
    """Let browsers show a file of the dashboard again without asking for it: that costs a third of each page.

    The product tells them to ask each time: tests/local/test_gateway.py.
    """
    folder = stack.state / "run" / "nginx"
    configuration = folder / "nginx.conf"
    text = configuration.read_text(encoding="utf-8")
    assert ASK_FOR_EACH in text
    configuration.write_text(text.replace(ASK_FOR_EACH, "max-age=3600"), encoding="utf-8")
    os.kill(int((folder / "nginx.pid").read_text(encoding="ascii")), signal.SIGHUP)


@pytest.fixture(scope="module")
def database(stack: Stack) -> Iterator[Engine]:
    """The stack's database, for data that no API reads or writes."""
    engine = engine_for(stack.environment["DATABASE_URL"], "browser tests")
    yield engine
    engine.dispose()


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """The browser of most tests."""
    with launched(playwright, WITHOUT_A_WINDOW, *IN_FEW_PROCESSES) as chromium:
        yield chromium


@contextmanager
def launched(playwright: Playwright, program: str, *flags: str) -> Iterator[Browser]:
    """Launch this Chromium, and close it afterwards."""
    chromium = playwright.chromium.launch(executable_path=program, args=[*FLAGS, *flags])
    yield chromium
    chromium.close()


@pytest.fixture(scope="package")
def windows(browser: Browser) -> Windows:
    """The browsers that tests reuse."""
    return Windows(browser)


@pytest.fixture
def opened(windows: Windows) -> Opened:
    """The pages of this test."""
    return Opened(windows)


@pytest.fixture
def open_page(stack: Stack, opened: Opened) -> Iterator[OpenPage]:
    """Return a function that makes watched pages, each with its own cookies and windows; all are checked at the end."""
    yield lambda **options: opened.page(stack, options)
    opened.close()
    opened.check()


@pytest.fixture
def dashboard(open_page: OpenPage) -> WatchedPage:
    """One page in a window of 1360 x 900."""
    return open_page()


@pytest.fixture(scope="package")
def admin_sessions() -> dict[str, SessionState]:
    """The first admin's session of each stack, by address: a password check is slow."""
    return {}


@pytest.fixture
def admin_session(stack: Stack, stack_password: str, admin_sessions: dict[str, SessionState]) -> SessionState:
    """The first admin, signed in. A test that ends the session needs its own."""
    if stack.url not in admin_sessions:
        admin_sessions[stack.url] = session_of(stack, stack.environment["SIGNAGE_SIGN_IN_USER"], stack_password)
    return admin_sessions[stack.url]


@pytest.fixture
def enter(open_page: OpenPage, admin_session: SessionState) -> Enter:
    """Return a function that opens an address in a signed-in browser; by default as the first admin."""

    def make(address: str = "/", **options: Any) -> WatchedPage:
        page = open_page(**{"storage_state": admin_session, **options})
        page.open(address)
        page.page.get_by_role("button", name="Sign out").wait_for()
        return page

    return make


@pytest.fixture
def api(stack: Stack) -> Api:
    return stack.api()


@contextmanager
def online_display(api: Api, folder: Path) -> Iterator[SimulatedDisplay]:
    """Enrol a display that is online and running, and publishes more only on call; delete it afterwards."""
    identity = str(uuid.uuid4())
    with enrol(api, identity, folder) as connected:
        api.call("PATCH", f"/api/clients/{identity}", json={"name": f"Lobby {identity[:8]}", "site": "Berlin"})
        connected.heartbeat("running")
        yield connected
    api.call("DELETE", f"/api/clients/{identity}", 204)


@pytest.fixture
def display(api: Api, tmp_path: Path, opened: Opened) -> Iterator[SimulatedDisplay]:
    """This test's own display."""
    with online_display(api, tmp_path / "display") as online:
        yield online
        opened.close()


def uuid_of(display: SimulatedDisplay) -> str:
    """Return the uuid of a display."""
    return display.display.credentials.uuid


def name_of(display: SimulatedDisplay) -> str:
    """Return the name that `online_display` gave it."""
    return f"Lobby {uuid_of(display)[:8]}"


def row_name(display: SimulatedDisplay) -> str:
    """Return the accessible name of its button in lists: name and site."""
    return f"{name_of(display)}, Berlin"


@pytest.fixture
def stack_password(stack: Stack) -> str:
    """The first admin's password."""
    return stack.environment["SIGNAGE_SIGN_IN_PASSWORD"]
