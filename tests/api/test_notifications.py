"""Channels and deliveries through the API; no answer ever contains a channel's secrets."""

import io
import json
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from extensions.notifications import operations
from extensions.notifications.channels import store
from extensions.notifications.channels.store import ChannelNotKept
from shared import structured_log
from shared.postgres.door import database_now
from shared.tables import audit_log, notification_channels, notification_deliveries
from tests.api.people import Api
from tests.receivers import receiver
from tests.stores.notifications_world import SETTINGS

CHANNELS = "/api/notifications/channels"
TOKEN = "T0K3N-that-nobody-may-see"
URL = f"https://anna:{TOKEN}@hooks.example.org/{TOKEN}?key={TOKEN}"
NEW = {"name": "On call", "kind": "webhook", "url": URL, "signing_secret": TOKEN}


@pytest.fixture(autouse=True)
def nothing_left(engine: Engine) -> Iterator[None]:
    yield
    with engine.begin() as connection:
        for table in (notification_deliveries, notification_channels):
            connection.execute(sa.delete(table))


def add(api: Api, **facts: Any) -> dict[str, Any]:
    reply = api.post(CHANNELS, json={**NEW, **facts}, role="admin")
    assert reply.status_code == 201, reply.get_json()
    channel: dict[str, Any] = reply.get_json()
    return channel


def test_a_channel_is_added_with_sensible_defaults_and_shown_without_its_secrets(api: Api) -> None:
    made = add(api)

    assert (made["address"], made["signed"]) == ("https://hooks.example.org/…", True)
    assert (made["delay_seconds"], made["hours"], made["enabled"]) == (120, None, True)
    assert {"incident_opened", "bridge_silent", "recovered"} <= set(made["events"])
    assert "conversion_failed" not in made["events"]
    assert api.get(CHANNELS, role="admin").get_json()["items"] == [made]


def test_a_channels_secrets_come_back_by_no_way(api: Api, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    structured_log.configure("test", written)
    said = [json.dumps(add(api))]
    channel = api.get(CHANNELS, role="admin").get_json()["items"][0]
    path = f"{CHANNELS}/{channel['id']}"
    said += [
        api.patch(path, json={"url": URL + "&more=1", "signing_secret": TOKEN * 2}, role="admin").get_data(
            as_text=True
        ),
        api.patch(path, json={"url": f"ftp://{TOKEN}.test/"}, role="admin").get_data(as_text=True),
        api.post(CHANNELS, json={**NEW, "name": "x", "url": TOKEN, "kind": "apprise"}, role="admin").get_data(
            as_text=True
        ),
        api.post(CHANNELS, json={**NEW, "name": 7}, role="admin").get_data(as_text=True),
        api.post(f"{path}/test", role="admin").get_data(as_text=True),
        api.post(f"{CHANNELS}/test", json=NEW, role="admin").get_data(as_text=True),
        api.post(f"{CHANNELS}/test", json={**NEW, "url": f"ftp://{TOKEN}.test/"}, role="admin").get_data(as_text=True),
        api.get("/api/settings", role="viewer").get_data(as_text=True),
    ]

    def broken(*_arguments: Any, **_more: Any) -> bool:
        return False  # so that only the database can refuse the second name

    monkeypatch.setattr(store, "is_taken", broken)
    reply = api.post(CHANNELS, json=NEW, role="admin")
    assert reply.status_code == 500
    said.append(reply.get_data(as_text=True))
    with engine.connect() as connection:
        said += [json.dumps(dict(row), default=str) for row in connection.execute(sa.select(audit_log)).mappings()]

    assert "request_failed" in written.getvalue()  # with a traceback
    assert "uq_notification_channels_name" in written.getvalue()
    assert TOKEN not in written.getvalue()
    assert [text for text in said if TOKEN in text] == []


REFUSED = dict.fromkeys(store.GIVEN) | {"name": "x", "kind": "webhook", "url": TOKEN, "signing_secret": TOKEN}


def test_a_row_that_postgres_refuses_is_quoted_nowhere(engine: Engine) -> None:
    with pytest.raises(ChannelNotKept) as refused, engine.begin() as connection:
        store.insert(connection, REFUSED)

    told = "".join(traceback.format_exception(refused.value))
    assert "SQLSTATE 23502" in told
    assert TOKEN not in told


def test_a_statement_that_is_cut_quotes_no_secret_among_its_parameters(engine: Engine) -> None:
    with engine.begin() as holder, engine.connect() as connection:
        holder.execute(sa.text("LOCK TABLE notification_channels"))
        connection.execute(sa.text("SET LOCAL lock_timeout = 50"))
        with pytest.raises(DBAPIError) as cut:
            store.insert(connection, REFUSED)

    told = "".join(traceback.format_exception(cut.value))
    assert "INSERT INTO notification_channels" in told
    assert TOKEN not in told


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"url": "ftp://hooks.example.org/"}, 422, "channel_address_refused"),
        ({"url": "https://:80/nothing"}, 422, "channel_address_refused"),
        ({"url": "https://hooks.example.org/ a"}, 422, "channel_address_refused"),
        (
            {"url": "nonsense://hooks.example.org/", "kind": "apprise", "signing_secret": None},
            422,
            "channel_address_refused",
        ),
        ({"signing_secret": "short"}, 422, "channel_refused"),
        (
            {"kind": "apprise", "url": "mailto://mail.example.org/?to=a%40b.org&from=b%40b.org"},
            422,
            "channel_refused",
        ),
        ({"events": []}, 400, "invalid_field"),
        ({"events": ["everything"]}, 400, "invalid_field"),
        ({"delay_seconds": -1}, 400, "invalid_field"),
        ({"password": "x"}, 400, "invalid_field"),
        (
            {"hours": {"time_zone": "Europe/Nowhere", "weekdays": ["monday"], "begin": "08:00", "end": "18:00"}},
            422,
            "time_zone_unknown",
        ),
        ({"hours": {"time_zone": "UTC", "weekdays": ["monday"], "begin": "8", "end": "18:00"}}, 400, "invalid_field"),
        (
            {"hours": {"time_zone": "UTC", "weekdays": ["monday"], "begin": "08:00\n", "end": "18:00"}},
            400,
            "invalid_field",
        ),
    ],
)
def test_what_cannot_be_a_channel_is_neither_kept_nor_tried(
    api: Api, changes: dict[str, Any], status: int, code: str
) -> None:
    for path in (CHANNELS, *([] if "hours" in changes else [f"{CHANNELS}/test"])):  # a trial asks for no hours
        reply = api.post(path, json={**NEW, **changes}, role="admin")
        assert (reply.status_code, reply.get_json()["code"]) == (status, code)
    assert api.get(CHANNELS, role="admin").get_json()["items"] == []


