"""Every route, called by people and tokens whose rights are for one site only."""

import re
import secrets
import threading
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine

from extensions.batches import schedules_operations as schedules
from functions.api.app import create_app
from functions.api.auth import PROXY_ASSERTION
from functions.api.routes import ALL
from functions.api.routing import Bound, Endpoint
from functions.api.services import Services
from shared.access import sites_store, store
from shared.access.people import store as people_store
from shared.access.rules import digest, parse_token
from shared.config import Config
from shared.postgres.door import database_now, transaction
from shared.recovery.breakers import store as breakers_store
from shared.tables import (
    client_health,
    clients,
    command_schedule_runs,
    command_schedules,
    incident_members,
    incidents,
    recovery_breakers,
    users,
)
from shared.vocabulary import PrincipalKind, Role
from shared.words.sentences import as_given, to_row
from tests.api.people import Api, ask_by_cookie
from tests.api.role_matrix import BOUND_BY
from tests.api.site_world import FOREIGN, OWN, SiteWorld, fill, planned, token_for
from tests.rules.proxy_harness import AUDIENCE, asserted, proxy_keys

ENDPOINTS = {f"{endpoint.method} {endpoint.path}": endpoint for routes in ALL for endpoint in routes.endpoints}
ASKED = {name: endpoint for name, endpoint in ENDPOINTS.items() if endpoint.role is not None}
OF_SITES = {name: one for name, one in ASKED.items() if one.bound in {Bound.CLIENTS, Bound.LISTS}}
ROLES = ("viewer", "operator", "admin")
NOBODYS = {"uuid": "00000000-0000-4000-8000-000000000009", "id": 999_999_999}
RESTART = {"action": "restart_app"}
HOLD = {"preset": "hold", "reason": "painted"}
# A body of each route of a site that takes one: well formed, and nothing in it is anybody's.
BODIES: dict[str, dict[str, Any]] = {
    "PATCH /api/clients/<uuid:uuid>": {"notes": "seen"},
    "POST /api/clients/<uuid:uuid>/log-level": {"level": "debug", "minutes": 1},
    "POST /api/clients/<uuid:uuid>/commands": RESTART,
    "POST /api/commands/<uuid:command_id>/end": {"reason": "stuck"},
    "POST /api/commands": {**RESTART, "clients": [NOBODYS["uuid"]]},
    "POST /api/recovery/breaker/release": {"site": "nowhere"},
    "PUT /api/screenshot-policy": {"site": "nowhere", "allowed": False},
    "PUT /api/expectations": {"scope": "site", "target": "nowhere"},
    "POST /api/quiet-times": {"preset": "hold", "reason": "painted", "scope": "site", "site": "nowhere"},
    "PATCH /api/quiet-times/<id:quiet_id>": {"reason": "other"},
    "PATCH /api/clients": {"clients": [NOBODYS["uuid"]], "site": "nowhere"},
    "POST /api/clients/service_failed/mended": {
        "failures": [{"uuid": NOBODYS["uuid"], "service_failed_at": "2026-01-01T00:00:00Z"}]
    },
    "POST /api/clients/<uuid:uuid>/service_failed/take": {"service_failed_at": "2026-01-01T00:00:00Z"},
    "POST /api/incidents/<id:incident_id>/take": {},
    "POST /api/schedules": planned(filter={"site": "nowhere"}),
    "POST /api/status-links": {"name": "the manager", "site": "nowhere"},
    "PATCH /api/schedules/<uuid:schedule_id>": {"reason": "other"},
}


@pytest.fixture(scope="module")
def world(api: Api, engine: Engine) -> SiteWorld:
    return fill(api, engine)


@pytest.fixture(scope="module")
def tokens(engine: Engine) -> dict[str, str]:
    """Role -> a token for the own site."""
    return {role: token_for(engine, Role(role), [OWN]) for role in ROLES}


def path_of(endpoint: Endpoint, ids: dict[str, Any]) -> str:
    """The path with these ids, or with ids of nothing."""

    def fill_in(match: re.Match[str]) -> str:
        return str(ids.get(match[2], NOBODYS.get(match[1] or "", "nothing")))

    return re.sub(r"<(?:(\w+):)?(\w+)>", fill_in, endpoint.path)


def body_of(name: str) -> dict[str, Any]:
    return {"json": BODIES[name]} if ENDPOINTS[name].body is not None else {}


# --- which routes ---


def test_every_route_says_how_sites_bound_it_here_too() -> None:
    assert {name: endpoint.bound.name for name, endpoint in ENDPOINTS.items()} == BOUND_BY


