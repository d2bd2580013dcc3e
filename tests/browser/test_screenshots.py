"""A screenshot of a display, from the click to the picture, through the whole stack."""

import re
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import requests
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, Route, expect
from sqlalchemy import Engine

from displays.simulated import picture
from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, uuid_of
from tests.browser.test_every_page import is_right_in_every_look
from tests.browser.windows import Opened
from tests.stack import Api, enrolled, eventually

TAKE = "Take a screenshot"
INCIDENT = """
    WITH made AS (
        INSERT INTO incidents (kind, cause, began_at, opened_at)
        VALUES ('cluster', '{"code": "as_given", "facts": {"text": "They crashed together."}}',
            now() - interval '1 minute', now()) RETURNING id)
    INSERT INTO incident_members (incident_id, client_uuid, joined_at, symptom, failed_at)
    SELECT id, :uuid, now(), 'crashed', now() FROM made RETURNING incident_id
"""


@pytest.fixture
def seen(api: Api, tmp_path: Path, opened: Opened) -> Iterator[SimulatedDisplay]:
    """A display of a site of its own that knows the service's address, and therefore sends pictures."""
    with display_of(api, f"Site {uuid.uuid4()}"[:13], tmp_path / "seen") as display:
        yield display
        opened.close()


@contextmanager
def display_of(api: Api, site: str, folder: Path, *, sends_pictures: bool = True) -> Iterator[SimulatedDisplay]:
    """A running display of this site."""
    identity = str(uuid.uuid4())
    login = enrolled(api, identity)
    with SimulatedDisplay(replace(login, url=api.url) if sends_pictures else login, folder) as display:
        api.call("PATCH", f"/api/clients/{identity}", json={"name": f"Lobby {identity[:8]}", "site": site})
        display.call(lambda: setattr(display.display, "name", "Lobby North"))
        display.heartbeat("running")
        display.health()
        eventually(lambda: api.get(f"/api/clients/{identity}")["capabilities"], "what it can do")
        yield display
    api.call("DELETE", f"/api/clients/{identity}", 204)


def box(page: Page) -> Locator:
    return page.get_by_role("region", name="Screen", exact=True)


def site_of(api: Api, display: SimulatedDisplay) -> str:
    return str(api.get(f"/api/clients/{uuid_of(display)}")["site"])


def is_drawn(picture: Locator) -> bool:
    """Whether the browser has drawn a picture from the service's answer."""
    return bool(picture.evaluate("img => img.complete && img.naturalWidth === 960"))


def screenshots(api: Api, display: SimulatedDisplay) -> list[dict[str, object]]:
    found: list[dict[str, object]] = api.get(f"/api/clients/{uuid_of(display)}/screenshots")["items"]
    return found


def has_pictures(api: Api, display: SimulatedDisplay, count: int) -> bool:
    return len(screenshots(api, display)) == count


def test_a_click_shows_what_the_screen_shows_and_how_old_that_is(
    enter: Enter, seen: SimulatedDisplay, api: Api
) -> None:
    page = enter(f"/?d={uuid_of(seen)}").page
    expect(box(page)).to_contain_text("No picture yet.")

    box(page).get_by_role("button", name=TAKE).click()

    picture = box(page).locator("img:not(.thumb)")
    expect(picture).to_be_visible()
    eventually(lambda: is_drawn(picture), "the picture")
    expect(box(page).locator("p.quiet").first).to_have_text(re.compile(r"^Taken \d+ s ago"))
    assert str(picture.get_attribute("alt")).startswith(f"Screen of {name_of(seen)}, ")
    expect(box(page).get_by_role("status")).to_have_count(0)
    [command] = api.get(f"/api/clients/{uuid_of(seen)}/commands")["items"]
    assert (command["action"], command["state"]) == ("screenshot", "succeeded")
    eventually(lambda: confirmed_by(api, command["id"]) == "both", "the display's word")


def confirmed_by(api: Api, command: str) -> str:
    return str(api.get(f"/api/commands/{command}")["confirmed_by"])


def test_an_earlier_picture_can_be_looked_at_again(enter: Enter, seen: SimulatedDisplay, api: Api) -> None:
    for count in (1, 2):
        api.post(f"/api/clients/{uuid_of(seen)}/commands", {"action": "screenshot"}, 202)
        eventually(partial(has_pictures, api, seen, count), "the picture")
    page = enter(f"/?d={uuid_of(seen)}").page
    large = box(page).locator("img:not(.thumb)")
    newest = large.get_attribute("src")

    box(page).locator("button[aria-pressed]").click()

    expect(large).not_to_have_attribute("src", str(newest))
    expect(box(page).locator("button[aria-pressed]")).to_have_attribute("aria-pressed", "true")