def test_changes_leave_the_rest_as_it_was(api: Api, engine: Engine) -> None:
    hours = {"time_zone": "Europe/Rome", "weekdays": ["monday", "friday"], "begin": "08:00", "end": "18:30"}
    made = add(api, hours=hours, sites=["Rome", "Oslo", "Rome"])
    path = f"{CHANNELS}/{made['id']}"

    renamed = api.patch(path, json={"name": "Night shift", "enabled": False}, role="admin").get_json()
    freed = api.patch(
        path, json={"hours": None, "sites": None, "signing_secret": None, "enabled": True}, role="admin"
    ).get_json()

    assert (made["hours"], made["sites"]) == (hours, ["Oslo", "Rome"])
    assert (renamed["name"], renamed["enabled"], renamed["hours"]) == ("Night shift", False, hours)
    assert (freed["hours"], freed["sites"], freed["signed"]) == (None, None, False)
    with engine.connect() as connection:
        row = connection.execute(sa.select(notification_channels)).mappings().one()
        actions = connection.execute(sa.select(audit_log.c.action).where(audit_log.c.target.like("notification%")))
        assert "notification_channel.change" in actions.scalars().all()
    assert row["url"] == URL
    assert row["tells_since"] > row["created_at"]  # what began while the channel was off is not sent later


def test_two_channels_have_two_names(api: Api) -> None:
    add(api)
    other = add(api, name="Other")

    taken = api.post(CHANNELS, json=NEW, role="admin")
    renamed = api.patch(f"{CHANNELS}/{other['id']}", json={"name": "On call"}, role="admin")
    same = api.patch(f"{CHANNELS}/{other['id']}", json={"name": "Other"}, role="admin")

    assert [reply.status_code for reply in (taken, renamed, same)] == [409, 409, 200]
    assert taken.get_json()["code"] == "channel_name_taken"


