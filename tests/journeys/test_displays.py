"""The life of a display as operators and scripts see it: enrolled, heard, failing, commanded."""

import contextlib
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from deploy.parts.probes import connect_code
from displays.client import contract
from displays.client.contract import BadMessage
from displays.client.journal import UnwritableJournal
from displays.simulated.simulated import SimulatedDisplay
from tests.stack import Api, Stack, enrol, eventually
from tests.unpacked import unpacked

BROKER_CONNECTION = {"reconnect_count": 7, "last_disconnect_at": "2026-03-01T09:30:00Z"}
REFUSED = 0x80  # and above: the reason codes of a refused CONNECT
STEPS = ("created_at", "sent_at", "received_at", "running_at", "finished_at")


@pytest.fixture
def api(stack: Stack) -> Api:
    return stack.api()


@pytest.fixture
def display(api: Api, folder: Path) -> Iterator[SimulatedDisplay]:
    """An enrolled display that is online and sends messages only on demand."""
    with enrol(api, str(uuid.uuid4()), folder) as connected:
        yield connected


def path_of(display: SimulatedDisplay, rest: str = "") -> str:
    return f"/api/clients/{display.display.credentials.uuid}{rest}"


def test_what_a_display_says_appears_in_every_endpoint_that_tells_it(api: Api, display: SimulatedDisplay) -> None:
    identity = display.display.credentials.uuid
    api.call("PATCH", path_of(display), json={"name": "Lobby North", "site": "Berlin", "tags": ["menu"]})

    display.heartbeat("running")
    display.health(
        screen_health="ok",
        app_version="4.2.0",
        ip="10.1.2.3",
        hostname="lobby",
        cpu_percent=12.5,
        broker_connection=BROKER_CONNECTION,
    )
    display.log("info", "playlist loaded", playlist=3)
    display.log("error", "screen went dark")
    client = eventually(lambda: api.get(path_of(display)).get("app_version") and api.get(path_of(display)), "health")

    assert (client["name"], client["status"], client["process_status"]) == ("Lobby North", "running", "running")
    assert (client["screen_health"], client["app_version"], client["ip"]) == ("ok", "4.2.0", "10.1.2.3")
    assert client["mqtt_reconnect_count"] == 7
    assert client["mqtt_last_disconnect_at"] == "2026-03-01T09:30:00Z"
    assert client["health"]["cpu_percent"] == 12.5

    logs = eventually(lambda: items_of(api, f"/api/client-logs/{identity}/logs", 2), "two logs")
    assert [(log["level"], log["message"]) for log in logs] == [
        ("error", "screen went dark"),
        ("info", "playlist loaded"),
    ]
    assert logs[1]["context"] == {"playlist": 3}
    only_errors = api.get(f"/api/client-logs/{identity}/logs", params={"level": "error"})["items"]
    assert [log["message"] for log in only_errors] == ["screen went dark"]
    assert (identity, "Lobby North") in [
        (log["client_uuid"], log["client_name"]) for log in api.get("/api/client-logs/recent-errors")["items"]
    ]
    whole = api.get("/api/client-logs/summary")
    summary = next(row for row in whole["clients"] if row["uuid"] == identity)
    assert (summary["counts"]["info"], summary["counts"]["error"]) == (1, 1)
    assert whole["totals"] == {
        level: sum(row["counts"].get(level, 0) for row in whole["clients"])
        for level in ("debug", "info", "warning", "error", "critical")
    }
    assert api.get("/api/client-logs/test")["status"] == "ok"

    shown = next(row for row in api.get("/api/monitoring/overview")["clients"] if row["uuid"] == identity)
    assert (shown["mqtt_reconnect_count"], shown["mqtt_last_disconnect_at"]) == (7, "2026-03-01T09:30:00Z")
    packed = api.get("/api/monitoring/overview", params={"format": "packed"})
    assert shown in unpacked(packed["packed"], packed["server_time"])
    assert identity in [row["uuid"] for row in api.get("/api/clients", params={"q": "lobby"})["items"]]
    assert eventually(lambda: display.spooled == 0, "logs_committed")


def items_of(api: Api, path: str, count: int) -> list[dict[str, Any]] | None:
    """The items at `path` once there are `count` of them; None before."""
    items: list[dict[str, Any]] = api.get(path)["items"]
    return items if len(items) >= count else None


def test_a_service_failure_is_listed_until_an_operator_clears_it(api: Api, display: SimulatedDisplay) -> None:
    display.heartbeat("running")
    display.service_failed("player.service")
    failed = eventually(lambda: failure_of(api, display), "the failure")
    overview = api.get("/api/monitoring/overview")

    assert failed["service_failed_unit"] == "player.service"
    assert display.display.credentials.uuid in [row["uuid"] for row in overview["service_failed"]]
    clear = path_of(display, "/clear_service_failed")
    api.call("POST", clear, 412, headers={"If-Match": '"2001-01-01T00:00:00Z"'})
    answer = api.post(clear, headers={"If-Match": f'"{failed["service_failed_at"]}"'})

    assert (answer["cleared"], answer["service_failed_at"], answer["service_failed_unit"]) == (True, None, None)
    assert failure_of(api, display) is None
    assert api.post(clear)["cleared"] is False
    acknowledged = api.get("/api/clients/service_failed/acknowledged")["items"]
    assert acknowledged[0]["unit"] == "player.service"


