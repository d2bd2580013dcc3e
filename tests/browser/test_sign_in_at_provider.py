"""People sign in at a real OpenID Connect provider of another site, in a real browser, and out again."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.sign_in_service import SIGN_IN_SERVICE
from tests.browser.watched import WatchedPage

BUTTON = f"Sign in with {SIGN_IN_SERVICE}"


@pytest.fixture
def visit(open_page: OpenPage) -> WatchedPage:
    """A page of a browser that nobody has signed in with."""
    page = open_page()
    page.expect_answer(404, "/favicon.ico")  # of the provider
    return page


def sign_in_as(visit: WatchedPage, login: str, address: str = "/") -> Page:
    """Press the button, sign in on the provider's own page, and agree."""
    page = visit.open(address)
    page.get_by_role("button", name=BUTTON).click()
    page.locator("input[name=login]").fill(login)
    page.locator("input[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()
    return page


def test_people_come_back_to_the_page_they_left_with_the_providers_role_and_sites(visit: WatchedPage) -> None:
    page = sign_in_as(visit, "cora", "/?v=incidents")

    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_role("heading", name="Incidents", level=1)).to_be_visible()
    expect(page.locator(".who")).to_have_text(re.compile("cora operator.*Rome"))
    assert page.url == f"{visit.stack.url}/?v=incidents"

    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_text("You sign in with Example Login")).to_be_visible()
    expect(page.get_by_role("button", name="Change password")).to_have_count(0)


def test_signing_out_signs_out_at_the_provider_too(visit: WatchedPage) -> None:
    page = sign_in_as(visit, "cora")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Yes, sign me out").click()

    expect(page.get_by_role("button", name=BUTTON)).to_be_visible()
    assert page.url == f"{visit.stack.url}/"
    page.get_by_role("button", name=BUTTON).click()
    expect(page.locator("input[name=login]")).to_be_visible()  # nobody is signed in there


def test_whom_the_provider_gives_no_role_is_told_so_and_a_password_still_works(
    visit: WatchedPage, stack_password: str
) -> None:
    page = sign_in_as(visit, "eve")

    expect(page.get_by_role("alert")).to_have_text(re.compile("knows you, but gives you no role here"))
    assert page.url == f"{visit.stack.url}/"
    visit.fill_sign_in(stack_password)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_admins_see_who_comes_from_the_provider(visit: WatchedPage) -> None:
    page = sign_in_as(visit, "ada", "/?v=settings")

    people = page.get_by_role("region", name="People")
    ada = people.get_by_role("listitem").filter(has_text="ada (you)")
    expect(ada).to_contain_text("role and sites from Example Login, anew at each sign-in")
    expect(people).to_contain_text("People to whom Example Login gives a role come in by themselves")
