"""The settings page: tokens that are shown once, the audit log, and the service's settings."""

import re

import requests
from playwright.sync_api import expect

from tests.browser.conftest import Enter
from tests.stack import Stack


def answer_to(stack: Stack, token: str) -> int:
    """Return the status that a script with this token gets."""
    return requests.get(
        f"{stack.url}/api/clients", headers={"Authorization": f"Bearer {token}"}, timeout=60
    ).status_code


def test_a_token_is_shown_once_works_and_is_refused_after_it_was_revoked(enter: Enter, stack: Stack) -> None:
    page = enter("/?v=settings").page
    page.get_by_label("What it is for").fill("wall script")
    page.get_by_role("button", name="Issue a token").click()

    shown = page.locator(".issued code")
    expect(shown).to_contain_text("sgn_")
    token = shown.inner_text()
    assert answer_to(stack, token) == 200
    page.reload()
    row = page.locator(".token").filter(has_text="wall script")
    expect(row).to_contain_text("viewer")
    assert token not in page.content()

    row.get_by_role("button", name="Revoke the token wall script").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()

    expect(row).to_contain_text("Revoked")
    assert answer_to(stack, token) == 401
    page.get_by_label("What", exact=True).fill("token.delete")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".audit").first).to_contain_text("revoked the token")
    expect(page.locator(".audit").filter(has_text="signed in")).to_have_count(0)


def test_a_token_is_issued_for_two_sites(enter: Enter, stack: Stack) -> None:
    page = enter("/?v=settings").page
    page.get_by_label("What it is for").fill("shop script")
    page.get_by_label("Only for these sites").fill("Basel\n  Bern, Hall 2 \n")
    page.get_by_role("button", name="Issue a token").click()

    expect(page.locator(".issued code")).to_contain_text("sgn_")
    expect(page.locator(".token").filter(has_text="shop script")).to_contain_text("for Basel and Bern, Hall 2 only")
    [made] = [one for one in stack.api().get("/api/tokens")["items"] if one["name"] == "shop script"]
    assert made["sites"] == ["Basel", "Bern, Hall 2"]


def test_the_service_tells_its_last_tick_and_every_value_in_force(enter: Enter) -> None:
    page = enter("/?v=settings").page

    service = page.get_by_role("region", name="Service")
    expect(service).to_contain_text(re.compile(r"took [\d,]+ ms"))
    expect(service).to_contain_text("listening")
    days = service.locator(".setting").filter(has_text="LOG_RETENTION_DAYS")
    expect(days).to_contain_text("270 d")
    expect(days).to_contain_text("default 30")
    expect(service).not_to_contain_text("MQTT_PASSWORD")