def test_a_test_says_what_became_of_it_and_the_channel_remembers(api: Api) -> None:
    with receiver() as hook:
        made = add(api, url=f"{hook.url}?key={TOKEN}")
        good = api.post(f"{CHANNELS}/{made['id']}/test", role="admin").get_json()
        hook.answer = lambda _posted: (401, {})
        bad = api.post(f"{CHANNELS}/{made['id']}/test", role="admin").get_json()

    first = hook.posted[0]
    assert (good["delivered"], good["words"], good["channel"]["last_error"]) == (True, "200 from 127.0.0.1", None)
    assert good["channel"]["last_delivered_at"] is not None
    assert (first.json["event"], first.json["channel"]) == ("test", "On call")
    assert first.headers["signage-signature"].startswith("t=")
    refused = "401 from 127.0.0.1"
    assert (bad["delivered"], bad["words"], bad["channel"]["last_error"]) == (False, refused, refused)
    renamed = api.patch(f"{CHANNELS}/{made['id']}", json={"name": "Nights"}, role="admin").get_json()
    moved = api.patch(f"{CHANNELS}/{made['id']}", json={"url": URL}, role="admin").get_json()
    assert (renamed["last_error"], moved["last_error"]) == (refused, None)


def test_a_channel_is_tried_before_it_is_saved_and_nothing_of_it_is_kept(api: Api, engine: Engine) -> None:
    with receiver() as hook:
        tried = api.post(f"{CHANNELS}/test", json={**NEW, "url": f"{hook.url}?key={TOKEN}"}, role="admin").get_json()

    assert (tried["delivered"], tried["words"]) == (True, "200 from 127.0.0.1")
    [posted] = hook.posted
    assert (posted.json["event"], posted.json["channel"]) == ("test", "On call")
    assert posted.headers["signage-signature"].startswith("t=")
    assert api.get(CHANNELS, role="admin").get_json()["items"] == []
    with engine.connect() as connection:
        query = sa.select(audit_log.c.target, audit_log.c.details).order_by(audit_log.c.id.desc()).limit(1)
        assert connection.execute(query).one() == ("notification_channel:new", {"name": "On call"})


def test_a_channel_has_a_language_which_its_test_speaks(api: Api) -> None:
    with receiver() as hook:
        made = add(api, url=f"{hook.url}?key={TOKEN}")
        changed = api.patch(f"{CHANNELS}/{made['id']}", json={"language": "de"}, role="admin").get_json()
        api.post(f"{CHANNELS}/{made['id']}/test", role="admin")
        api.post(f"{CHANNELS}/test", json={**NEW, "url": hook.url, "language": "ja"}, role="admin")
    refused = api.post(CHANNELS, json={**NEW, "name": "Other", "language": "xx"}, role="admin")

    assert (made["language"], changed["language"]) == ("en", "de")
    assert [posted.json["title"] for posted in hook.posted] == ["Test von Signage Fleet", "Signage Fleet のテスト"]
    assert (refused.status_code, refused.get_json()["errors"][0]["field"]) == (400, "language")


def test_a_channel_that_is_removed_takes_what_it_was_told_along(api: Api, engine: Engine) -> None:
    made = add(api)
    row = {"root": "client:x", "subject": "client:x:1", "phase": "opened", "event": "display_unwell"}
    message = {"title": "Lobby is silent", "text": "Since noon.", "facts": {}}
    with engine.begin() as connection:
        now = database_now(connection)
        values = {**row, "channel_id": made["id"], "message": message, "created_at": now, "due_at": now}
        connection.execute(sa.insert(notification_deliveries).values(**values))

    listed = api.get(f"/api/notifications/deliveries?channel={made['id']}&state=pending", role="operator").get_json()[
        "items"
    ]
    gone = api.delete(f"{CHANNELS}/{made['id']}", role="admin")
    again = api.delete(f"{CHANNELS}/{made['id']}", role="admin")

    [shown] = listed
    assert (shown["title"], shown["state"], shown["attempts"], shown["channel_name"]) == (
        "Lobby is silent",
        "pending",
        0,
        "On call",
    )
    assert (gone.status_code, again.status_code) == (204, 404)
    assert api.get("/api/notifications/deliveries", role="operator").get_json()["items"] == []


def test_a_decision_without_channels_asks_little(engine: Engine) -> None:
    asked: list[str] = []
    with engine.connect() as connection, connection.begin() as transaction:
        now = database_now(connection)
        sa.event.listen(connection, "after_cursor_execute", lambda *arguments: asked.append(arguments[2]))
        operations.decide(connection, now, SETTINGS)
        transaction.rollback()

    assert len(asked) == 4  # the lock, the channels, what was sent, what was deleted