@pytest.mark.parametrize("name", [name for name, one in ASKED.items() if one.bound is Bound.FLEET])
@pytest.mark.parametrize("role", ROLES)
def test_what_is_about_the_whole_fleet_is_refused(name: str, role: str, api: Api, tokens: dict[str, str]) -> None:
    endpoint = ENDPOINTS[name]

    answer = api.ask(endpoint.method, path_of(endpoint, {}), token=tokens[role])

    above = endpoint.role is not None and ROLES.index(endpoint.role.value) > ROLES.index(role)
    assert (answer.status_code, answer.get_json()["code"]) == (403, "forbidden" if above else "site_not_allowed")


@pytest.mark.parametrize("name", [name for name, one in ASKED.items() if one.bound is Bound.NONE])
@pytest.mark.parametrize("role", ROLES)
def test_what_is_not_about_clients_answers_by_the_role_alone(
    name: str, role: str, api: Api, tokens: dict[str, str]
) -> None:
    endpoint = ENDPOINTS[name]
    path = path_of(endpoint, {})

    everywhere, here = (api.ask(endpoint.method, path, role, **{"token": t} if t else {}) for t in ("", tokens[role]))

    assert here.status_code == everywhere.status_code


# --- reads ---


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", [name for name, one in OF_SITES.items() if one.method == "GET"])
def test_a_read_shows_the_own_site_and_nothing_of_another(
    name: str, role: str, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    endpoint = ENDPOINTS[name]
    path = path_of(endpoint, world.ids[OWN])

    query = QUERIES.get(path)

    everywhere = api.get(path, role, query_string=query)
    here = api.get(path, token=tokens[role], query_string=query)

    assert here.status_code == everywhere.status_code
    if here.status_code == 200 and here.is_json:
        said = here.get_data(as_text=True)
        assert not [uuid for uuid in world.displays[FOREIGN] if uuid in said]
        assert FOREIGN not in said


SHOWS_BOTH = {
    "/api/clients",
    "/api/clients/crashed",
    "/api/clients/service_failed",
    "/api/clients/unsteady",
    "/api/client-logs/summary",
    "/api/client-logs/recent-errors",
    "/api/monitoring/overview",
    "/api/monitoring/displays",
    "/api/recovery/events",
    "/api/incidents",
    "/api/quiet-times",
    "/api/command-batches",
    "/api/dead-letters",
    "/api/schedules",
    "/api/status-links",
}
# A change of what it names alone: it leaves what the caller cannot see as it is.
LEAVES_OTHERS = {"POST /api/clients/service_failed/mended"}
QUERIES = {"/api/recovery/mended": {"since": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize("path", sorted(SHOWS_BOTH))
def test_the_world_has_something_to_hide_in_each_list(
    path: str, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    query = {"limit": 100} if path != "/api/client-logs/summary" and "overview" not in path else {}

    everywhere = api.get(path, "admin", query_string=query).get_data(as_text=True)
    here = api.get(path, token=tokens["admin"], query_string=query).get_data(as_text=True)

    marks = [*world.displays[FOREIGN], FOREIGN, world.ids[FOREIGN]["batch_id"]]
    assert any(mark in everywhere for mark in marks)
    assert any(mark in here for mark in [*world.displays[OWN], OWN, world.ids[OWN]["batch_id"]])
    assert not any(mark in here for mark in marks)


def test_availability_is_of_the_own_site(api: Api, world: SiteWorld, tokens: dict[str, str]) -> None:
    own, foreign = world.displays[OWN][0], world.displays[FOREIGN][0]
    day = "/api/availability/day", {"client": [own, foreign]}
    days = {"since": "2026-01-01", "until": "2026-01-31"}
    site, sites = ("/api/availability/site", {"site": FOREIGN, **days}), ("/api/availability/sites", days)

    for path, query in (day, site):
        everywhere = api.get(path, query_string=query).get_data(as_text=True)
        here = api.get(path, token=tokens["viewer"], query_string=query).get_data(as_text=True)
        assert (foreign in everywhere, foreign in here) == (True, False)
        assert (own in here) == (path == day[0])
    here = api.get(sites[0], token=tokens["viewer"], query_string=sites[1]).get_json()
    assert [one["site"] for one in here["items"]] == [OWN]


def test_counts_are_of_the_own_site(api: Api, world: SiteWorld, tokens: dict[str, str]) -> None:
    here = api.get("/api/monitoring/overview", token=tokens["viewer"]).get_json()

    assert here["counts"]["total"] == len(world.displays[OWN])
    assert here["counts"]["stale"] == 5
    assert here["counts"]["limit_passed"] == 1
    assert [(one["key"], one["members"], one["unwell"]) for one in here["incidents"]] == [(OWN, 7, 7)]
    assert [one["uuid"] for one in here["service_failed"]] == [world.displays[OWN][6]]
    assert {one["site"] for one in here["clients"]} == {OWN}
    assert here["scheduler"]["did"] == {}


def test_an_incident_beyond_the_own_sites_counts_the_own_displays_alone(
    api: Api, world: SiteWorld, engine: Engine, tokens: dict[str, str]
) -> None:
    with transaction(engine) as connection:
        now = database_now(connection)
        facts = {"kind": "cluster", "key": "", "began_at": now, "opened_at": now, "closed_at": now}
        facts["cause"] = to_row(as_given(text=""))
        counted = {"members": 3, "present": 0, "peak": 3, "waned_at": now}
        row = sa.insert(incidents).returning(incidents.c.id)
        before, other = (connection.execute(row.values(**facts, **counted)).scalar_one() for _ in range(2))
        again = connection.execute(row.values(**facts, **counted, again_of=other)).scalar_one()
        third = connection.execute(row.values(**facts, **counted, again_of=before)).scalar_one()
        foreign, mine = world.displays[FOREIGN][:2], world.displays[OWN][:1]
        of = {before: [*foreign, *mine], other: foreign, again: [*foreign, *mine], third: [*foreign, *mine]}
        left = {"joined_at": now, "left_at": now, "failed_at": now, "symptom": "silent"}
        rows = [{"incident_id": at, "client_uuid": uuid, **left} for at, group in of.items() for uuid in group]
        connection.execute(sa.insert(incident_members), rows)

    def shown(incident_id: int, **by: str) -> tuple[int, int, int | None]:
        row = api.get(f"/api/incidents/{incident_id}", **by).get_json()
        return row["members"], row["unwell"], row["again_of"]

    assert (shown(again), shown(again, token=tokens["viewer"])) == ((3, 0, other), (1, 0, None))
    assert (shown(third), shown(third, token=tokens["viewer"])) == ((3, 0, before), (1, 0, before))
    with transaction(engine) as connection:
        connection.execute(sa.delete(incidents).where(incidents.c.id.in_(of)))


def test_what_has_no_site_is_for_the_whole_fleet_only(api: Api, engine: Engine, tokens: dict[str, str]) -> None:
    lonely = {"uuid": "00000000-0000-4000-8000-00000000abcd", "registered_by": "enrolment"}
    with transaction(engine) as connection:
        connection.execute(sa.insert(clients).values(**lonely))

    path = f"/api/clients/{lonely['uuid']}"
    assert api.get(path).status_code == 200
    assert api.get(path, token=tokens["admin"]).status_code == 404


# --- what belongs to another site does not exist ---

NOT_FOUND = {
    "client-logs": "client_not_found",
    "clients": "client_not_found",
    "commands": "command_not_found",
    "command-batches": "command_batch_not_found",
    "incidents": "incident_not_found",
    "quiet-times": "quiet_time_not_found",
    "schedules": "schedule_not_found",
    "screenshots": "screenshot_not_found",
    "expectations": "expectation_not_found",
    "status-links": "status_link_not_found",
}


@pytest.mark.parametrize("name", [name for name in OF_SITES if "<" in name])
def test_what_is_of_another_site_answers_as_if_it_did_not_exist(
    name: str, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    endpoint = ENDPOINTS[name]

    foreign, nothing = (
        api.ask(endpoint.method, path_of(endpoint, ids), token=tokens["admin"], **body_of(name))
        for ids in (world.ids[FOREIGN], {})
    )

    missing = (404, NOT_FOUND[endpoint.path.split("/")[2]])
    assert [(answer.status_code, answer.get_json()["code"]) for answer in (foreign, nothing)] == [missing] * 2


@pytest.mark.parametrize(
    "name",
    [name for name, one in OF_SITES.items() if one.body is not None and "<" not in name and name not in LEAVES_OTHERS],
)
def test_a_change_that_names_nothing_of_the_own_site_is_refused(
    name: str, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    answer = api.ask(ENDPOINTS[name].method, path_of(ENDPOINTS[name], {}), token=tokens["admin"], **body_of(name))

    assert (answer.status_code, answer.get_json()["code"]) == (403, "site_not_allowed")


# --- writes that reach beyond ---


def refused(answer: Any) -> bool:
    return (answer.status_code, (answer.get_json() or {}).get("code")) == (403, "site_not_allowed")


@pytest.mark.parametrize("site", [FOREIGN, "", None, "a new one"])
def test_a_display_cannot_be_moved_out_of_the_own_sites(
    site: str | None, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    mine = f"/api/clients/{world.displays[OWN][1]}"

    assert refused(api.patch(mine, token=tokens["admin"], json={"site": site, "name": "moved"}))
    assert api.get(mine).get_json()["name"] != "moved"
    assert api.patch(mine, token=tokens["admin"], json={"site": OWN}).status_code == 200


def test_a_batch_names_displays_of_the_own_sites_only(api: Api, world: SiteWorld, tokens: dict[str, str]) -> None:
    both = {**RESTART, "clients": [world.displays[OWN][2], world.displays[FOREIGN][2]]}
    by_filter = {**RESTART, "filter": {"tag": "lobby"}, "waves": [1, "rest"], "reason": "by tag"}

    assert refused(api.post("/api/commands", token=tokens["operator"], json=both))
    assert refused(api.post("/api/commands", token=tokens["operator"], json={**both, "dry_run": True}))
    sent = api.post("/api/commands", token=tokens["operator"], json=by_filter).get_json()
    assert sorted(one["uuid"] for one in sent["outcomes"]) == sorted(world.displays[OWN])
    assert api.post(f"/api/command-batches/{sent['batch_id']}/abort", token=tokens["operator"]).status_code == 200
    other = {**RESTART, "filter": {"site": FOREIGN}}
    assert api.post("/api/commands", token=tokens["operator"], json=other).get_json()["code"] == "no_clients"


@pytest.mark.parametrize("verb", ["pause", "resume", "abort"])
def test_a_batch_for_other_sites_too_is_shown_in_part_and_not_touched(
    verb: str, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    path = f"/api/command-batches/{world.shared_batch}"
    if verb == "resume":
        api.post(f"{path}/pause")

    shown = api.get(path, token=tokens["viewer"]).get_json()
    answer = api.post(f"{path}/{verb}", token=tokens["operator"])

    assert [one["uuid"] for one in shown["members"]["items"]] == [world.displays[OWN][7]]
    assert shown["clients"] == 1
    assert refused(answer)
    assert api.get(path).get_json()["state"] == ("paused" if verb == "resume" else "running")
    if verb == "resume":
        api.post(f"{path}/resume")


BEYOND: list[tuple[str, dict[str, Any]]] = [
    ("POST /api/quiet-times", {**HOLD, "scope": "fleet"}),
    ("POST /api/quiet-times", {**HOLD, "scope": "tag", "tag": "lobby"}),
    ("POST /api/quiet-times", {**HOLD, "scope": "site", "site": FOREIGN}),
    ("POST /api/schedules", planned(filter={"site": FOREIGN})),
    ("POST /api/schedules", planned(filter={"tag": "lobby"})),
    ("POST /api/schedules", planned(filter={"q": OWN})),
    ("PUT /api/screenshot-policy", {"site": FOREIGN, "allowed": False}),
    ("PUT /api/expectations", {"scope": "site", "target": FOREIGN}),
    ("PUT /api/expectations", {"scope": "tag", "target": "lobby"}),
    ("PUT /api/screenshot-policy", {"site": "", "allowed": False}),
    ("POST /api/recovery/breaker/release", {"site": FOREIGN}),
    ("POST /api/recovery/breaker/release", {}),
]


@pytest.mark.parametrize(("name", "body"), BEYOND)
def test_what_reaches_beyond_the_own_sites_is_refused(
    name: str, body: dict[str, Any], api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    method, path = name.split()

    assert refused(api.ask(method, path, token=tokens["admin"], json=body))


OF_DISPLAYS = {"/api/quiet-times": {**HOLD, "scope": "clients"}, "/api/schedules": planned()}
OF_THE_SITE = {
    "/api/quiet-times": {**HOLD, "scope": "site", "site": OWN},
    "/api/schedules": planned(filter={"site": OWN, "tag": "lobby"}),
}


@pytest.mark.parametrize("path", OF_DISPLAYS)
def test_displays_of_another_site_are_unknown(path: str, api: Api, world: SiteWorld, tokens: dict[str, str]) -> None:
    both = {**OF_DISPLAYS[path], "clients": [world.displays[OWN][2], world.displays[FOREIGN][2]]}
    before = api.get(f"{path}?limit=100").get_json()

    assert api.post(path, token=tokens["admin"], json=both).get_json()["code"] == "clients_unknown"
    assert api.get(f"{path}?limit=100").get_json() == before


@pytest.mark.parametrize(("path", "over"), [("/api/quiet-times", "ended"), ("/api/schedules", "cancelled")])
def test_what_is_of_the_own_site_can_be_made_changed_and_ended(
    path: str, over: str, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    of_one = {**OF_DISPLAYS[path], "clients": [world.displays[OWN][3]]}
    for body, covers in ((OF_THE_SITE[path], 12), (of_one, 1)):
        key = {"Idempotency-Key": secrets.token_hex(8)}
        first, again = (api.post(path, token=tokens["operator"], json=body, headers=key).get_json() for _ in "12")
        mine = f"{path}/{first['id']}"
        assert (again["id"], first["covers"]) == (first["id"], covers)
        changed = api.patch(mine, token=tokens["operator"], json={"reason": "later"}).get_json()
        assert changed["reason"] == "later"
        assert api.delete(mine, token=tokens["operator"]).status_code == 204
        assert api.get(mine).get_json()["state"] == over


@pytest.mark.parametrize(
    ("path", "name", "covers", "state"),
    [
        ("/api/quiet-times", "shared_quiet", 1, "on"),
        ("/api/quiet-times", "fleet_quiet", 12, "on"),
        ("/api/schedules", "shared_schedule", 1, "planned"),
        ("/api/schedules", "tag_schedule", 12, "planned"),
    ],
)
def test_what_is_for_other_sites_too_is_shown_in_part_and_not_touched(
    path: str, name: str, covers: int, state: str, api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    shared = f"{path}/{getattr(world, name)}"

    assert refused(api.delete(shared, token=tokens["admin"]))
    assert refused(api.patch(shared, token=tokens["admin"], json={"reason": "mine"}))
    assert api.get(shared).get_json()["state"] == state
    shown = api.get(shared, token=tokens["viewer"]).get_json()
    assert (shown["covers"], shown["clients"]) == (covers, [world.displays[OWN][7]] if covers == 1 else [])


def test_a_display_tells_the_schedules_of_other_sites_that_reach_it(
    api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    path = f"/api/clients/{world.displays[OWN][7]}/schedules"

    told = {one["id"] for one in api.get(path, token=tokens["viewer"]).get_json()["items"]}

    assert told >= {world.shared_schedule, world.tag_schedule, world.ids[OWN]["schedule_id"]}


def test_people_of_a_site_release_its_breaker_and_switch_its_pictures(
    api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    release = api.post("/api/recovery/breaker/release", token=tokens["operator"], json={"site": OWN})
    assert release.get_json()["released"] == [OWN]
    for allowed, off in ((False, [OWN]), (True, [])):
        body = {"site": OWN, "allowed": allowed}
        answer = api.ask("PUT", "/api/screenshot-policy", token=tokens["admin"], json=body)
        assert answer.get_json() == {"sites_off": off}


def test_the_limit_of_schedules_counts_those_of_other_sites_too(
    api: Api, world: SiteWorld, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    live = "/api/schedules?current=true&limit=100"
    mine = len(api.get(live, token=tokens["operator"]).get_json()["items"])
    all_of_them = len(api.get(live).get_json()["items"])
    monkeypatch.setattr(schedules, "MOST_LIVE", all_of_them)

    answer = api.post("/api/schedules", token=tokens["operator"], json=planned(filter={"site": OWN}))

    assert mine < all_of_them
    assert answer.get_json()["code"] == "too_many_schedules"


def test_times_of_schedules_are_shown_and_written_with_them(
    api: Api, engine: Engine, world: SiteWorld, tokens: dict[str, str]
) -> None:
    """A schedule whose time has come and whom no tick saw: whoever cancels it writes down that it was missed."""
    made = api.post("/api/schedules", token=tokens["operator"], json=planned(filter={"site": OWN})).get_json()
    ids = (made["id"], world.ids[FOREIGN]["schedule_id"])
    with transaction(engine) as connection:
        hour = database_now(connection) - timedelta(hours=1)
        late = sa.update(command_schedules).where(command_schedules.c.id == ids[0]).values(next_at=hour)
        connection.execute(late)
        for schedule_id in ids:
            run = {"schedule_id": schedule_id, "due_at": hour - timedelta(days=7), "outcome": "missed"}
            connection.execute(sa.insert(command_schedule_runs).values(**run, why=to_row(as_given(text="late"))))

    assert api.delete(f"/api/schedules/{ids[0]}", token=tokens["operator"]).status_code == 204
    times = api.get(f"/api/schedules/{ids[0]}", token=tokens["viewer"]).get_json()["times"]["items"]
    assert [one["outcome"] for one in times] == ["missed", "missed"]


def test_many_displays_are_moved_and_tagged_within_the_own_sites(
    api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    mine, foreign = world.displays[OWN][1], world.displays[FOREIGN][1]
    both = {"clients": [mine, foreign]}

    for site in (FOREIGN, "", None, "a new one"):
        assert refused(api.patch("/api/clients", token=tokens["admin"], json={**both, "site": site}))
    tagged = api.patch("/api/clients", token=tokens["operator"], json={**both, "add_tags": ["new"], "site": OWN})
    assert tagged.get_json() == {"written": [mine], "left": [foreign], "no_longer_quiet": []}
    seen = {uuid: api.get(f"/api/clients/{uuid}").get_json() for uuid in (mine, foreign)}
    assert {(one["site"], "new" in one["tags"]) for one in seen.values()} == {(OWN, True), (FOREIGN, False)}


def test_mended_failures_are_acknowledged_at_the_own_sites_alone(
    api: Api, engine: Engine, world: SiteWorld, tokens: dict[str, str]
) -> None:
    names = {OWN: world.displays[OWN][10], FOREIGN: world.displays[FOREIGN][10]}
    with transaction(engine) as connection:
        now = database_now(connection)
        failed_at = now - timedelta(minutes=9)
        facts = {"service_failed_at": failed_at, "service_failed_unit": "player", "status": "running"}
        which = clients.c.uuid.in_(names.values())
        connection.execute(sa.update(clients).where(which).values(**facts, status_since=failed_at))
        for uuid in names.values():
            connection.execute(sa.delete(client_health).where(client_health.c.client_uuid == uuid))
            connection.execute(
                sa.insert(client_health).values(client_uuid=uuid, received_at=now, body={"service_failed": None})
            )
        listed = sa.select(clients.c.uuid, clients.c.service_failed_at).where(which)
        failures = [
            {"uuid": row.uuid, "service_failed_at": row.service_failed_at.isoformat()}
            for row in connection.execute(listed)
        ]

    overviews = overview(api, tokens["viewer"])["service_failed"]
    answer = api.post("/api/clients/service_failed/mended", token=tokens["operator"], json={"failures": failures})

    assert names[FOREIGN] not in str(overviews)
    assert answer.get_json() == {"acknowledged": [names[OWN]]}
    assert api.get(f"/api/clients/{names[FOREIGN]}").get_json()["service_failed_at"] is not None
    api.post("/api/clients/service_failed/mended", json={"failures": failures})


def test_resuming_a_display_leaves_a_hold_of_several_alone(api: Api, world: SiteWorld, tokens: dict[str, str]) -> None:
    answer = api.post(f"/api/clients/{world.displays[OWN][7]}/recovery/resume", token=tokens["operator"])

    assert answer.status_code == 200
    assert api.get(f"/api/quiet-times/{world.shared_quiet}").get_json()["state"] == "on"


def test_open_breakers_of_other_sites_are_not_seen(api: Api, engine: Engine, world: SiteWorld) -> None:
    shut = sa.update(recovery_breakers).values(open_since=sa.func.now(), why=to_row(as_given(text="silent")))
    parsed = parse_token(token_for(engine, Role.VIEWER, [OWN]))
    assert parsed is not None

    with engine.connect() as connection:
        connection.execute(shut.where(recovery_breakers.c.site.in_([OWN, FOREIGN])))
        everywhere = {one.site for one in breakers_store.standing(connection)}
        sites_store.narrow(connection, PrincipalKind.TOKEN, parsed[0], Role.VIEWER, to_write=False)
        here = {one.site for one in breakers_store.standing(connection)}

    assert (everywhere, here) == ({OWN, FOREIGN}, {OWN})


def test_what_a_caller_of_a_site_does_is_in_the_audit_log(api: Api, world: SiteWorld, tokens: dict[str, str]) -> None:
    mine = world.displays[OWN][4]

    assert api.patch(f"/api/clients/{mine}", token=tokens["operator"], json={"notes": "here"}).status_code == 200
    assert api.post(f"/api/clients/{mine}/enrolment", token=tokens["admin"]).status_code == 201

    lines = api.get("/api/audit", "admin", query_string={"target": mine}).get_json()["items"]
    assert {"client.write", "enrolment.create"} <= {line["action"] for line in lines}


# --- the overview and its cursor ---


def overview(api: Api, token: str, since: str | None = None) -> dict[str, Any]:
    query = {"since": since} if since else {}
    found: dict[str, Any] = api.get("/api/monitoring/overview", token=token, query_string=query).get_json()
    return found


def test_the_overview_goes_on_until_a_display_comes_or_leaves(api: Api, engine: Engine, world: SiteWorld) -> None:
    token = token_for(engine, Role.VIEWER, [OWN])
    mover = world.displays[FOREIGN][11]
    first = overview(api, token)

    second = overview(api, token, first["cursor"])
    api.patch(f"/api/clients/{mover}", json={"site": OWN})
    come = overview(api, token, second["cursor"])
    api.patch(f"/api/clients/{mover}", json={"site": FOREIGN})
    gone = overview(api, token, come["cursor"])

    assert (first["full"], second["full"]) == (True, False)
    assert (come["full"], gone["full"]) == (True, True)
    assert (mover in str(come["clients"]), mover in str(gone["clients"])) == (True, False)


def test_a_cursor_of_other_sites_is_not_continued(api: Api, engine: Engine, world: SiteWorld) -> None:
    everywhere = overview(api, api.tokens["viewer"])
    here = overview(api, token_for(engine, Role.VIEWER, [OWN]))
    both = overview(api, token_for(engine, Role.VIEWER, [OWN, FOREIGN]))

    for cursor in (everywhere["cursor"], both["cursor"]):
        assert overview(api, token_for(engine, Role.VIEWER, [OWN]), cursor)["full"]
    assert overview(api, api.tokens["viewer"], here["cursor"])["full"]


# --- people ---


def added(api: Api, sites: list[str] | None, role: str = "operator") -> dict[str, Any]:
    body = {"username": f"site-{secrets.token_hex(4)}@example.com", "role": role, "sites": sites}
    answer = api.post("/api/users", "admin", json=body)
    assert answer.status_code == 201
    user: dict[str, Any] = answer.get_json()["user"]
    return user


def session_of(engine: Engine, user_id: int) -> str:
    """The cookie of a new session of somebody who has set a password."""
    cookie = secrets.token_urlsafe(32)
    with transaction(engine) as connection:
        now = database_now(connection)
        own = {"must_change_password": False, "one_time_until": None}
        connection.execute(sa.update(users).where(users.c.id == user_id).values(**own))
        store.insert_session(connection, digest(cookie), user_id, now, now + timedelta(hours=1))
    return cookie


def seen_by(app: Flask, cookie: str) -> set[str | None]:
    """The sites of the displays that this person sees."""
    listed = ask_by_cookie(app, "GET", "/api/clients?limit=100", cookie)
    assert listed.status_code == 200
    return {one["site"] for one in (listed.json or {})["items"]}


def test_a_person_of_one_site_sees_it_and_says_so(api: Api, app: Flask, engine: Engine, world: SiteWorld) -> None:
    user = added(api, [OWN, OWN, "Aachen"])
    cookie = session_of(engine, user["id"])

    session = ask_by_cookie(app, "GET", "/api/session", cookie).json or {}

    assert user["sites"] == ["Aachen", OWN]
    assert session["principal"]["sites"] == ["Aachen", OWN]
    assert user["disabled_at"] is None
    assert seen_by(app, cookie) == {OWN}


def test_a_person_of_one_site_sees_it_alone_by_the_proxy_too(
    api: Api, services: Services, engine: Engine, world: SiteWorld
) -> None:
    user = added(api, [OWN])
    with proxy_keys():
        behind = {"IAP_AUDIENCE": AUDIENCE}
        proxied = create_app(Services(Config({**services.config.values, **behind}), services.engine))
        headers = {PROXY_ASSERTION: asserted(email=user["username"]), "X-Requested-With": "signage"}
        ask = proxied.test_client(use_cookies=False).open

        listed = ask("/api/clients?limit=100", headers=headers).json or {}
        foreign = ask(f"/api/clients/{world.displays[FOREIGN][0]}", method="PATCH", json={"notes": ""}, headers=headers)
        own = ask(f"/api/clients/{world.displays[OWN][0]}", method="PATCH", json={"notes": ""}, headers=headers)

    assert {one["site"] for one in listed["items"]} == {OWN}
    assert (foreign.status_code, own.status_code) == (404, 200)


def test_a_change_of_sites_ends_the_sessions_and_is_audited(
    api: Api, app: Flask, engine: Engine, world: SiteWorld
) -> None:
    user = added(api, [OWN])
    path, cookie = f"/api/users/{user['id']}", session_of(engine, user["id"])

    changed = api.patch(path, "admin", json={"sites": [FOREIGN]}).get_json()
    assert changed["sites"] == [FOREIGN]
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401
    assert seen_by(app, session_of(engine, user["id"])) == {FOREIGN}
    assert api.patch(path, "admin", json={"sites": None}).get_json()["sites"] is None
    assert seen_by(app, session_of(engine, user["id"])) >= {OWN, FOREIGN}
    lines = api.get("/api/audit", "admin", query_string={"target": f"user:{user['username']}"}).get_json()["items"]
    assert [(line["action"], line["details"].get("sites")) for line in lines] == [
        ("user.sites", None),
        ("user.sites", [FOREIGN]),
        ("user.create", [OWN]),
    ]


def test_a_person_of_one_site_is_disabled_and_enabled_like_others(api: Api, app: Flask, engine: Engine) -> None:
    user = added(api, [OWN])
    path = f"/api/users/{user['id']}"

    assert api.patch(path, "admin", json={"disabled": True}).get_json()["disabled_at"] is not None
    assert ask_by_cookie(app, "GET", "/api/session", session_of(engine, user["id"])).status_code == 401
    moved = api.patch(path, "admin", json={"sites": None}).get_json()
    assert (moved["sites"], moved["disabled_at"] is None) == (None, False)
    assert api.patch(path, "admin", json={"sites": [OWN], "disabled": False}).get_json()["disabled_at"] is None
    assert ask_by_cookie(app, "GET", "/api/session", session_of(engine, user["id"])).status_code == 200


@pytest.mark.parametrize("sites", [[], ["x" * 101], [""], [f"site {n}" for n in range(201)], "Basel"])
def test_sites_are_one_to_two_hundred_names(sites: Any, api: Api) -> None:
    body = {"username": f"site-{secrets.token_hex(4)}", "role": "viewer", "sites": sites}

    assert api.post("/api/users", "admin", json=body).status_code == 400
    assert api.post("/api/tokens", "admin", json={"name": "t", "role": "viewer", "sites": sites}).status_code == 400


def test_a_token_of_one_site_is_listed_and_revoked(api: Api, world: SiteWorld) -> None:
    issued = api.post("/api/tokens", "admin", json={"name": "t", "role": "viewer", "sites": [OWN]}).get_json()

    assert issued["sites"] == [OWN]
    assert api.get("/api/clients", token=issued["token"]).status_code == 200
    listed = {one["id"]: one for one in api.get("/api/tokens?limit=100", "admin").get_json()["items"]}
    assert (listed[issued["id"]]["sites"], listed[issued["id"]]["revoked_at"]) == ([OWN], None)
    assert api.delete(f"/api/tokens/{issued['id']}").status_code == 204
    assert api.get("/api/clients", token=issued["token"]).status_code == 401


def test_an_admin_of_one_site_is_no_keyholder(api: Api, engine: Engine) -> None:
    user = added(api, [OWN], "admin")
    session_of(engine, user["id"])

    with transaction(engine) as connection:
        for by_proxy in (False, True):
            admins = people_store.lock_admins(connection, by_proxy=by_proxy)
            assert user["id"] not in people_store.keyholders(admins)


# --- races ---


def test_a_display_that_moves_away_meanwhile_gets_no_command(
    api: Api, engine: Engine, world: SiteWorld, tokens: dict[str, str]
) -> None:
    mover, answers = world.displays[OWN][11], []
    path = f"/api/clients/{mover}/commands"

    def send() -> None:
        answers.append(api.post(path, token=tokens["operator"], json=RESTART).status_code)

    with engine.begin() as connection:
        connection.execute(sa.update(clients).where(clients.c.uuid == mover).values(site=FOREIGN))
        sender = threading.Thread(target=send)
        sender.start()
        wait_until_somebody_waits(engine)
    sender.join()

    assert answers == [404]
    api.patch(f"/api/clients/{mover}", json={"site": OWN})


def wait_until_somebody_waits(engine: Engine) -> None:
    """Return when a session waits for a lock."""
    waits = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    while True:
        with engine.connect() as other:
            if other.execute(waits).scalar_one():
                return


def test_a_change_of_rights_waits_for_a_write_in_progress_and_counts_from_then(api: Api, engine: Engine) -> None:
    user = added(api, [OWN])
    kind, role = PrincipalKind.USER, Role(user["role"])

    with engine.begin() as writing:
        assert sites_store.narrow(writing, kind, str(user["id"]), role, to_write=True) is not None
        with engine.connect() as admin:
            admin.execute(sa.text("SET LOCAL lock_timeout = '50ms'"))
            change = sa.update(users).where(users.c.id == user["id"]).values(sites=[FOREIGN])
            with pytest.raises(sa.exc.DBAPIError, match="lock"):
                admin.execute(change)
    api.patch(f"/api/users/{user['id']}", "admin", json={"sites": None})
    with engine.begin() as late:
        assert sites_store.narrow(late, kind, str(user["id"]), role, to_write=True) is None


def test_the_same_connection_serves_callers_of_all_and_of_some_sites(
    api: Api, world: SiteWorld, tokens: dict[str, str]
) -> None:
    for _ in range(8):
        assert len(api.get("/api/clients?limit=100").get_json()["items"]) > len(world.displays[OWN])
        assert len(api.get("/api/clients?limit=100", token=tokens["viewer"]).get_json()["items"]) == 12


def test_a_transaction_that_names_no_sites_sees_nothing(engine: Engine) -> None:
    for statement in (f"SELECT * FROM {sites_store.SCHEMA}.clients", "SELECT * FROM users"):
        with engine.connect() as connection:
            connection.execute(sa.text(f"SET LOCAL search_path = {sites_store.SCHEMA}"))
            with pytest.raises(sa.exc.DBAPIError):
                connection.execute(sa.text(statement))
