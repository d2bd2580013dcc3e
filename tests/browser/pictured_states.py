"""Pictures of states that a healthy demo fleet never shows: loading, empty, and every kind of fault."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from playwright.sync_api import Browser, Page, Route, expect

from shared.postgres.door import engine_for
from tests.browser.fleets import inserted
from tests.browser.watched import API, WatchedPage, watched
from tests.stack import Stack

OVERVIEW: Final = "**/api/monitoring/overview*"
SILENT_SECONDS: Final = 240
LISTENED_LONG: Final = "UPDATE bridge_status SET connected_since = now() - interval '1 hour'"
SLOW: Final = """
  const before = window.fetch;
  window.fetch = (address, ...rest) =>
    String(address).startsWith('/api/incidents') ? new Promise(() => {}) : before(address, ...rest);
"""
FAILURE: Final = {"code": "internal_error", "title": "Internal error", "detail": "Something went wrong on our side."}


def take(chromium: Browser, stack: Stack, looks: dict[str, dict[str, Any]], folder: Path) -> None:
    """Take a picture of every state in every look."""
    for look, options in looks.items():
        for state in (sign_in, loading, empty, offline, error, bridge_silent, signed_out, people_by_proxy):
            shoot(chromium, stack, options, state, folder / f"state-{state.__name__.replace('_', '-')}-{look}.png")
    with a_silent_site(stack):  # last: its breaker outlives it
        for look, options in looks.items():
            shoot(chromium, stack, options, mass_failure, folder / f"state-mass-failure-{look}.png")


@contextmanager
def a_silent_site(stack: Stack) -> Iterator[None]:
    """Add ten silent displays of one site, so that a breaker opens."""
    engine = engine_for(stack.environment["DATABASE_URL"], "pictures")
    with engine.begin() as connection:
        connection.execute(sa.text(LISTENED_LONG))
    with inserted(engine, "Bremen", 10, SILENT_SECONDS):
        yield
    engine.dispose()


def shoot(
    chromium: Browser, stack: Stack, options: dict[str, Any], state: Callable[[WatchedPage], None], target: Path
) -> None:
    """Take one picture of one state; fail on any complaint that the state does not expect."""
    context = chromium.new_context(**options)
    visit = watched(context, stack)
    if state is not sign_in:
        visit.sign_in()
        visit.page.wait_for_load_state("networkidle")
    state(visit)
    visit.page.screenshot(path=target)
    context.close()
    visit.check()
    print(target)


def sign_in(visit: WatchedPage) -> None:
    """Sign in with an unknown name and a wrong password."""
    visit.open()
    visit.expect_answer(401, "/api/session$")
    visit.fill_sign_in("not the password")
    expect(visit.page.get_by_role("alert")).not_to_be_empty()


def loading(visit: WatchedPage) -> None:
    """Show the views while their answers are slow."""
    visit.page.add_init_script(SLOW)
    visit.page.reload()
    visit.follow("/?v=incidents")
    expect(visit.page.locator(".skeleton").first).to_be_visible()


def empty(visit: WatchedPage) -> None:
    """Show a fleet before its first display is enrolled."""
    answer_otherwise(visit, lambda _: {"packed": {"uuid": ""}, "service_failed": []})
    visit.page.reload()
    expect(visit.page.get_by_role("heading", name="No displays yet")).to_be_visible()


def offline(visit: WatchedPage) -> None:
    """Show the page while the service does not answer."""
    visit.page.route(API, lambda route: route.abort())
    visit.look_again()
    expect(visit.page.get_by_role("alert").first).to_contain_text("The service does not answer")


def error(visit: WatchedPage) -> None:
    """Show the page while the service fails with an error of its own."""
    visit.expect_answer(500, "/api/client-logs/")
    visit.page.route("**/api/client-logs/**", lambda route: route.fulfill(status=500, json=FAILURE))
    visit.follow("/?v=logs")
    expect(visit.page.get_by_role("alert").filter(has_text="Reference")).to_have_count(2)


def mass_failure(visit: WatchedPage) -> None:
    """Show a whole site that became silent at the same time."""
    banner = visit.page.get_by_role("status").filter(has_text="Recovery holds back")
    visit.look_until(banner.is_visible, "the breaker")
    expect(visit.page.locator(".attention-row").first).to_be_visible()


def bridge_silent(visit: WatchedPage) -> None:
    """Show the page while the bridge is silent."""
    answer_otherwise(visit, lambda answer: {"bridge": {"state": "silent", "silent_since": answer["server_time"]}})
    visit.page.reload()
    expect(visit.page.get_by_role("alert").first).to_contain_text("Bridge silent since")


def signed_out(visit: WatchedPage) -> None:
    """Show a session that ended while a person used it."""
    visit.expect_answer(401, "/api/")
    visit.page.context.clear_cookies()
    visit.look_again()
    expect(visit.page.get_by_role("dialog", name="Sign in again")).to_be_visible()


def people_by_proxy(visit: WatchedPage) -> None:
    """Show the people of a service behind an identity-aware proxy."""
    visit.page.route("**/api/session/method", lambda route: route.fulfill(json={"method": "proxy"}))
    visit.open("/?v=settings")
    people = visit.page.get_by_role("region", name="People")
    expect(people).to_contain_text("Everybody comes through the proxy")
    people.scroll_into_view_if_needed()


def answer_otherwise(visit: WatchedPage, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """From now on answer each request of the overview with the whole fleet and these changes."""
    whole = first_answer(visit.page)
    said = {**whole, "full": True, **change(whole)}

    def answer(route: Route) -> None:
        route.fulfill(json=said)

    visit.page.route(OVERVIEW, answer)


def first_answer(page: Page) -> dict[str, Any]:
    """Return the page's first answer of the overview."""
    address = re.sub(r"/(\?.*)?$", "/api/monitoring/overview?format=packed", page.url)
    told: dict[str, Any] = page.request.get(address).json()
    return told