def failure_of(api: Api, display: SimulatedDisplay) -> dict[str, Any] | None:
    failed = api.get("/api/clients/service_failed")["items"]
    return next((row for row in failed if row["uuid"] == display.display.credentials.uuid), None)


def test_restart_app_goes_through_every_step_with_a_display_that_answers(api: Api, display: SimulatedDisplay) -> None:
    display.heartbeat("running")
    eventually(lambda: api.get(path_of(display))["status"] == "running", "the heartbeat")
    before = display.state.app_instance

    command = api.post(path_of(display, "/commands"), {"action": "restart_app", "reason": "black picture"}, 202)
    eventually(lambda: display.state.app_instance != before, "the player's new start")
    display.heartbeat("running")
    done = eventually(lambda: finished(api, command["id"]), "the command's end")

    assert done["state"] == "succeeded"
    assert [step for step in STEPS if done[step] is None] == []
    assert [done[step] for step in STEPS] == sorted(done[step] for step in STEPS)
    assert display.state.app_instance != before
    assert api.get(path_of(display, "/commands"))["items"][0]["id"] == command["id"]
    locked = api.post(path_of(display, "/commands"), {"action": "reboot_host"}, 409)
    assert locked["code"] == "locked_out"
    assert locked["lockout_until"] > done["finished_at"]


def test_a_display_whose_disk_takes_nothing_says_so_and_refuses_commands(
    api: Api, display: SimulatedDisplay, folder: Path
) -> None:
    """As after a fault of its card, when the kernel lets it be read only."""
    display.heartbeat("running")
    eventually(lambda: api.get(path_of(display))["status"] == "running", "the heartbeat")
    display.display._journal = UnwritableJournal(folder)  # a folder cannot be written, even by root
    display.health()
    told = eventually(lambda: api.get(path_of(display))["health"], "its health")

    command = api.post(path_of(display, "/commands"), {"action": "restart_app"}, 202)
    done = eventually(lambda: finished(api, command["id"]), "the command's end")

    assert [limit["value"] for limit in told["limits"] if limit["limit"] == "read_only"] == [1.0]
    assert (done["state"], done["outcome_reason"]) == ("rejected", "no_journal")


def test_hours_that_a_display_does_not_take_stand_on_its_panel_until_it_does(
    api: Api, display: SimulatedDisplay
) -> None:
    def hear(zone: str) -> None:
        hours = {"zone": zone, "open": [{"days": ["monday"], "from": "08:00", "until": "20:00"}]}
        payload = json.dumps({"version": zone, "hours": hours}).encode()
        with contextlib.suppress(BadMessage):
            display._thread.call(lambda: display.display.on_message("hours", payload, None))
        display.health()

    def told() -> Any:
        health = api.get(path_of(display))["health"]
        return health and health["refused"]

    hear("Europe/Atlantis")
    eventually(lambda: told() == [{"what": "hours", "reason": "unknown_zone"}], "the refusal")
    hear("Europe/Berlin")
    eventually(lambda: told() == [], "the end of the refusal")


def finished(api: Api, command_id: str) -> dict[str, Any] | None:
    command: dict[str, Any] = api.get(f"/api/commands/{command_id}")
    return command if command["finished_at"] else None


def test_a_silent_displays_command_expires_at_the_tick_with_recovery_off(api: Api, display: SimulatedDisplay) -> None:
    display.behave(answers_commands=False)
    display.heartbeat("running")

    command = api.post(path_of(display, "/commands"), {"action": "restart_app", "ttl_seconds": 10}, 202)
    in_flight = api.post(path_of(display, "/commands"), {"action": "restart_app"}, 409)
    done = eventually(lambda: finished(api, command["id"]), "the expiry", 60)

    assert command["state"] in {"queued", "sent"}
    assert in_flight["code"] == "command_in_flight"
    assert (done["state"], done["outcome_reason"]) == ("expired", "no_ack")
    assert api.get("/api/settings")["settings"]["CRASH_RECOVERY_ENABLED"]["value"] is False


def test_a_command_for_a_display_that_is_away_waits_for_it(api: Api, folder: Path) -> None:
    identity = str(uuid.uuid4())
    display = enrol(api, identity, folder)
    command = api.post(f"/api/clients/{identity}/commands", {"action": "restart_app"}, 202)
    assert command["state"] == "queued"

    with display:
        done = eventually(lambda: finished(api, command["id"]), "the command's end")

    assert done["state"] == "succeeded"


