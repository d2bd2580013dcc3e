"""A site goes down: the person on call gets one message, and one more when it is back."""

import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from displays.simulated.simulated import SimulatedDisplay
from shared.incidents.operations import CLOSES_AFTER
from shared.postgres.door import engine_for, transaction
from tests.receivers import Receiver, receiver
from tests.stack import Api, Stack, enrol, eventually

SITE = "Bergen"
FEW = 4


def test_a_site_that_goes_down_is_one_message_and_not_one_for_each_display(stack: Stack, folder: Path) -> None:
    api = stack.api()
    names = [str(uuid.uuid4()) for _ in range(FEW)]
    with receiver() as hook, ExitStack() as on:
        channel = api.post("/api/notifications/channels", a_channel(hook), 201)
        displays = [on.enter_context(enrol(api, name, folder / name)) for name in names]
        for name, display in zip(names, displays, strict=True):
            api.call("PATCH", f"/api/clients/{name}", json={"site": SITE})
            display.heartbeat("running")
        eventually(lambda: all(api.get(f"/api/clients/{name}")["status"] == "running" for name in names), "all well")

        for display in displays:
            display.heartbeat("crashed")
        eventually(lambda: told(hook, "incident_opened"), "somebody is told")
        eventually(lambda: all_well(api, displays), "all of them well again")
        let_them_be_well_for_long(stack)
        eventually(lambda: told(hook, "recovered"), "it is over", 60)
        eventually(lambda: states(api, channel["id"]) == ["delivered", "delivered"], "both are written down")
        api.call("DELETE", f"/api/notifications/channels/{channel['id']}", 204)

    opened, recovered = (posted.json for posted in hook.posted)
    assert f"displays at {SITE} failed together" in opened["title"]
    assert f"displays at site {SITE} crashed" in opened["cause"]
    assert opened["recovery"] == "Automatic recovery is switched off."
    assert opened["url"].startswith(stack.url)
    assert (recovered["event"], recovered["subject"]) == ("recovered", opened["subject"])


def states(api: Api, channel: int) -> list[str]:
    """The states of all messages to this channel."""
    return [one["state"] for one in api.get(f"/api/notifications/deliveries?channel={channel}")["items"]]


def a_channel(hook: Receiver) -> dict[str, Any]:
    """The body of a channel for this journey's site alone, without a delay, so that the journey is short."""
    return {"name": "Bergen on call", "kind": "webhook", "url": hook.url, "delay_seconds": 0, "sites": [SITE]}


def told(hook: Receiver, event: str) -> bool:
    return any(posted.json["event"] == event for posted in hook.posted)


def all_well(api: Api, displays: list[SimulatedDisplay]) -> bool:
    """Whether no display of the incident is unwell, while every display keeps reporting that it runs."""
    for display in displays:
        display.heartbeat("running")
    return [one["unwell"] for one in api.get("/api/incidents", params={"site": SITE})["items"]] == [0]


def let_them_be_well_for_long(stack: Stack) -> None:
    """Let the time pass in which an incident stays open although its displays are well."""
    engine = engine_for(stack.environment["DATABASE_URL"], "tests", pool_size=1)
    try:
        with transaction(engine) as connection:
            earlier = """
            UPDATE incident_members
            SET joined_at = joined_at - CAST(:ago AS interval), left_at = left_at - CAST(:ago AS interval)
            """
            connection.execute(sa.text(earlier), {"ago": CLOSES_AFTER})
    finally:
        engine.dispose()
