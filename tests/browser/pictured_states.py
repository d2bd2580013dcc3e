"""Pictures of states that a healthy demo fleet never shows, in any language: dialogs, loading, empty, faults."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from playwright.sync_api import Browser, Page, Route, expect

from shared.postgres.door import engine_for
from tests.browser.fleets import inserted
from tests.browser.watched import API, WatchedPage, watched
from tests.browser.windows import PATIENCE_MS, SIGNED_OUT
from tests.stack import Stack, eventually

OVERVIEW: Final = "**/api/monitoring/overview*"
SILENT_SECONDS: Final = 240
LISTENED_LONG: Final = "UPDATE bridge_status SET connected_since = now() - interval '1 hour'"
SLOW: Final = """
  const before = window.fetch;
  window.fetch = (address, ...rest) =>
    String(address).startsWith('/api/incidents') ? new Promise(() => {}) : before(address, ...rest);
"""
STYLED: Final = "[...document.querySelectorAll('link[rel=stylesheet]')].every((one) => one.sheet)"
ACTION: Final = "states.actionWords"
HELD: Final = "quiet_times.clientQuietWords"
DIALOGS: Final[dict[str, tuple[str, ...]]] = {
    "help": ("/", "frame.frameWords.help"),
    "connect": ("/", "fleet.tableWords.connect", "enrolment.enrolmentWords.create"),
    "bulk": ("/?site=Berlin", f"{ACTION}.reboot_host…"),
    "later": ("/?site=Berlin", "batches.batchWords.later"),
    "move": ("/?site=Berlin", "edit.editWords.manyButton"),
    "edit": ("/?d={uuid}", "edit.editWords.button"),
    "shut-down": ("/?d={uuid}", f"{ACTION}.shutdown_host"),
    "hold": ("/?d={uuid}", f"{HELD}.hold"),
    "snooze": ("/?d={uuid}", f"{HELD}.snooze"),
    "maintenance": ("/?d={uuid}", f"{HELD}.maintenance"),
    "leave-out": ("/?d={uuid}", f"{HELD}.leaveOut"),
    "quiet": ("/?v=quiet", "quiet_times.quietTimesWords.add"),
    "plan": ("/?v=batches", "schedules.scheduleWords.plan"),
    "password": ("/?v=settings", "settings.settingsWords.changePassword"),
    "second-factor": ("/?v=settings", "second_factor.secondFactorWords.begin"),
    "channel": ("/?v=settings", "notifications.notificationWords.add"),
    "person": ("/?v=settings", "people.peopleWords.add"),
}
"""Each dialog: the address of its view, and the words of the buttons that lead to it."""
FAILURE: Final = {"code": "internal_error", "title": "Internal error", "detail": "Something went wrong on our side."}


def take(chromium: Browser, stack: Stack, looks: dict[str, dict[str, Any]], folder: Path, uuid: str) -> None:
    """Take a picture of every dialog and every state in every look, whose options sign in.

    `uuid` is of the display whose panel is opened.
    """
    for look, options in looks.items():
        for name, (address, *buttons) in DIALOGS.items():
            shown = partial(dialog, address=address.format(uuid=uuid), buttons=buttons)
            shoot(chromium, stack, options, shown, folder / f"dialog-{name}-{look}.png")
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
    context.set_default_timeout(PATIENCE_MS)
    visit = watched(context, stack)
    if state is sign_in:
        context.set_storage_state(SIGNED_OUT)
    else:
        visit.open()
        visit.page.locator("header.top").wait_for()
        visit.page.wait_for_load_state("networkidle")
    state(visit)
    visit.page.screenshot(path=target)
    context.close()
    visit.check()
    print(target)


def dialog(visit: WatchedPage, address: str, buttons: list[str]) -> None:
    """Open a dialog and wait until it is drawn; what has to be filled in before its next button is pressed is.

    A button is pressed once every answer is there: until then what is above it may come and move it away.
    """
    visit.open(address)
    visit.page.wait_for_load_state("networkidle")
    shown = visit.page.get_by_role("dialog")
    for button in buttons:
        needed = shown.locator("input[required]")
        if has_form := shown.is_visible():
            needed.first.fill("Eingang")
        visit.press(button)
        expect(shown).to_be_visible()
        if has_form:
            expect(needed).to_have_count(0)
    expect(shown.locator("[aria-busy=true]")).to_have_count(0)  # in its first second it takes no room: is not visible
    eventually(lambda: visit.page.evaluate(STYLED), "every style sheet")


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
    expect(visit.page.get_by_role("heading", name=visit.words("enrolment.enrolmentWords.emptyTitle"))).to_be_visible()


def offline(visit: WatchedPage) -> None:
    """Show the page while the service does not answer."""
    visit.page.route(API, lambda route: route.abort())
    visit.look_again()
    expect(visit.page.locator(".banner-danger")).to_be_visible()


def error(visit: WatchedPage) -> None:
    """Show the page while the service fails with an error of its own."""
    visit.expect_answer(500, "/api/client-logs/")
    visit.page.route("**/api/client-logs/**", lambda route: route.fulfill(status=500, json=FAILURE))
    visit.follow("/?v=logs")
    expect(visit.page.locator(".note-error")).to_have_count(2)


def mass_failure(visit: WatchedPage) -> None:
    """Show a whole site that became silent at the same time."""
    banner = visit.page.get_by_text(visit.words("causes.causeWords.holds")).first
    visit.look_until(banner.is_visible, "the breaker")
    expect(visit.page.locator(".attention-row").first).to_be_visible()


def bridge_silent(visit: WatchedPage) -> None:
    """Show the page while the bridge is silent."""
    answer_otherwise(visit, lambda answer: {"bridge": {"state": "silent", "silent_since": answer["server_time"]}})
    visit.page.reload()
    expect(visit.page.get_by_text(visit.words("banners.bannerWords.bridgeWhy"))).to_be_visible()


def signed_out(visit: WatchedPage) -> None:
    """Show a session that ended while a person used it."""
    visit.expect_answer(401, "/api/")
    visit.page.context.clear_cookies()
    visit.look_again()
    expect(visit.page.get_by_role("dialog", name=visit.words("session.sessionWords.again"))).to_be_visible()


def people_by_proxy(visit: WatchedPage) -> None:
    """Show the people of a service behind an identity-aware proxy."""
    visit.page.route("**/api/session/method", lambda route: route.fulfill(json={"method": "proxy"}))
    visit.open("/?v=settings")
    lead = visit.page.get_by_text(visit.words("people.proxyWords.lead"))
    expect(lead).to_be_visible()
    lead.scroll_into_view_if_needed()


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