def test_while_a_picture_is_awaited_the_player_can_be_restarted(enter: Enter, seen: SimulatedDisplay, api: Api) -> None:
    seen.behave(answers_commands=False)
    page = enter(f"/?d={uuid_of(seen)}").page
    box(page).get_by_role("button", name=TAKE).click()
    expect(box(page).get_by_role("status")).to_have_text("Waiting for the display's picture…")

    page.get_by_role("button", name="Restart player").click()

    orders = page.get_by_role("region", name="Commands", exact=True)
    expect(orders.locator(".order")).to_contain_text("Restart player")
    expect(orders.get_by_role("button", name="Restart player")).to_be_disabled()
    expect(box(page).get_by_role("status")).to_be_visible()
    found = api.get(f"/api/clients/{uuid_of(seen)}/commands")["items"]
    assert sorted(one["action"] for one in found) == ["restart_app", "screenshot"]


def expire_commands(database: Engine, display: SimulatedDisplay) -> None:
    """Let the half minute of this display's commands pass."""
    expire = "UPDATE client_commands SET created_at = now() - interval '1 minute', expires_at = now()"
    with database.begin() as connection:
        connection.execute(sa.text(f"{expire} WHERE client_uuid = :uuid"), {"uuid": uuid_of(display)})


def test_a_display_that_does_not_answer_says_why_there_is_no_picture(
    enter: Enter, seen: SimulatedDisplay, database: Engine
) -> None:
    seen.behave(answers_commands=False)
    page = enter(f"/?d={uuid_of(seen)}").page

    box(page).get_by_role("button", name=TAKE).click()

    expect(box(page).get_by_role("status")).to_have_text("Waiting for the display's picture…")
    expire_commands(database, seen)
    expect(box(page).get_by_role("alert")).to_contain_text("The display did not acknowledge it in time.")
    expect(box(page).get_by_role("button", name=TAKE)).to_be_enabled()


def test_a_display_that_sends_no_pictures_says_so(enter: Enter, display: SimulatedDisplay) -> None:
    page = enter(f"/?d={uuid_of(display)}").page

    expect(page.get_by_text("This display sends no pictures of its screen.")).to_be_visible()
    expect(page.get_by_role("button", name=TAKE)).to_have_count(0)


def test_an_admin_lets_nobody_see_a_site_and_lets_them_again(enter: Enter, seen: SimulatedDisplay, api: Api) -> None:
    api.post(f"/api/clients/{uuid_of(seen)}/commands", {"action": "screenshot"}, 202)
    eventually(lambda: screenshots(api, seen), "the picture")
    page = enter(f"/?d={uuid_of(seen)}").page
    site = site_of(api, seen)

    box(page).get_by_role("button", name=f"Let nobody see the screens of {site}").click()
    box(page).get_by_role("button", name="Delete their pictures, and take no more").click()

    expect(box(page)).to_contain_text(f"Nobody may see the screens of {site}. An admin can change that.")
    expect(box(page).locator("img")).to_have_count(0)
    expect(box(page).get_by_role("button", name=TAKE)).to_have_count(0)
    assert screenshots(api, seen) == []
    box(page).get_by_role("button", name=f"Let operators see the screens of {site}").click()
    expect(box(page).get_by_role("button", name=TAKE)).to_be_enabled()


def test_an_incident_shows_the_screens_before_the_failure(
    enter: Enter, seen: SimulatedDisplay, api: Api, database: Engine
) -> None:
    seen.heartbeat("running")
    seen.heartbeat("crashed")
    eventually(lambda: len(screenshots(api, seen)) == 3, "the pictures before the crash")
    with database.begin() as connection:
        incident = connection.execute(sa.text(INCIDENT), {"uuid": uuid_of(seen)}).scalar_one()

    page = enter(f"/?v=incidents&i={incident}").page

    pictures = page.get_by_role("region", name=name_of(seen)).locator("img.thumb")
    expect(pictures).to_have_count(3)
    eventually(lambda: is_drawn(pictures.first), "the thumbnail")
    assert all(one["failure_at"] for one in screenshots(api, seen))


