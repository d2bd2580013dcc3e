"""The public status page of a site: what a reader with a link gets, and what no page shows."""

import secrets
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from extensions.status_pages.kept_answers import LATEST, MOST, KeptAnswers
from extensions.status_pages.routes import kept_pages
from functions.api.services import Services
from shared.access.rules import MOST_FAILURES, digest
from shared.postgres.door import database_now, transaction
from shared.tables import incident_members, incidents, scheduler_status
from shared.vocabulary import Role
from shared.words.sentences import as_given, to_row
from tests.api.people import Api, new_address
from tests.api.site_world import token_for
from tests.api.test_availability import now_of, opening_hours, since
from tests.api.test_fleet_routes import add
from tests.stores import incidents_world

FIELDS = {"site", "as_of", "displays", "more", "incidents"}
OF_DISPLAY = {"name", "state", "since", "hours", "availability", "known_seconds"}


@pytest.fixture(autouse=True)
def _nothing_is_kept(services: Services) -> None:
    """Each test begins with an empty store of answers."""
    kept_pages(services)._answers.clear()


@pytest.fixture(autouse=True)
def _the_fleet_is_heard(engine: Engine) -> None:
    """The bridge listens and the scheduler is on time."""
    with transaction(engine) as connection:
        now = database_now(connection)
        incidents_world.listen(connection, now)
        connection.execute(sa.update(scheduler_status).values(last_tick_at=now))


@pytest.fixture
def shop(engine: Engine) -> str:
    """The name of a shop without displays."""
    return f"Shop {secrets.token_hex(4)}"


def made(api: Api, site: str, **options: Any) -> dict[str, Any]:
    answer = api.post("/api/status-links", **{"role": "admin", **options}, json={"name": "the manager", "site": site})
    assert answer.status_code == 201, answer.get_data(as_text=True)
    found: dict[str, Any] = answer.get_json()
    return found


def opened(api: Api, secret: str, address: str | None = None, **headers: str) -> TestResponse:
    sent = {"X-Status-Link": secret, "X-Forwarded-For": address or new_address(), **headers}
    return api.get("/api/status", None, headers=sent)


def displays(api: Api, secret: str) -> list[dict[str, Any]]:
    answer = opened(api, secret)
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.get_json()["displays"]
    return found


def test_whoever_has_the_link_reads_names_and_states_and_nothing_else(api: Api, engine: Engine, shop: str) -> None:
    now = now_of(engine)
    facts: dict[str, Any] = {"site": shop, "hostname": "nuc-17", "ip": "10.1.2.3"}
    for name, status in (("Window", "running"), ("Till", "crashed"), ("Door", "late"), ("Hall", "stale")):
        since(engine, add(engine, name=name, status=status, **facts), now - timedelta(days=9))
    add(engine, name="Elsewhere", status="running", site="Another shop")

    answer = opened(api, made(api, shop)["secret"])

    page = answer.get_json()
    assert (set(page), {frozenset(one) for one in page["displays"]}) == (FIELDS, {frozenset(OF_DISPLAY)})
    assert {one["name"]: one["state"] for one in page["displays"]} == {
        "Door": "running",
        "Hall": "not_running",
        "Till": "not_running",
        "Window": "running",
    }
    assert (page["site"], page["more"], page["incidents"]) == (shop, False, [])
    said = answer.get_data(as_text=True)
    assert not [
        hidden for hidden in ("nuc-17", "10.1.2.3", "Elsewhere", "Another", "uuid", "crashed") if hidden in said
    ]


def test_the_answer_sets_no_cookie_and_is_neither_stored_nor_indexed(api: Api, shop: str) -> None:
    headers = opened(api, made(api, shop)["secret"]).headers

    assert "Set-Cookie" not in headers
    assert (headers["Cache-Control"], headers["X-Robots-Tag"]) == ("no-store", "noindex")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_the_week_is_told_hour_by_hour_with_its_share(api: Api, engine: Engine, shop: str) -> None:
    now = now_of(engine)
    uuid = add(engine, name="Window", status="running", site=shop)
    failed, mended = now - timedelta(hours=25, minutes=30), now - timedelta(hours=23, minutes=30)
    since(engine, uuid, now - timedelta(days=9), (failed, "running", "crashed"), (mended, "crashed", "running"))
    young = add(engine, name="Young", status="unknown", site=shop)
    since(engine, young, now - timedelta(hours=2, minutes=30))

    old, new = displays(api, made(api, shop)["secret"])

    assert len(old["hours"]) == len(new["hours"]) == 168
    assert set(old["hours"]) == {"r", "n"}
    assert old["hours"].count("n") in {2, 3}
    assert old["availability"] == pytest.approx(166 / 168, abs=0.001)
    assert datetime.fromisoformat(old["since"]) == mended
    assert (new["hours"].strip("-"), new["availability"], new["state"]) == ("uuu", None, "unknown")


