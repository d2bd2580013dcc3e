"""Service failures that are mended: the overview says so, and one request acknowledges them."""

import uuid
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.postgres.door import transaction
from shared.tables import client_commands, client_health, service_failure_events
from tests.api.people import Api
from tests.api.test_fleet_routes import add

FAILED_AT = datetime.now(UTC).replace(microsecond=123456) - timedelta(minutes=20)
UNIT: dict[str, Any] = {"service_failed_at": FAILED_AT, "service_failed_unit": "player.service"}


def reports(engine: Engine, identity: str, standing: Any, minutes_after: float = 5) -> None:
    """Store a health report of so many minutes after the failure; `standing`: the failure that it names, or None."""
    received_at = FAILED_AT + timedelta(minutes=minutes_after)
    row = {"client_uuid": identity, "received_at": received_at, "body": {"service_failed": standing}}
    with transaction(engine) as connection:
        connection.execute(sa.insert(client_health).values(**row))


def restart(engine: Engine, identity: str, source: str, by: str, state: str = "succeeded") -> None:
    """Store a restart of a minute after the failure that has ended."""
    at = FAILED_AT + timedelta(minutes=1)
    row = {"id": f"{identity}-{source}-{state}", "client_uuid": identity, "action": "restart_app", "state": state}
    times = {"created_at": at, "expires_at": at + timedelta(minutes=2), "finished_at": at + timedelta(minutes=1)}
    with transaction(engine) as connection:
        connection.execute(sa.insert(client_commands).values(**row, **times, source=source, requested_by=by))


def listed(api: Api) -> dict[str, Any]:
    """The overview's failures by uuid."""
    return {one["uuid"]: one for one in api.get("/api/monitoring/overview").get_json()["service_failed"]}


def acknowledge(api: Api, *failures: dict[str, Any]) -> list[str]:
    shown = [{"uuid": one["uuid"], "service_failed_at": one["service_failed_at"]} for one in failures]
    answer = api.post("/api/clients/service_failed/mended", "operator", json={"failures": shown})
    assert answer.status_code == 200, answer.get_json()
    acknowledged: list[str] = answer.get_json()["acknowledged"]
    return acknowledged


def test_a_failure_is_mended_when_the_display_runs_and_its_health_names_none(api: Api, engine: Engine) -> None:
    mended, by_person, crashed, repeats, mute, early = (
        add(engine, status=status, **UNIT) for status in ("running", "late", "crashed", "running", "running", "running")
    )
    for identity in (mended, by_person, crashed):
        reports(engine, identity, None)
    reports(engine, repeats, {"unit": "player.service"})
    reports(engine, early, None, minutes_after=0.5)
    restart(engine, mended, "recovery", "recovery")
    restart(engine, by_person, "operator", "user:ada")
    restart(engine, mended, "operator", "user:ada", state="failed")

    found = listed(api)

    assert [found[one]["mended_since"] is not None for one in (mended, by_person)] == [True, True]
    assert [found[one]["mended_by"] for one in (mended, by_person)] == ["recovery", "user:ada"]
    assert [found[one]["mended_since"] for one in (crashed, repeats, mute, early)] == [None] * 4
    assert [found[one]["mended_by"] for one in (crashed, repeats, mute, early)] == [None] * 4


def test_what_is_mended_is_acknowledged_at_once_and_nothing_else(api: Api, engine: Engine) -> None:
    mended = [add(engine, status="running", **UNIT) for _ in range(3)]
    again, standing = (add(engine, status="running", **UNIT) for _ in range(2))
    for identity in (*mended, again):
        reports(engine, identity, None)
    seen = listed(api)
    moved = {**seen[again], "service_failed_at": (FAILED_AT - timedelta(seconds=1)).isoformat()}

    done = acknowledge(api, *(seen[one] for one in mended), moved, seen[standing])
    repeated = acknowledge(api, *(seen[one] for one in mended))

    assert done == sorted(mended)
    assert repeated == []
    assert {again, standing} <= set(listed(api))
    assert set(mended).isdisjoint(listed(api))
    shown = api.get(f"/api/clients/{mended[0]}").get_json()
    assert shown["service_failed_cleared_by"].startswith("token:")
    with transaction(engine) as connection:
        kept = service_failure_events.c
        events = connection.execute(sa.select(kept.event, kept.unit).where(kept.client_uuid.in_(mended)))
        assert [tuple(event) for event in events] == [("cleared", "player.service")] * 3


def test_a_viewer_acknowledges_nothing(api: Api, engine: Engine) -> None:
    mended = add(engine, status="running", **UNIT)
    reports(engine, mended, None)
    body = {"failures": [{"uuid": mended, "service_failed_at": FAILED_AT.isoformat()}]}

    assert api.post("/api/clients/service_failed/mended", "viewer", json=body).status_code == 403
    assert mended in listed(api)


def test_the_time_of_a_failure_may_be_of_any_zone_that_rfc_3339_has(api: Api, engine: Engine) -> None:
    mended = add(engine, status="running", **UNIT)
    reports(engine, mended, None)
    far_east = FAILED_AT.astimezone(timezone(timedelta(hours=20, minutes=57)))

    assert acknowledge(api, {"uuid": mended, "service_failed_at": far_east.isoformat()}) == [mended]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-01:00"])
def test_a_time_beyond_the_calendar_is_a_400_that_names_it(api: Api, at: str) -> None:
    shown = [{"uuid": str(uuid.uuid4()), "service_failed_at": when} for when in (FAILED_AT.isoformat(), at)]

    answer = api.post("/api/clients/service_failed/mended", "operator", json={"failures": shown})

    assert answer.status_code == 400
    assert answer.get_json()["errors"] == [
        {"field": "failures[1].service_failed_at", "why": "expected a time between the years 1 and 9999 in UTC"}
    ]


def test_what_recovery_mended_is_counted_since_a_time(api: Api, engine: Engine) -> None:
    before = api.get("/api/recovery/mended", query_string={"since": FAILED_AT.isoformat()}).get_json()["count"]
    for source, by, state in (("recovery", "recovery", "succeeded"), ("recovery", "recovery", "expired")):
        restart(engine, add(engine), source, by, state)
    restart(engine, add(engine), "operator", "user:ada")
    later = (FAILED_AT + timedelta(minutes=3)).isoformat()

    now = api.get("/api/recovery/mended", query_string={"since": FAILED_AT.isoformat()}).get_json()
    after = api.get("/api/recovery/mended", query_string={"since": later}).get_json()

    assert now["count"] == before + 1
    assert after["count"] <= before
