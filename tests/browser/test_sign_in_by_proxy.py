"""People who sign in by the cloud's proxy: the page knows them without a form, or shows that it does not.

An api function beside the stack's own one believes a proxy whose keys a server on loopback has. The test stands where
the load balancer does: it passes `/api/` on to that function with the assertion, which the gateway of one box lets
nobody send.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from deploy.local.stack import Stack as LocalStack
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port
from deploy.parts.short_lived import running
from tests.browser.conftest import OpenPage
from tests.browser.watched import API, WatchedPage
from tests.rules.proxy_harness import AUDIENCE, asserted, proxy_keys
from tests.stack import Api, Stack

ANNA = "anna@example.com"
ADMIN = "ada@example.com"


@pytest.fixture(scope="module")
def function(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The api function behind a proxy, on the stack's database, with two people who have been added."""
    folder, port = tmp_path_factory.mktemp("proxied"), free_port()
    with proxy_keys() as keys:
        settings = {"API_PORT": str(port), "IAP_AUDIENCE": AUDIENCE}
        given = {**os.environ, **stack.ports, "LOCAL_STATE_DIR": str(stack.state), **settings}
        [service] = [one for one in LocalStack(given).middle() if one.name == "api"]
        constants = {"shared.outside.oidc.PROXY_KEYS_URL": keys}
        own = {"XDG_RUNTIME_DIR": str(folder), "CONSTANTS": json.dumps(constants)}
        environment = {**(service.environment or {}), **own}
        command = [*service.command, f"--source={REPOSITORY / 'tests' / 'api_with_constants.py'}"]
        with running(command, service.ready, folder / "output.txt", environment=environment):
            api = Api(f"http://127.0.0.1:{port}", stack.environment["SIGNAGE_ADMIN_TOKEN"])
            for username, role in ((ANNA, "operator"), (ADMIN, "admin")):
                api.call("POST", "/api/users", 201, json={"username": username, "role": role})
            yield api


@dataclass
class Proxied:
    """A page behind the proxy, and the identity that the proxy asserts; None while it asserts none."""

    visit: WatchedPage
    function: Api
    email: str | None

    def open(self) -> Page:
        """Open the dashboard as this person."""
        self.visit.page.route(API, self._pass_on)
        return self.visit.open()

    def _pass_on(self, route: Route) -> None:
        address = urlsplit(route.request.url)._replace(netloc=urlsplit(self.function.url).netloc)
        said = {} if self.email is None else {"X-Goog-IAP-JWT-Assertion": asserted(email=self.email)}
        headers = {**route.request.headers, **said}
        if route.request.method == "GET":
            route.continue_(url=urlunsplit(address), headers=headers)
        else:  # the load balancer keeps the host name of the page's request; here it must be the function's own
            headers["origin"] = f"http://{address.netloc}"
            route.fulfill(response=route.fetch(url=urlunsplit(address), headers=headers))


@pytest.fixture
def arrive(open_page: OpenPage, function: Api) -> Callable[[str], Proxied]:
    """Return a function that opens a page as a person whom the proxy has let through."""
    return lambda email: Proxied(open_page(), function, email)


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


def test_people_are_let_in_and_shown_out_without_a_word_of_passwords(arrive: Callable[[str], Proxied]) -> None:
    ada = arrive(ADMIN)
    page = ada.open()
    page.get_by_role("link", name="Settings").click()
    people = page.get_by_role("region", name="People")
    anna = people.get_by_role("listitem").filter(has_text=ANNA)
    expect(anna).to_contain_text("added")
    expect(people).to_contain_text("Everybody comes through the proxy in front of this service")

    people.get_by_role("button", name="Add a person…").click()
    dialog = page.get_by_role("dialog", name="Add a person")
    dialog.get_by_label("E-mail address").fill("bea@example.com")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(people.get_by_role("listitem").filter(has_text="bea@example.com")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)  # no password is to be handed over
    people.get_by_label(f"More about {ANNA}").click()
    expect(anna.get_by_role("button", name="Disable…")).to_be_visible()
    said = people.inner_text()
    assert "there is no password" in said
    assert re.findall("(?i)signed in|sign in|reset|hand", said) == []

    anna.get_by_role("button", name="Disable…").click()
    expect(dialog_of(page)).to_contain_text("They are not let in until they are enabled again.")
    dialog_of(page).get_by_role("button", name="Disable").click()
    expect(anna).to_contain_text("Disabled")
    gone = arrive(ANNA)
    gone.visit.expect_answer(403, "/api/session")
    expect(gone.open().get_by_role("alert")).to_contain_text("may not use this service yet")

    anna.get_by_label(f"More about {ANNA}").click()
    anna.get_by_role("button", name="Enable…").click()
    expect(dialog_of(page)).to_contain_text("They are let in again, with the role that they had.")
    dialog_of(page).get_by_role("button", name="Enable").click()
    expect(anna).not_to_contain_text("Disabled")


def dialog_of(page: Page) -> Locator:
    return page.get_by_role("dialog")


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
    anna.visit.look_again()

    again = page.get_by_role("dialog", name="Sign in again")
    expect(again).to_contain_text("Reload the page to sign in")
    anna.email = ANNA
    again.get_by_role("button", name="Reload").click()

    expect(again).to_have_count(0)
    expect(page.get_by_text(ANNA)).to_be_visible()