def test_a_screen_that_is_meant_to_be_off_is_off_and_its_time_does_not_count(
    api: Api, engine: Engine, shop: str
) -> None:
    now = now_of(engine)
    since(engine, add(engine, name="Window", status="crashed", site=shop), now - timedelta(days=30))
    shut, opens = now - timedelta(hours=2), now + timedelta(hours=2)
    opening_hours(engine, shop, f"{opens:%H:%M}", f"{shut:%H:%M}", now - timedelta(days=20))

    [window] = displays(api, made(api, shop)["secret"])

    assert window["state"] == "off"
    assert datetime.fromisoformat(window["since"]) == shut.replace(second=0, microsecond=0)
    assert window["availability"] == 0.0
    assert set(window["hours"]) == {"n", "-"}


def test_an_incident_is_told_without_subnet_or_service(api: Api, engine: Engine, shop: str) -> None:
    with transaction(engine) as connection:
        now = database_now(connection)
        incidents_world.listen(connection, now)
        uuids = incidents_world.site(connection, now, shop)
        incidents_world.go_silent(connection, now, uuids[:8])
        incidents_world.observe(connection, now)

    link = made(api, shop)["secret"]
    [told] = opened(api, link).get_json()["incidents"]
    [german] = opened(api, link, **{"Accept-Language": "de"}).get_json()["incidents"]

    assert set(told) == {"began_at", "cause"}
    assert told["cause"].startswith(f"8 of 12 displays at site {shop} ")
    assert german["cause"].startswith(f"8 von 12 Displays am Standort {shop} ")
    with transaction(engine) as connection:
        mine = incident_members.c.client_uuid.in_(uuids)
        ids = sa.select(incident_members.c.incident_id).where(mine)
        closed = sa.update(incidents).where(incidents.c.id.in_(ids)).values(closed_at=sa.func.now())
        connection.execute(closed)


def test_an_incident_of_other_sites_too_does_not_name_them(api: Api, engine: Engine, shop: str) -> None:
    other = f"Other {secrets.token_hex(4)}"
    mine, theirs = add(engine, status="stale", site=shop), add(engine, status="stale", site=other)
    with transaction(engine) as connection:
        now = database_now(connection)
        cause = to_row(as_given(text=f"All of {other} went silent."))
        row = {"kind": "site", "key": other, "cause": cause, "began_at": now}
        query = sa.insert(incidents).values(**row, opened_at=now).returning(incidents.c.id)
        number = connection.execute(query).scalar_one()
        for uuid in (mine, theirs):
            member = {"incident_id": number, "client_uuid": uuid, "symptom": "silent"}
            connection.execute(sa.insert(incident_members).values(**member, joined_at=now, failed_at=now))

    answer = opened(api, made(api, shop)["secret"])

    assert [one["cause"] for one in answer.get_json()["incidents"]] == [
        "Displays of other sites failed at the same time."
    ]
    assert other not in answer.get_data(as_text=True)


# --- links ---


def test_an_ended_an_unknown_and_a_hostile_link_get_the_same_answer(api: Api, shop: str) -> None:
    ended = made(api, shop)
    api.delete(f"/api/status-links/{ended['id']}")
    hostile = [
        "",
        " ",
        "x" * 4000,
        "' OR 1=1 --",
        "%00",
        "sgn_0",
        "\xff\xfe",
        api.tokens["admin"],
        digest(ended["secret"]),
    ]

    answers = [opened(api, secret) for secret in (ended["secret"], secrets.token_urlsafe(32), *hostile)]

    said = [{**answer.get_json(), "request_id": ""} for answer in answers]
    assert {answer.status_code for answer in answers} == {404}
    assert said == [said[0]] * len(said)
    assert (said[0]["code"], said[0]["detail"]) == ("status_link_invalid", "This link is not valid.")
    assert api.get("/api/status", None, headers={"X-Forwarded-For": new_address()}).status_code == 404


def test_a_link_opens_its_page_and_no_other_route(api: Api, shop: str) -> None:
    secret = made(api, shop)["secret"]

    assert api.get("/api/clients", token=secret).status_code == 401
    assert api.get("/api/clients", None, headers={"X-Status-Link": secret}).status_code == 401


