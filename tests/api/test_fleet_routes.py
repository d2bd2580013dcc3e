"""Clients, overview and commands through the API, on real Postgres, without a broker."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from functions.api.routes.monitoring import OverviewAnswer, OverviewClient
from shared.clients import store
from shared.postgres.door import database_now, transaction
from shared.recovery import store as recovery_store
from shared.tables import client_heartbeats, clients
from shared.vocabulary import RecoveryDecision, RegisteredBy
from shared.words.sentences import as_given
from tests.api.people import Api
from tests.unpacked import unpacked


def add(engine: Engine, *, heartbeat_age: int | None = None, **facts: Any) -> str:
    """Add a client with these columns and, if `heartbeat_age` is given, a heartbeat of that age. Returns its uuid."""
    identity = str(uuid.uuid4())
    with transaction(engine) as connection:
        now = database_now(connection)
        store.register(connection, now, identity, RegisteredBy.ENROLMENT)
        if facts:
            connection.execute(sa.update(clients).where(clients.c.uuid == identity).values(**facts))
        if heartbeat_age is not None:
            heard = {"client_uuid": identity, "last_heartbeat_at": now - timedelta(seconds=heartbeat_age)}
            connection.execute(sa.insert(client_heartbeats).values(**heard))
    return identity


def test_facts_are_written_and_a_field_left_out_stays(api: Api, engine: Engine) -> None:
    identity = add(engine, name="Lobby", site="Berlin")

    answer = api.patch(f"/api/clients/{identity}", json={"tags": ["a", "b"], "notes": "nul \x00 here"})

    shown = answer.get_json()
    assert (shown["name"], shown["site"], shown["tags"]) == ("Lobby", "Berlin", ["a", "b"])
    assert shown["notes"] == "nul \ufffd here"
    assert api.patch(f"/api/clients/{identity}", json={"site": ""}).get_json()["site"] is None


def test_many_are_moved_and_tagged_at_once_and_what_cannot_be_written_is_named(api: Api, engine: Engine) -> None:
    one, two = add(engine, site="Rome", tags=["a", "b"]), add(engine, tags=[])
    full, unknown = add(engine, tags=[f"tag {n}" for n in range(32)]), str(uuid.uuid4())
    wanted = {"clients": [one, two, full, unknown, one], "site": "Bern", "add_tags": ["c", "a"], "remove_tags": ["b"]}

    answer = api.patch("/api/clients", json=wanted).get_json()

    assert (set(answer["written"]), answer["left"]) == ({one, two}, [full, unknown])
    shown = [api.get(f"/api/clients/{each}").get_json() for each in (one, two, full)]
    assert [(each["site"], each["tags"]) for each in shown[:2]] == [("Bern", ["a", "c"]), ("Bern", ["c", "a"])]
    assert (shown[2]["site"], len(shown[2]["tags"])) == (None, 32)
    assert api.patch("/api/clients", json={"clients": [one], "site": ""}).get_json()["written"] == [one]
    assert api.get(f"/api/clients/{one}").get_json()["site"] is None
    assert api.patch("/api/clients", json={"clients": [two], "remove_tags": ["c"]}).get_json()["written"] == [two]
    assert api.get(f"/api/clients/{two}").get_json()["tags"] == ["a"]
    assert api.get(f"/api/clients/{two}").get_json()["site"] == "Bern"


BAD_FACTS = [
    ({"name": "x" * 201}, "name"),
    ({"tags": "menu"}, "tags"),
    ({"tags": [""]}, "tags"),
    ({"name": None}, "name"),
    ({"colour": "red"}, "colour"),
]


@pytest.mark.parametrize(("facts", "field"), BAD_FACTS)
def test_bad_facts_are_refused_by_name_and_nothing_is_written(
    api: Api, engine: Engine, facts: dict[str, Any], field: str
) -> None:
    identity = add(engine, name="Lobby")

    answer = api.patch(f"/api/clients/{identity}", json={"notes": "new", **facts})

    assert answer.status_code == 400
    assert answer.get_json()["errors"][0]["field"].startswith(field)
    assert api.get(f"/api/clients/{identity}").get_json()["notes"] == ""


def test_times_leave_in_utc_with_z(api: Api, engine: Engine) -> None:
    moment = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)
    identity = add(engine, mqtt_last_disconnect_at=moment)

    assert api.get(f"/api/clients/{identity}").get_json()["mqtt_last_disconnect_at"] == "2026-03-01T09:30:00.123456Z"


def test_a_clients_failure_time_can_be_sent_back_as_it_came(api: Api, engine: Engine) -> None:
    identity = add(engine, service_failed_at=datetime.now(UTC), service_failed_unit="player")
    at = api.get(f"/api/clients/{identity}").get_json()["service_failed_at"]

    other = api.post(f"/api/clients/{identity}/clear_service_failed", headers={"If-Match": '"2020-01-01T00:00:00Z"'})
    mine = api.post(f"/api/clients/{identity}/clear_service_failed", headers={"If-Match": f'"{at}"'})
    nonsense = api.post(f"/api/clients/{identity}/clear_service_failed", headers={"If-Match": "today"})

    assert (other.status_code, other.get_json()["code"]) == (412, "failure_changed")
    assert other.get_json()["service_failed_at"] == at
    assert (mine.status_code, mine.get_json()["cleared"]) == (200, True)
    assert nonsense.status_code == 400


def test_crashed_says_why_and_since_when_and_whether_the_bridge_listens(api: Api, engine: Engine) -> None:
    now = datetime.now(UTC)
    says_so = add(engine, heartbeat_age=1, process_status="crashed", status="crashed", process_status_since=now)
    silent = add(engine, heartbeat_age=400, process_status="running", status="stale")

    answer = api.get("/api/clients/crashed").get_json()

    listed = {item["uuid"]: item for item in answer["items"]}
    assert listed[says_so]["reason"] == "The display says that its player has crashed."
    assert listed[silent]["reason"] == "No heartbeat for 6 minutes."
    assert listed[silent]["since"] == listed[silent]["last_heartbeat_at"]
    assert listed[says_so]["recovery"]["state"] == "off"
    assert answer["bridge"] == {"state": "silent", "silent_since": None}


LISTS = ("", "/crashed", "/service_failed", "/service_failed/acknowledged")


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_clients_goes_on_with_its_cursor_to_its_end(api: Api, engine: Engine, name: str) -> None:
    at = datetime.now(UTC)
    facts: dict[str, dict[str, Any]] = {
        "": {},
        "/crashed": {"heartbeat_age": 500, "process_status": "running", "status": "stale"},
        "/service_failed": {"service_failed_at": at, "service_failed_unit": "a.service"},
        "/service_failed/acknowledged": {
            "service_failed_cleared_at": at,
            "service_failed_cleared_by": "user:ada",
            "service_failed_cleared_unit": "a.service",
        },
    }
    added = {add(engine, **facts[name]) for _ in range(5)}
    whole = api.get(f"/api/clients{name}?limit=100").get_json()

    listed: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(f"/api/clients{name}?limit=2{cursor and '&cursor='}{cursor}").get_json()
        assert len(page["items"]) <= 2
        listed += [item["uuid"] for item in page["items"]]
        cursor = page["next_cursor"]

    assert listed == [item["uuid"] for item in whole["items"]]
    assert added <= set(listed)
    assert len(listed) == len(set(listed))
    assert whole["next_cursor"] is None


def test_the_overview_tells_what_changed_since_its_cursor_and_nothing_else(api: Api, engine: Engine) -> None:
    quiet, changing, doomed = add(engine, heartbeat_age=1), add(engine), add(engine)
    first = api.get("/api/monitoring/overview").get_json()

    api.patch(f"/api/clients/{changing}", json={"name": "New name"})
    api.delete(f"/api/clients/{doomed}")
    with transaction(engine) as connection:
        beat = sa.update(client_heartbeats).where(client_heartbeats.c.client_uuid == quiet)
        connection.execute(beat.values(last_heartbeat_at=sa.func.now()))
    then = api.get(f"/api/monitoring/overview?since={first['cursor']}&hb=1").get_json()
    last = api.get(f"/api/monitoring/overview?since={then['cursor']}").get_json()

    assert (first["full"], then["full"]) == (True, False)
    assert {changing} <= {client["uuid"] for client in then["clients"]}
    assert quiet not in {client["uuid"] for client in then["clients"]}
    assert doomed in then["gone"]
    assert quiet in {uuid for uuid, _ in then["heartbeats"]}
    assert "heartbeats" not in last
    assert last["clients"] == []


def test_counts_are_of_the_whole_fleet_also_in_a_delta(api: Api, engine: Engine) -> None:
    add(engine, status="late", service_failed_at=datetime.now(UTC), service_failed_unit="x")
    whole = api.get("/api/monitoring/overview").get_json()
    delta = api.get(f"/api/monitoring/overview?since={whole['cursor']}").get_json()

    assert whole["counts"] == delta["counts"]
    assert whole["counts"]["total"] == len(whole["clients"])
    assert whole["counts"]["late"] >= 1
    assert whole["counts"]["service_failed"] == len(whole["service_failed"])


def fitted(answer: Any, shape: Any) -> Any:
    """An answer as its shape, in which a sentence is a text."""
    return msgspec.convert(answer, shape, dec_hook=lambda _, text: as_given(text=text))


def test_objects_have_the_shape_of_a_client_and_heartbeats_are_added_on_demand(api: Api, engine: Engine) -> None:
    add(engine, heartbeat_age=1, process_status="crashed", status="crashed", name='"quoted"')

    objects = api.get("/api/monitoring/overview?hb=1").get_json()

    assert {frozenset(client) for client in objects["clients"]} == {frozenset(OverviewClient.__struct_fields__)}
    assert fitted(objects["clients"], list[OverviewClient])
    assert {client["recovery"]["state"] for client in objects["clients"] if client["status"] == "crashed"} == {"off"}
    heard = {client["uuid"]: client["last_heartbeat_at"] for client in objects["clients"]}
    assert dict(objects["heartbeats"]) == {uuid: at for uuid, at in heard.items() if at}


def test_the_packed_form_tells_the_same_and_its_times_go_with_its_own_server_time(api: Api, engine: Engine) -> None:
    half = datetime(2026, 3, 1, 9, 30, 0, 500_000, tzinfo=UTC)
    add(engine, heartbeat_age=1, process_status="crashed", status="crashed", mqtt_last_disconnect_at=half)
    before = api.get("/api/monitoring/overview").get_json()
    changed = add(engine, heartbeat_age=70, service_failed_at=half, service_failed_unit="x", site='"quoted"')

    objects = api.get("/api/monitoring/overview").get_json()
    packed = api.get("/api/monitoring/overview?format=packed&hb=1").get_json()
    delta = api.get(f"/api/monitoring/overview?format=packed&since={before['cursor']}").get_json()
    nothing = api.get(f"/api/monitoring/overview?format=packed&since={delta['cursor']}").get_json()

    assert unpacked(packed["packed"], packed["server_time"]) == objects["clients"]
    assert set(packed) & {"clients", "heartbeats"} == set()
    told = unpacked(delta["packed"], delta["server_time"])
    assert told == [client for client in objects["clients"] if client["uuid"] == changed]
    assert told[0]["recovery"]["state"] == "off"
    beats = unpacked(packed["packed_heartbeats"], packed["server_time"])
    heard = {client["uuid"]: client["last_heartbeat_at"] for client in objects["clients"]}
    assert {row["uuid"]: row["last_heartbeat_at"] for row in beats} == {uuid: at for uuid, at in heard.items() if at}
    assert (nothing["packed"]["uuid"], nothing["packed"]["name"], "packed_heartbeats" in nothing) == ("", [], False)
    for answer in (packed, delta, nothing):
        assert fitted(answer, OverviewAnswer)


def test_a_delta_tells_what_recovery_does_about_whom_as_the_whole_does(api: Api, engine: Engine) -> None:
    before = api.get("/api/monitoring/overview").get_json()
    ill, well = add(engine, heartbeat_age=1, process_status="crashed", status="crashed"), add(engine)

    whole = api.get("/api/monitoring/overview").get_json()
    delta = api.get(f"/api/monitoring/overview?since={before['cursor']}").get_json()

    rows = {client["uuid"]: client for client in whole["clients"] if client["uuid"] in {ill, well}}
    assert {client["uuid"]: client for client in delta["clients"]} == rows
    assert (rows[ill]["recovery"]["state"], rows[well]["recovery"]) == ("off", None)


def test_every_change_leaves_a_line_in_the_audit_log(api: Api, engine: Engine) -> None:
    identity = add(engine, service_failed_at=datetime.now(UTC), service_failed_unit="player")
    api.patch(f"/api/clients/{identity}", json={"name": "x"})
    api.post(f"/api/clients/{identity}/clear_service_failed")
    api.post(f"/api/clients/{identity}/commands", json={"action": "restart_app"})
    api.delete(f"/api/clients/{identity}")

    lines = api.get("/api/audit?limit=100", "admin").get_json()["items"]

    assert [line["action"] for line in reversed(lines) if line["target"] == identity] == [
        "client.write",
        "service_failed.clear",
        "command.restart_app",
        "client.delete",
    ]


def test_why_a_client_is_not_recovered_is_said_in_words(api: Api, engine: Engine) -> None:
    identity = add(engine, heartbeat_age=1, process_status="crashed", status="crashed")

    answer = api.get(f"/api/clients/{identity}/recovery").get_json()

    assert (answer["enabled"], answer["recovery"]["state"], answer["events"]) == (False, "off", [])
    assert "CRASH_RECOVERY_ENABLED" in answer["recovery"]["why"]
    assert api.get("/api/recovery/events").get_json() == {"items": [], "next_cursor": None}
    assert api.get(f"/api/clients/{add(engine)}/recovery").get_json()["recovery"] is None


def test_what_was_decided_about_a_client_is_told_with_its_evidence(api: Api, engine: Engine) -> None:
    identity = add(engine, heartbeat_age=1, process_status="crashed", status="crashed")
    decision = recovery_store.NewDecision(
        identity, RecoveryDecision.NONE, as_given(text="The bridge is silent."), {"state": "crashed"}, command_id=None
    )
    with transaction(engine) as connection:
        recovery_store.record(connection, database_now(connection), [decision])

    told = api.get(f"/api/clients/{identity}/recovery").get_json()["events"]

    stored = msgspec.structs.asdict(decision) | {"why": "The bridge is silent."}
    assert [{name: event[name] for name in stored} for event in told] == [stored]
    assert told == api.get("/api/recovery/events").get_json()["items"]


def test_displays_come_in_pages_packed_and_by_every_filter(api: Api, engine: Engine) -> None:
    mine = [add(engine, site="pages", name=f"n{n}", tags=["t"], status="late") for n in range(5)]
    other = add(engine, site="pages", name="other")
    query: dict[str, Any] = {"site": "pages", "tag": "t", "q": "N", "status": ["running", "late"], "limit": 2}
    found: list[str] = []
    while True:
        answer = api.get("/api/monitoring/displays", query_string=query).get_json()
        found += [row["uuid"] for row in unpacked(answer["packed"], answer["server_time"])]
        if answer["next_cursor"] is None:
            break
        query["cursor"] = answer["next_cursor"]
    named = api.get("/api/monitoring/displays", query_string={"client": [other, mine[0]]}).get_json()

    assert found == mine
    assert {row["uuid"] for row in unpacked(named["packed"], named["server_time"])} == {other, mine[0]}


def test_the_overview_is_whole_without_most_and_counts_places_with_it(api: Api, engine: Engine) -> None:
    uuids = [add(engine, site="places", status=status) for status in ("crashed", "running", "running")]
    whole = api.get("/api/monitoring/overview").get_json()
    large = api.get("/api/monitoring/overview?most=2&hb=1").get_json()

    assert "large" not in whole
    assert set(uuids) <= {one["uuid"] for one in whole["clients"]}
    [place] = [one for one in large["large"]["places"] if one["site"] == "places"]
    assert place == {"site": "places", "total": 3, "unwell": 1, "states": {"crashed": 1, "running": 2}}
    assert uuids[0] in {one["uuid"] for one in large["clients"]}
    assert uuids[1] not in {one["uuid"] for one in large["clients"]}
    assert "heartbeats" not in large
    fitted(large, OverviewAnswer)
