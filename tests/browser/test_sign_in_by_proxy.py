"""People who come by the proxy of the cloud: the page knows them without a form, and says so where it does not.

A stack of its own that believes a proxy whose keys a server on loopback has. The test stands where the load balancer
does: it passes `/api/` on to the function with the assertion, which the gateway of one box lets nobody send.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.watched import WatchedPage
from tests.rules.oidc_harness import issuing
from tests.rules.proxy_harness import AUDIENCE, PROXY_KEY, asserted, key_set
from tests.stack import Stack, running_stack

ANNA = "anna@example.com"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack behind a proxy, with one person whom an admin has added."""
    with issuing() as keys:
        keys.answer = key_set(PROXY_KEY)
        settings = {"DEMO": "", "IAP_AUDIENCE": AUDIENCE, "IAP_KEYS_URL": keys.url}
        with running_stack(tmp_path_factory.mktemp("stack"), **settings) as running:
            running.api().call("POST", "/api/users", 201, json={"username": ANNA, "role": "operator"})
            yield running


@dataclass
class Proxied:
    """A page behind the proxy, and whom the proxy says it is; None while it says nothing."""

    visit: WatchedPage
    email: str | None

    def open(self) -> Page:
        """The dashboard, as this person opens it."""
        self.visit.page.route("**/api/**", self._pass_on)
        return self.visit.open()

    def _pass_on(self, route: Route) -> None:
        address = urlsplit(route.request.url)._replace(netloc=f"127.0.0.1:{self.visit.stack.ports['API_PORT']}")
        said = {} if self.email is None else {"X-Goog-IAP-JWT-Assertion": asserted(email=self.email)}
        route.continue_(url=urlunsplit(address), headers={**route.request.headers, **said})


@pytest.fixture
def arrive(open_page: OpenPage) -> Callable[[str], Proxied]:
    """Somebody whom the proxy has let through."""
    return lambda email: Proxied(open_page(), email)


def test_whoever_the_proxy_knows_is_in_without_a_form_and_has_nothing_to_sign_out_of(
    arrive: Callable[[str], Proxied],
) -> None:
    page = arrive(ANNA).open()

    expect(page.get_by_text(ANNA)).to_be_visible()
    expect(page.get_by_label("Password")).to_have_count(0)
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)

    page.goto(page.url + "?v=settings")
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    expect(page.get_by_role("button", name="Change password")).to_have_count(0)


def test_whom_nobody_added_is_told_whom_to_ask(arrive: Callable[[str], Proxied]) -> None:
    stranger = arrive("stranger@example.com")
    stranger.visit.expect_answer(403, "/api/session")
    page = stranger.open()

    expect(page.get_by_role("alert")).to_contain_text("stranger@example.com")
    expect(page.get_by_role("alert")).to_contain_text("ask an admin to add you by that address")


def test_whose_proof_has_ended_loads_the_page_again(arrive: Callable[[str], Proxied]) -> None:
    anna = arrive(ANNA)
    page = anna.open()
    expect(page.get_by_text(ANNA)).to_be_visible()
    anna.visit.expect_answer(401, "/api/")
    anna.email = None

    again = page.get_by_role("dialog", name="Sign in again")
    expect(again).to_contain_text("Load the page again to sign in")
    anna.email = ANNA
    again.get_by_role("button", name="Load again").click()

    expect(again).to_have_count(0)
    expect(page.get_by_text(ANNA)).to_be_visible()