def test_a_deleted_displays_login_is_refused_and_its_uuid_stays_gone(api: Api, folder: Path) -> None:
    identity = str(uuid.uuid4())
    with enrol(api, identity, folder) as display:
        credentials = display.display.credentials

    api.call("DELETE", f"/api/clients/{identity}", 204)

    assert api.get(f"/api/clients/{identity}", 404)["code"] == "client_not_found"
    eventually(lambda: (connect_code(credentials.port, identity, credentials.password) or 0) >= REFUSED, "refusal")


def test_what_cannot_be_understood_is_put_aside_and_the_rest_goes_on(api: Api, display: SimulatedDisplay) -> None:
    identity = display.display.credentials.uuid
    display.publish_raw(contract.HEARTBEAT, {"v": 9, "process_status": "running"})
    display.publish_raw(contract.HEALTH, {"broker_connection": {"reconnect_count": True}, "app_version": "5.0"})
    display.log("info", "nul \x00 and emoji \U0001f600")

    eventually(lambda: api.get(path_of(display))["app_version"] == "5.0", "health")
    logs = eventually(lambda: items_of(api, f"/api/client-logs/{identity}/logs", 1), "the log")
    letters = eventually(lambda: letters_of(api, identity), "the dead letter")

    assert api.get(path_of(display))["mqtt_reconnect_count"] is None
    assert logs[0]["message"] == "nul \ufffd and emoji \U0001f600"
    assert [letter["reason"] for letter in letters] == ["unsupported_version"]


def letters_of(api: Api, identity: str) -> list[dict[str, Any]]:
    return [letter for letter in api.get("/api/dead-letters")["items"] if identity in letter["topic"]]


def test_every_door_is_closed_to_strangers_and_each_role_has_its_own(stack: Stack, api: Api) -> None:
    identity = str(uuid.uuid4())
    api.post(f"/api/clients/{identity}/enrolment", expected=201)
    tokens = {
        role: stack.api(api.post("/api/tokens", {"name": f"test {role}", "role": role}, 201)["token"])
        for role in ("viewer", "operator")
    }
    stranger = stack.api("sgn_none")

    assert stranger.get("/api/clients", 401)["code"] == "unauthenticated"
    assert requests.get(stack.url + "/api/clients", timeout=60).status_code == 401
    tokens["viewer"].get("/api/clients")
    tokens["viewer"].post(f"/api/clients/{identity}/clear_service_failed", expected=403)
    tokens["operator"].post(f"/api/clients/{identity}/clear_service_failed")
    tokens["operator"].post(f"/api/clients/{identity}/commands", {"action": "shutdown_host"}, 403)
    tokens["operator"].get("/api/audit", 403)
    for name in ("CONVERT_WORKER_PORT", "SCHEDULER_TICK_PORT"):
        answer = requests.post(f"http://127.0.0.1:{stack.ports[name]}/", json={}, timeout=60)
        assert answer.status_code == 401, name


BAD_REQUESTS = [
    ("GET", "/api/clients?limit=101", None, 400),
    ("GET", "/api/clients?limit=ten", None, 400),
    ("GET", "/api/clients?colour=red", None, 400),
    ("GET", "/api/clients?cursor=!!", None, 400),
    ("GET", "/api/clients/not-a-uuid", None, 404),
    ("GET", "/api/clients/00000000-0000-4000-8000-00000000dead", None, 404),
    ("GET", "/api/commands/00000000-0000-4000-8000-00000000dead", None, 404),
    ("GET", "/api/monitoring/overview?since=yesterday", None, 400),
    ("GET", "/api/client-logs/summary?hours=0", None, 400),
    ("POST", "/api/clients/00000000-0000-4000-8000-00000000dead/commands", {"action": "restart_app"}, 404),
    ("POST", "/api/clients/00000000-0000-4000-8000-00000000dead/commands", {"action": "explode"}, 400),
    (
        "POST",
        "/api/clients/00000000-0000-4000-8000-00000000dead/commands",
        {"action": "restart_app", "ttl_seconds": 5},
        400,
    ),
    ("POST", "/api/clients/00000000-0000-4000-8000-00000000dead/clear_service_failed", None, 404),
    ("DELETE", "/api/monitoring/overview", None, 405),
    ("POST", "/api/conversions/999999/pdf", None, 404),
    ("GET", "/api/conversions/999999/status", None, 404),
    ("GET", "/api/files/converted/../../etc/passwd", None, 404),
    ("GET", "/api/files/converted/aa/none.pdf", None, 404),
    ("GET", "/api/nothing", None, 404),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), BAD_REQUESTS)
def test_a_bad_request_gets_a_problem_document(api: Api, method: str, path: str, body: Any, status: int) -> None:
    answer = api.call(
        method,
        path,
        status,
        data=None if body is None else json.dumps(body),
        headers={"Content-Type": "application/json"},
    )

    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["type"] == f"urn:signage:problem:{problem['code']}"
    assert problem["request_id"]
    assert problem["detail"]
