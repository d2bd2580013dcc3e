"""A display whose heartbeats are refused: the API shows the reasons in words, in each list that concerns it."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.leadership import operations as leadership
from shared.postgres.door import database_now, transaction
from shared.tables import client_heartbeats, dead_letters, recovery_events
from shared.vocabulary import DeadLetterReason
from shared.words.sentences import as_given, to_row
from tests.api.people import Api
from tests.stores.recovery_world import fleet, hear, sweep

WHY = "Its reports come, its heartbeats do not: 2 of them were too large."


@pytest.fixture
def mute(engine: Engine) -> str:
    """A display whose heartbeats have been refused for an hour, and that sent another message a minute ago."""
    with transaction(engine) as connection:
        now = database_now(connection)
        hear(connection, now)
        [client] = fleet(connection, now - timedelta(hours=1), 1)
        theirs = client_heartbeats.c.client_uuid == client
        connection.execute(sa.update(client_heartbeats).where(theirs).values(sign_at=now - timedelta(minutes=1)))
        letters = [
            (f"signage/{client}/heartbeat", b"x" * 1025, DeadLetterReason.TOO_LARGE, "1025 bytes"),
            (f"signage/{client}/heartbeat", b"y" * 1025, DeadLetterReason.TOO_LARGE, "1025 bytes"),
            (f"signage/{client}/logs/info", b"{", DeadLetterReason.NOT_JSON, None),
        ]
        leadership.put_aside(connection, now, letters)
        other = fleet(connection, now, 1)[0]
        leadership.put_aside(connection, now, [(f"signage/{other}/acks", b"[", DeadLetterReason.NOT_JSON, None)])
        sweep(connection, now)
    return client


def ask(api: Api, path: str, role: str = "viewer") -> dict[str, Any]:
    answer = api.get(path, role=role)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.get_json()
    return body


def test_its_page_says_what_was_refused_and_why_nothing_is_sent(api: Api, mute: str) -> None:
    page = ask(api, f"/api/clients/{mute}")

    assert page["status"] == "unknown"
    assert (page["recovery"]["mute"], page["recovery"]["why"].startswith(WHY)) == (True, True)
    assert [(one["kind"], one["reason"], one["count"], one["words"]) for one in page["refused"]] == [
        ("heartbeat", "too_large", 2, "2 heartbeats were too large"),
        ("logs", "not_json", 1, "1 log line was not JSON"),
    ]
    assert page["refused"][0]["last_at"].endswith("Z")


def test_words_of_newer_code_cost_no_answer(api: Api, engine: Engine, mute: str) -> None:
    """During an upgrade a newer bridge writes unknown reasons for dead letters, and a newer tick unknown decisions."""
    decided = {
        "at": sa.func.now(),
        "client_uuid": mute,
        "decision": "send_a_technician",
        "why": to_row(as_given(text="So.")),
        "evidence": {},
    }
    with transaction(engine) as connection:
        connection.execute(sa.update(dead_letters).where(dead_letters.c.sender == mute).values(reason="of_newer_code"))
        connection.execute(sa.insert(recovery_events).values(decided))

    page = ask(api, f"/api/clients/{mute}")
    overview = ask(api, "/api/monitoring/overview")
    letters = ask(api, f"/api/dead-letters?client={mute}", role="operator")["items"]
    told = ask(api, f"/api/clients/{mute}/recovery")["events"]

    assert page["refused"][0]["words"] == "2 heartbeats were refused for another reason"
    assert {row["uuid"] for row in overview["clients"]} > {mute}
    assert {one["reason"] for one in letters} == {"of_newer_code"}
    assert [event["decision"] for event in told] == ["send_a_technician"]


def test_lists_and_recovery_tell_it_and_it_is_not_among_the_silent(api: Api, mute: str) -> None:
    crashed = ask(api, "/api/clients/crashed")["items"]
    listed = ask(api, "/api/clients?status=unknown")["items"]
    whole = ask(api, "/api/monitoring/overview")

    assert mute not in {row["uuid"] for row in crashed}
    assert {row["uuid"]: row["recovery"]["mute"] for row in listed if row["recovery"]}[mute] is True
    assert ask(api, f"/api/clients/{mute}/recovery")["recovery"]["why"].startswith(WHY)
    assert {row["uuid"]: row["recovery"] for row in whole["clients"]}[mute]["mute"] is True


def test_a_display_that_becomes_mute_is_told_in_the_next_delta(api: Api, engine: Engine, mute: str) -> None:
    with transaction(engine) as connection:
        connection.execute(sa.text("UPDATE clients SET status = 'late' WHERE uuid = :u"), {"u": mute})
    cursor = ask(api, "/api/monitoring/overview")["cursor"]
    with transaction(engine) as connection:
        sweep(connection, database_now(connection))

    rows = ask(api, f"/api/monitoring/overview?since={cursor}")["clients"]
    packed = ask(api, f"/api/monitoring/overview?since={cursor}&format=packed")["packed"]
    assert [one["recovery"]["mute"] for one in rows] == [True]
    assert [one["mute"] for one in packed["recovery"]] == [True]


def test_dead_letters_are_listed_of_one_client(api: Api, mute: str) -> None:
    page = ask(api, f"/api/dead-letters?client={mute}", role="operator")

    assert {item["topic"].split("/")[1] for item in page["items"]} == {mute}
    assert sorted(item["reason"] for item in page["items"]) == ["not_json", "too_large", "too_large"]
    assert api.get("/api/dead-letters?client=nobody", role="operator").status_code == 400
