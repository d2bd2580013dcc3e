"""The public status page of a site: an admin makes a link, a person without an account reads it, the admin ends it."""

import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from shared.incidents import causes_rules
from shared.postgres.many import as_json
from shared.tables import clients, incident_members, incidents
from shared.vocabulary import IncidentKind, Symptom
from tests.browser.conftest import Enter, OpenPage
from tests.browser.fleets import Fleet, inserted
from tests.browser.test_every_page import is_right_in_every_look
from tests.browser.windows import Opened
from tests.stack import Api, Stack


@pytest.fixture
def kiel(database: Engine, opened: Opened) -> Iterator[Fleet]:
    with inserted(database, f"Shop Kiel {uuid.uuid4().hex[:4]}", 3) as fleet:  # answers of a site are kept for 10 s
        fleet.lived(days=30)
        yield fleet
        opened.close()


def path_of(link: str, stack: Stack) -> str:
    """The link without the stack's address."""
    assert link.startswith(f"{stack.url}/status.html#")
    return link.removeprefix(stack.url)


def test_a_link_is_made_read_without_an_account_and_ended(
    enter: Enter, open_page: OpenPage, stack: Stack, kiel: Fleet
) -> None:
    now = datetime.now(UTC)
    kiel.was(2, "crashed", now - timedelta(hours=30), now - timedelta(hours=20))
    settings = enter("/?v=settings").page
    card = settings.get_by_role("region", name="Status pages")
    card.get_by_label("Who gets the link").fill("manager of Kiel")
    card.get_by_label("Site").select_option(kiel.site)
    card.get_by_role("button", name="Make a link").click()
    link = path_of(card.locator(".issued code").inner_text(), stack)

    stranger = open_page()
    stranger.page.goto(f"{stack.url}{link}")
    page = stranger.page
    expect(page.get_by_role("heading", level=1)).to_have_text(kiel.site)
    expect(page.get_by_role("listitem")).to_have_count(3)
    expect(page.get_by_text("All displays run.")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text=kiel.name(2))).to_contain_text(
        re.compile(r"running.*9\d(\.\d)?% available in the last 7 days")
    )
    bars = page.get_by_role("img", name=re.compile("each hour by its worst state"))
    expect(bars).to_have_count(3)
    assert page.context.cookies() == []
    assert kiel.uuid(1) not in page.content()
    is_right_in_every_look(page, "the status page")
    german = open_page(locale="de-DE")
    german.page.goto(f"{stack.url}{link}")
    expect(german.page.get_by_text("Alle Displays laufen.")).to_be_visible()

    row = card.locator(".token").filter(has_text="manager of Kiel")
    is_right_in_every_look(settings, "the settings")
    row.get_by_role("button", name="End the link manager of Kiel").click()
    settings.get_by_role("dialog").get_by_role("button", name="End", exact=True).click()
    expect(row).to_contain_text("Ended")

    stranger.expect_answer(404, "/api/status")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("This link is not valid.")
    assert kiel.site not in page.content()


def test_a_shop_in_trouble_says_what_is_down_what_is_unknown_and_what_fell_together(
    api: Api, open_page: OpenPage, stack: Stack, database: Engine, kiel: Fleet
) -> None:
    now = datetime.now(UTC)
    kiel.says("crashed", 1, 2)
    kiel.says("unknown", 3, 3)
    begin_an_incident(database, kiel, now - timedelta(minutes=4))
    link = api.post("/api/status-links", {"name": "manager of Kiel", "site": kiel.site}, expected=201)

    german = open_page(locale="de-DE").page
    german.goto(f"{stack.url}/status.html#{link['secret']}")
    expect(german.get_by_role("status")).to_have_text(
        "2 Displays laufen nicht. Der Zustand von 1 Display ist nicht bekannt."
    )
    expect(german.get_by_text(f"2 von 3 Displays am Standort {kiel.site}")).to_be_visible()
    expect(german.get_by_role("listitem").filter(has_text=kiel.name(1))).to_contain_text("läuft nicht")
    expect(german.get_by_role("listitem").filter(has_text=kiel.name(3))).to_contain_text("unbekannt")
    assert not re.search(r"\d+\.\d+\.\d+\.\d+", german.get_by_role("main").inner_text()), "no address"
    is_right_in_every_look(german, "trouble in German")


def test_a_young_display_says_for_how_long_it_is_known(
    api: Api, open_page: OpenPage, stack: Stack, database: Engine, kiel: Fleet
) -> None:
    with database.begin() as connection:
        made = sa.update(clients).where(clients.c.uuid == kiel.uuid(1))
        connection.execute(made.values(created_at=datetime.now(UTC) - timedelta(minutes=13)))
    link = api.post("/api/status-links", {"name": "manager of Kiel", "site": kiel.site}, expected=201)

    for locale, words in (
        ("en-US", r"known for 1\d min( \d+ s)?: 100% of that available"),
        ("de-DE", r"bekannt sind 1.+, davon zu 100"),
        ("ja-JP", r"分かっている1\d分(\d+秒)?の稼働率 100%"),
    ):
        page = open_page(locale=locale).page
        page.goto(f"{stack.url}/status.html#{link['secret']}")
        young = page.get_by_role("listitem").filter(has_text=kiel.name(1))
        expect(young).to_contain_text(re.compile(words))
    is_right_in_every_look(page, "a young display")


def begin_an_incident(database: Engine, fleet: Fleet, at: datetime) -> None:
    """Say that the fleet's first two displays crashed together."""
    kind, crashed = IncidentKind.SITE, {Symptom.CRASHED: 2}
    facts = causes_rules.Facts(kind, fleet.site, 3, crashed, at - timedelta(seconds=20), at, sites=1, unit=None)
    with database.begin() as connection:
        row = {"kind": kind, "key": fleet.site, "cause": json.loads(as_json(causes_rules.cause(facts)) or "")}
        made = sa.insert(incidents).values(**row, began_at=at, opened_at=at).returning(incidents.c.id)
        member = {"incident_id": connection.execute(made).scalar_one(), "symptom": "crashed"}
        rows = [{**member, "client_uuid": one, "joined_at": at, "failed_at": at} for one in fleet.uuids[:2]]
        connection.execute(sa.insert(incident_members), rows)
