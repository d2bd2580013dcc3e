"""Displays of one site fail together: operators and scripts see one incident, from MQTT to HTTP."""

import uuid
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from displays.simulated.simulated import SimulatedDisplay
from tests.stack import Api, Stack, enrol, eventually

SITE = "Reykjavik"


def test_displays_of_one_site_that_crash_together_are_one_incident_with_one_timeline(
    stack: Stack, folder: Path
) -> None:
    api = stack.api()
    names = [str(uuid.uuid4()) for _ in range(3)]
    with ExitStack() as on:
        displays = [on.enter_context(enrol(api, name, folder / name)) for name in names]
        for name, display in zip(names, displays, strict=True):
            api.call("PATCH", f"/api/clients/{name}", json={"site": SITE})
            display.heartbeat("running")
        eventually(lambda: all(api.get(f"/api/clients/{name}")["status"] == "running" for name in names), "all well")
        window = api.post("/api/quiet-times", new_window(), 201)

        for display in displays:
            display.heartbeat("crashed")
        incident = eventually(lambda: of_site(api, unwell=3), "the incident")

        assert f"3 of 3 displays at site {SITE} crashed" in incident["cause"]
        page = api.get(f"/api/clients/{names[0]}")
        assert page["incident"] == {name: incident[name] for name in ("id", "cause")}
        assert [one["id"] for one in page["quiet_times"]] == [window["id"]]

        api.post(f"/api/clients/{names[0]}/commands", {"action": "restart_app"}, 202)
        eventually(lambda: well_again(api, displays), "all of them well again")
        events = api.get(f"/api/incidents/{incident['id']}/events")["items"]
        kinds = [event["kind"] for event in events]
        assert {"opened", "joined", "command", "left"} <= set(kinds)
        assert sum(event["count"] for event in events if event["kind"] == "left") == 3
        api.call("DELETE", f"/api/quiet-times/{window['id']}", 204)


def new_window() -> dict[str, Any]:
    ends_at = datetime.now(UTC) + timedelta(hours=1)
    return {
        "preset": "maintenance",
        "reason": "New players",
        "scope": "site",
        "site": SITE,
        "ends_at": ends_at.isoformat(),
    }


def well_again(api: Api, displays: list[SimulatedDisplay]) -> dict[str, Any] | None:
    """The incident once no display is unwell, while every display keeps reporting that it runs; None before."""
    for display in displays:
        display.heartbeat("running")
    return of_site(api, unwell=0)


def of_site(api: Api, unwell: int) -> dict[str, Any] | None:
    """The site's incident once it has `unwell` unwell displays; None before."""
    found: list[dict[str, Any]] = api.get("/api/incidents", params={"site": SITE})["items"]
    return next((incident for incident in found if incident["unwell"] == unwell), None)