def test_a_shop_is_shown_as_pictures_by_a_switch_with_the_age_of_each(
    enter: Enter, seen: SimulatedDisplay, api: Api
) -> None:
    site = site_of(api, seen)
    api.post(f"/api/clients/{uuid_of(seen)}/commands", {"action": "screenshot"}, 202)
    eventually(lambda: has_pictures(api, seen, 1), "a picture")
    page = enter(f"/?site={site}").page

    page.get_by_role("button", name="Pictures", exact=True).click()

    wall = page.get_by_role("list", name="Pictures of the screens")
    picture = wall.get_by_role("img", name=f"Screen of {name_of(seen)}")
    eventually(lambda: picture.count() == 1 and is_drawn(picture), "the picture on the wall")
    expect(wall.get_by_role("listitem")).to_contain_text(re.compile(r"Running.*ago", re.DOTALL))
    expect(page.locator(".displays table")).to_have_count(0)
    is_right_in_every_look(page, "the wall of pictures")
    wall.get_by_role("button").click()
    expect(page.get_by_role("complementary", name=f"Display {name_of(seen)}")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Pictures", exact=True).click()
    expect(page.locator(".displays table")).to_be_visible()


NEW = "New pictures"


def new_pictures(page: Page) -> Locator:
    return page.get_by_role("button", name=NEW, exact=True)


def progress(page: Page) -> Locator:
    """How many pictures came."""
    return page.locator(".picture-bar").get_by_role("status")


def commands(api: Api, display: SimulatedDisplay) -> list[str]:
    """The ids of the screenshots that this display was asked for."""
    found = api.get(f"/api/clients/{uuid_of(display)}/commands")["items"]
    return [one["id"] for one in found if one["action"] == "screenshot"]


def answer_late(api: Api, display: SimulatedDisplay) -> None:
    """Send the picture that this display was asked for last, as the display itself does."""
    login = display.display.credentials
    answer = requests.post(
        f"{api.url}/api/display/screenshots/{commands(api, display)[0]}",
        data=picture.draw("late", "now", "running"),
        headers={"Content-Type": "image/jpeg"},
        auth=(login.uuid, login.password),
        timeout=60,
    )
    assert answer.status_code == 201, answer.text


def test_one_press_brings_new_pictures_of_a_whole_shop_in_numbers_that_add_up(
    enter: Enter, api: Api, database: Engine, tmp_path: Path, opened: Opened
) -> None:
    site = f"Shop {uuid.uuid4()}"[:13]
    with ExitStack() as shop:
        first, second, silent, blind, away = (
            shop.enter_context(display_of(api, site, tmp_path / name, sends_pictures=name != "blind"))
            for name in ("first", "second", "silent", "blind", "away")
        )
        silent.behave(answers_commands=False)
        away.disconnect()
        eventually(lambda: api.get(f"/api/clients/{uuid_of(away)}")["presence"] == "offline", "its absence")
        watched = enter(f"/?site={site}&show=pictures")
        watched.expect_answer(422, rf"{uuid_of(blind)}/commands$")
        page = watched.page
        wall = page.get_by_role("list", name="Pictures of the screens")
        expect(wall.get_by_text("No picture yet.")).to_have_count(5)

        new_pictures(page).click()

        others = "1 display cannot send one, 1 display is not connected"
        expect(progress(page)).to_have_text(f"2 of 5 pictures came, {others}, 1 still to come.")
        expect(new_pictures(page)).to_be_disabled()
        for one in (first, second):
            drawn = wall.get_by_role("img", name=f"Screen of {name_of(one)}")
            eventually(partial(is_drawn, drawn), "the picture on the wall")
        expire_commands(database, silent)
        expect(progress(page)).to_have_text(f"2 of 5 pictures came, {others}, 1 display did not answer.")
        expect(wall.get_by_role("listitem").filter(has_text=name_of(silent))).to_contain_text("Did not answer")
        expect(new_pictures(page)).to_be_enabled()
        assert [len(commands(api, one)) for one in (first, second, silent, blind, away)] == [1, 1, 1, 0, 0]
        is_right_in_every_look(page, "the new pictures")
        api.call("PUT", "/api/screenshot-policy", json={"site": site, "allowed": False})
        new_pictures(page).click()
        expect(progress(page)).to_have_text(
            "0 of 5 pictures came, 4 screens may not be seen, 1 display is not connected."
        )
        opened.close()


def test_who_presses_twice_or_elsewhere_or_leaves_waits_for_the_same_picture(
    enter: Enter, seen: SimulatedDisplay, api: Api
) -> None:
    seen.behave(answers_commands=False)
    address = f"/?site={site_of(api, seen)}&show=pictures"
    one, other = enter(address), enter(address)
    other.expect_answer(409, "/commands$")
    still = "0 of 1 picture came, 1 still to come."
    new_pictures(one.page).dblclick()
    expect(progress(one.page)).to_have_text(still)
    eventually(lambda: commands(api, seen), "the command")
    with other.page.expect_response(lambda answer: answer.request.method == "POST" and answer.status == 409):
        new_pictures(other.page).click()
    expect(progress(other.page)).to_have_text(still)
    one.open(address)
    expect(progress(one.page)).to_have_text("")

    answer_late(api, seen)

    expect(progress(other.page)).to_have_text("1 of 1 picture came.")
    wall = other.page.get_by_role("list", name="Pictures of the screens")
    eventually(lambda: is_drawn(wall.get_by_role("img")), "the picture on the wall")
    assert len(commands(api, seen)) == 1
    one.open(address)
    expect(one.page.get_by_role("img", name=f"Screen of {name_of(seen)}")).to_be_visible()


def test_a_busy_service_is_asked_for_the_same_picture_again_when_it_says(
    enter: Enter, seen: SimulatedDisplay, api: Api
) -> None:
    watched = enter(f"/?site={site_of(api, seen)}&show=pictures")
    watched.expect_answer(429, "/commands$")
    keys: list[str] = []

    def busy_at_first(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) > 1:
            route.continue_()
        else:
            route.fulfill(status=429, headers={"Retry-After": "1"}, json={"code": "busy", "status": 429})

    watched.page.route("**/commands", busy_at_first)

    new_pictures(watched.page).click()

    expect(progress(watched.page)).to_have_text("1 of 1 picture came.")
    assert len(keys) == 2
    assert len(set(keys)) == len(commands(api, seen)) == 1