def test_a_stranger_who_tries_links_has_to_wait_and_valid_links_do_not(api: Api, services: Services, shop: str) -> None:
    address, secret = new_address(), made(api, shop)["secret"]
    most = MOST_FAILURES

    answers = [opened(api, secrets.token_urlsafe(32), address) for _ in range(most + 1)]

    assert [answer.status_code for answer in answers] == [404] * most + [429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert opened(api, secret, address).status_code == 200
    assert opened(api, "another", new_address()).status_code == 404


def test_the_last_use_is_listed_and_every_change_is_audited(api: Api, shop: str) -> None:
    link = made(api, shop)
    assert set(link) == {"id", "name", "site", "secret"}
    before = listed(api)[link["id"]]
    opened(api, link["secret"])
    used = listed(api)[link["id"]]
    opened(api, link["secret"])
    api.delete(f"/api/status-links/{link['id']}")

    assert (before["last_used_at"], used["last_used_at"] is None) == (None, False)
    assert listed(api)[link["id"]]["last_used_at"] == used["last_used_at"]  # at most once a minute
    assert listed(api)[link["id"]]["ended_at"] is not None
    lines = api.get("/api/audit", "admin", query_string={"target": f"status_link:{link['id']}"}).get_json()["items"]
    assert [(line["action"], line["details"].get("site")) for line in lines] == [
        ("status_link.delete", None),
        ("status_link.create", shop),
    ]
    assert link["secret"] not in str([lines, listed(api)])


def listed(api: Api, **options: Any) -> dict[int, dict[str, Any]]:
    answer = api.get("/api/status-links?limit=100", **{"role": "admin", **options})
    return {one["id"]: one for one in answer.get_json()["items"]}


def test_a_link_stays_when_its_maker_is_gone_and_another_admin_ends_it(api: Api, engine: Engine, shop: str) -> None:
    maker = token_for(engine, Role.ADMIN, [shop])
    link, other = (made(api, shop, token=maker) for _ in "12")
    assert api.delete(f"/api/status-links/{other['id']}", token=maker).status_code == 204
    [number] = [
        one["id"] for one in api.get("/api/tokens?limit=100", "admin").get_json()["items"] if one["sites"] == [shop]
    ]

    assert api.delete(f"/api/tokens/{number}").status_code == 204
    assert api.delete(f"/api/status-links/{link['id']}", token=maker).status_code == 401
    assert opened(api, link["secret"]).status_code == 200
    assert api.delete(f"/api/status-links/{link['id']}").status_code == 204
    assert opened(api, link["secret"]).status_code == 404


# --- a crowd ---


def test_a_crowd_reads_the_site_once(api: Api, engine: Engine, shop: str) -> None:
    secrets_of_two = [made(api, shop)["secret"] for _ in "12"]
    add(engine, name="Window", status="running", site=shop)

    answers = [opened(api, secret).get_json() for secret in secrets_of_two * 3]

    assert {answer["as_of"] for answer in answers} == {answers[0]["as_of"]}


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_an_answer_is_made_anew_when_it_is_old() -> None:
    clock = Clock()
    kept = KeptAnswers(timedelta(seconds=10), clock)

    assert kept.get("a", lambda: b"first") == b"first"
    clock.at += 9
    assert kept.get("a", lambda: b"second") == b"first"
    assert kept.get("b", lambda: b"other") == b"other"
    clock.at += 1
    assert kept.get("a", lambda: b"second") == b"second"


def test_while_one_renews_an_answer_others_get_the_old_one_for_a_while() -> None:
    clock = Clock()
    kept = KeptAnswers(timedelta(seconds=10), clock)
    kept.get("a", lambda: b"first")
    clock.at += 10

    def renew() -> bytes:
        inside.append(kept.get("a", lambda: b"not asked for"))
        clock.at += 10 * (LATEST - 1)
        inside.append(kept.get("a", lambda: b"too old by now"))
        return b"second"

    inside: list[bytes] = []
    assert kept.get("a", renew) == b"second"
    assert inside == [b"first", b"too old by now"]


def test_an_answer_that_could_not_be_made_is_tried_by_the_next() -> None:
    clock = Clock()
    kept = KeptAnswers(timedelta(seconds=10), clock)
    kept.get("a", lambda: b"first")
    clock.at += 10

    def fail() -> bytes:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        kept.get("a", fail)
    assert kept.get("a", lambda: b"second") == b"second"


def test_no_more_answers_are_kept_than_there_is_room_for() -> None:
    kept = KeptAnswers(timedelta(seconds=10), Clock())

    for number in range(MOST + 5):
        kept.get(str(number), lambda: b"x")

    assert len(kept._answers) == MOST
    assert kept.get("0", lambda: b"anew") == b"anew"
