"""Which notifications are sent, and when: on a real database, with the test's own clock."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from extensions.notifications.channels import operations as channels
from extensions.notifications.channels.rules import Hours
from extensions.notifications.deliveries import operations as sending
from extensions.notifications.deliveries import store as deliveries_store
from extensions.notifications.deliveries.rules import given_up
from shared.incidents import operations as observing
from shared.incidents import taken_operations
from shared.incidents.taken_operations import Taking
from shared.outside.couriers.letters import DeliveryAttempt, Result
from shared.outside.couriers.words import receiver_answered
from shared.quiet import operations as quiet_times
from shared.recovery.breakers.words_rules import breaker_open
from shared.tables import (
    bridge_status,
    client_recovery,
    clients,
    conversions,
    event_media,
    incidents,
    notification_deliveries,
    recovery_breakers,
)
from shared.typed import convert
from shared.vocabulary import NotificationEvent, QuietScope, Weekday
from shared.words.sentences import Sentence, as_given, to_row, together
from tests.stores.incidents_world import change, come_back, go_silent, listen, notice_return, observe, site
from tests.stores.notifications_world import (
    MINUTE,
    SECRET_URL,
    channel,
    decide,
    display,
    messages,
    settle,
    states,
    told,
)
from tests.stores.quiet_world import maintain, snooze

MakeQuiet = Callable[..., int]
ROME_AWAY = "12 displays at Rome failed together"


@pytest.fixture
def dark(connection: Connection, now: datetime) -> list[str]:
    """Twelve displays of Rome in one incident that has just opened; a channel was added before."""
    listen(connection, now)
    uuids = site(connection, now - timedelta(hours=1))
    go_silent(connection, now, uuids)
    channel(connection, now - timedelta(hours=2))
    observe(connection, now)
    return uuids


def answered(status: int) -> Sentence:
    return receiver_answered(receiver="hooks.example.org", status=status)


def light(connection: Connection, at: datetime, uuids: list[str]) -> None:
    """Bring these displays back, and close the incident five minutes later."""
    come_back(connection, at, uuids)
    observe(connection, at)
    observe(connection, at + 6 * MINUTE)


def test_a_site_that_goes_dark_is_one_message_and_its_return_another(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    settle(connection, now + 3 * MINUTE)
    decide(connection, now + 4 * MINUTE)
    light(connection, now + 5 * MINUTE, dark)
    decide(connection, now + 12 * MINUTE)
    decide(connection, now + 13 * MINUTE)

    assert told(connection) == [("opened", ROME_AWAY), ("recovered", f"Over: {ROME_AWAY}")]
    first, last = messages(connection)
    assert "the network or power of the site is the likely cause" in first["text"]
    assert "12 displays are affected: " in first["text"]
    assert "https://signage.test/?v=incidents&i=" in first["text"]
    assert first["facts"]["recovery"].startswith("Recovery") or "recovery" in first["facts"]["recovery"]
    assert (first["facts"]["displays"], first["facts"]["sites"]) == (12, ["Rome"])
    assert last["facts"]["event"] == "recovered"


def test_a_channel_is_told_in_its_language_of_the_end_too(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    german = channel(connection, now - timedelta(hours=2), "Bereitschaft", language="de")
    channel(connection, now - timedelta(hours=2), "当番", language="ja")
    settle(connection, now + 3 * MINUTE)
    channels.change(connection, now + 4 * MINUTE, german, {"language": "ja"})
    light(connection, now + 5 * MINUTE, dark)
    decide(connection, now + 12 * MINUTE)

    english, first, other, *ends = messages(connection)
    assert "Since " in english["text"]
    assert first["title"] == "12 Displays am Standort Rome sind gemeinsam ausgefallen"
    assert "\n12 Displays sind betroffen: " in first["text"]
    assert other["title"] == "拠点 Rome の12台のディスプレイが同時に異常になりました"
    assert [end["title"] for end in ends] == [f"Over: {ROME_AWAY}", *[f"解消: {other['title']}"] * 2]
    codes = [message["facts"]["sentences"]["title"]["code"] for message in messages(connection)]
    assert codes == ["place_fails"] * 6


def test_what_heals_before_the_delay_says_nothing(connection: Connection, now: datetime, dark: list[str]) -> None:
    decide(connection, now + MINUTE)
    light(connection, now + MINUTE, dark)

    decide(connection, now + 8 * MINUTE)

    assert told(connection) == []


def test_what_is_over_before_it_was_sent_is_dropped_and_its_end_is_no_news(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    decide(connection, now + 3 * MINUTE)
    light(connection, now + 4 * MINUTE, dark)

    decide(connection, now + 11 * MINUTE)

    assert states(connection) == [("opened", "dropped")]


def test_an_incident_that_somebody_is_on_does_not_escalate_until_it_is_given_back(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    settle(connection, now + 3 * MINUTE)
    [incident_id] = connection.execute(sa.select(incidents.c.id)).scalars()
    taken_operations.take_incident(connection, now + 4 * MINUTE, incident_id, Taking("user:anna"))

    settle(connection, now + 90 * MINUTE)
    while_taken = told(connection)
    taken_operations.give_incident_back(connection, now + 91 * MINUTE, incident_id, "user:anna")
    settle(connection, now + 92 * MINUTE)

    assert while_taken == [("opened", ROME_AWAY)]
    assert told(connection) == [("opened", ROME_AWAY), ("escalated", f"Worse: {ROME_AWAY}")]


def test_the_next_messages_name_who_is_on_an_incident(connection: Connection, now: datetime, dark: list[str]) -> None:
    [incident_id] = connection.execute(sa.select(incidents.c.id)).scalars()
    taken_operations.take_incident(connection, now + MINUTE, incident_id, Taking("user:anna"))
    settle(connection, now + 3 * MINUTE)
    light(connection, now + 5 * MINUTE, dark)
    decide(connection, now + 12 * MINUTE)

    first, last = messages(connection)
    assert "\nanna is on it.\n" in first["text"]
    assert "\nanna was on it.\n" in last["text"]
    assert [one["facts"]["taken_by"] for one in (first, last)] == ["user:anna"] * 2


def test_an_incident_that_grows_to_twice_its_size_is_told_once_more(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    settle(connection, now + 3 * MINUTE)
    more = site(connection, now, count=14)
    go_silent(connection, now + 4 * MINUTE, more, heard_before=245)
    observe(connection, now + 4 * MINUTE)

    for minutes in (5, 6, 90):
        decide(connection, now + minutes * MINUTE)

    assert told(connection) == [("opened", ROME_AWAY), ("escalated", "Worse: 26 displays at Rome failed together")]


def test_an_incident_that_lasts_for_an_hour_is_told_once_more(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    settle(connection, *(now + minutes * MINUTE for minutes in (3, 62, 64, 70, 200)))

    assert [phase for phase, _ in told(connection)] == ["opened", "escalated"]


def test_a_display_alone_is_told_after_a_quarter_of_an_hour_and_when_it_is_well(
    connection: Connection, now: datetime
) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    go_silent(connection, now + MINUTE, [uuid])

    decide(connection, now + 12 * MINUTE)  # silent since two minutes before
    assert told(connection) == []
    for minutes in (17, 18, 30):
        settle(connection, now + minutes * MINUTE)
    come_back(connection, now + 31 * MINUTE, [uuid])
    decide(connection, now + 32 * MINUTE)
    assert len(told(connection)) == 1
    for minutes in (34, 35):
        decide(connection, now + minutes * MINUTE)

    assert told(connection) == [("opened", "Lobby (Rome) is silent"), ("recovered", "Over: Lobby (Rome) is silent")]
    assert "It lasted 36 minutes." in messages(connection)[1]["text"]


def test_a_flapping_display_is_told_once_an_hour_and_not_at_each_turn(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)

    for turn in range(6):  # twenty minutes silent, four minutes well
        begin = now + timedelta(minutes=1 + 24 * turn)
        go_silent(connection, begin, [uuid])
        settle(connection, begin + 18 * MINUTE)
        come_back(connection, begin + 20 * MINUTE, [uuid])
        settle(connection, begin + 23 * MINUTE)

    assert [phase for phase, _ in told(connection)] == ["opened", "recovered"] * 2


def test_many_displays_that_are_told_at_once_are_one_message(connection: Connection, now: datetime) -> None:
    weekdays = Hours("UTC", frozenset(Weekday), time(8), time(18))
    night = now.astimezone(UTC).replace(hour=20, minute=0, second=0, microsecond=0)
    morning = night + timedelta(hours=12, minutes=1)
    channel(connection, night, hours=weekdays)
    uuids = [display(connection, night, f"Display {n}", f"Site {n}") for n in range(7)]
    for number, uuid in enumerate(uuids):
        go_silent(connection, night + timedelta(minutes=1 + 20 * number), [uuid])

    decide(connection, night + timedelta(hours=10))
    assert told(connection) == []
    settle(connection, morning)
    come_back(connection, morning, uuids)
    decide(connection, morning + 5 * MINUTE)
    decide(connection, morning + 6 * MINUTE)

    assert told(connection) == [("opened", "7 displays are unwell"), ("recovered", "7 displays are well again")]
    assert states(connection).count(("opened", "folded")) == 6
    assert "Display 3 (Site 3) is silent" in messages(connection)[0]["text"]
    assert len(messages(connection)[0]["facts"]["uuids"]) == 7


def test_a_display_that_recovery_could_not_help_is_told_at_once_or_as_worse(
    connection: Connection, now: datetime
) -> None:
    channel(connection, now)
    told_before, new = (display(connection, now, f"Display {n}", f"Site {n}") for n in range(2))
    go_silent(connection, now + MINUTE, [told_before])
    settle(connection, now + 17 * MINUTE)
    change(connection, now + 18 * MINUTE, [new], "crashed")
    for uuid in (told_before, new):
        row = {"client_uuid": uuid, "step": 4, "decided": "suspended", "decided_at": now + 19 * MINUTE}
        connection.execute(sa.insert(client_recovery).values(**row))

    decide(connection, now + 22 * MINUTE)
    decide(connection, now + 23 * MINUTE)

    tried = ": recovery has tried everything"
    assert sorted(told(connection)) == [
        ("escalated", f"Worse: Display 0 (Site 0) is silent{tried}"),
        ("opened", "Display 0 (Site 0) is silent"),
        ("opened", f"Display 1 (Site 1) has crashed{tried}"),
    ]


def test_a_display_of_an_incident_is_not_told_alone(connection: Connection, now: datetime, dark: list[str]) -> None:
    for minutes in (3, 30, 45):
        decide(connection, now + minutes * MINUTE)

    assert [phase for phase, _ in told(connection)] == ["opened"]


def test_a_bridge_that_is_silent_is_told_to_everybody_at_any_hour(connection: Connection, now: datetime) -> None:
    listen(connection, now)
    never = Hours("UTC", frozenset({Weekday.MONDAY}), time(0), time(0, 1))
    channel(connection, now, "Rome", sites={"Rome"}, hours=never)
    channel(connection, now, "Strict", hours=never, critical_passes=False)
    monday = now + timedelta(days=(7 - now.astimezone(UTC).weekday()) % 7)
    noon = monday.astimezone(UTC).replace(hour=12, minute=0) + timedelta(days=7)
    observing.observe(connection, noon)
    settle(connection, noon + 3 * MINUTE)
    connection.execute(sa.update(bridge_status).values(canary_at=noon + 4 * MINUTE))
    observing.observe(connection, noon + 4 * MINUTE)
    decide(connection, noon + 5 * MINUTE)

    unheard = "We do not hear the fleet"
    assert told(connection) == [("opened", unheard), ("recovered", f"Over: {unheard}")]


@pytest.mark.parametrize("basis", ["stale", "screen_failed"])
def test_a_breaker_is_told_and_when_it_closes(connection: Connection, now: datetime, basis: str) -> None:
    channel(connection, now, "Rome", sites={"Rome"})
    channel(connection, now, "Oslo", sites={"Oslo"})
    row = {
        "site": "Rome",
        "open_since": now + MINUTE,
        "why": to_row(breaker_open(site="Rome", stale=9, seen=10, percent=20)),
    }
    connection.execute(sa.insert(recovery_breakers).values(**row, basis=basis))

    settle(connection, now + 4 * MINUTE)
    connection.execute(sa.update(recovery_breakers).values(open_since=None))
    decide(connection, now + 5 * MINUTE)

    words = "Recovery holds back at Rome"
    assert told(connection) == [("opened", words), ("recovered", f"Over: {words}")]
    assert "9 of 10 displays are silent" in messages(connection)[0]["text"]


def test_what_newer_code_told_of_is_left_to_it(connection: Connection, now: datetime, dark: list[str]) -> None:
    decide(connection, now + 3 * MINUTE)
    newer = notification_deliveries.c.message["facts"].op("||")(sa.literal({"event": "moon_is_full"}, JSONB))
    message = sa.func.jsonb_set(notification_deliveries.c.message, sa.literal(["facts"], ARRAY(sa.Text)), newer)
    connection.execute(sa.update(notification_deliveries).values(message=message))
    light(connection, now + 5 * MINUTE, dark)

    decide(connection, now + 20 * MINUTE)

    assert told(connection) == [("opened", ROME_AWAY)]
    assert [one.event for one in deliveries_store.page(connection, None, None, 10, None)] == ["incident_opened"]


def test_a_dark_site_is_one_message_though_recovery_holds_back_there(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    breakers = channel(connection, now - timedelta(hours=1), "Breakers", events={NotificationEvent.BREAKER_OPEN})
    row = {"site": "Rome", "open_since": now, "why": to_row(breaker_open(site="Rome", stale=12, seen=12, percent=20))}
    connection.execute(sa.insert(recovery_breakers).values(**row))

    decide(connection, now + 3 * MINUTE)

    held_back = ("opened", "Recovery holds back at Rome")
    assert told(connection, breakers) == [held_back]
    assert sorted(told(connection)) == [("opened", ROME_AWAY), held_back]


QUIET = [
    (snooze, QuietScope.FLEET),
    (snooze, QuietScope.SITE),
    (snooze, QuietScope.CLIENTS),
    (maintain, QuietScope.FLEET),
    (maintain, QuietScope.SITE),
]


@pytest.mark.parametrize(("make", "scope"), QUIET)
@pytest.mark.parametrize("is_ended", [False, True])
def test_a_snooze_and_a_maintenance_window_hold_until_they_end(
    connection: Connection, now: datetime, dark: list[str], make: MakeQuiet, scope: QuietScope, is_ended: bool
) -> None:
    where, named = "Rome" if scope is QuietScope.SITE else None, dark[:1] if scope is QuietScope.CLIENTS else []
    if named:  # the others are well again: one is left
        notice_return(connection, now + MINUTE, dark[1:])
    quiet = make(connection, now, now + timedelta(hours=1), site=where, clients=named)

    decide(connection, now + 59 * MINUTE)
    assert told(connection) == []
    if is_ended:
        assert quiet_times.end(connection, now + 59 * MINUTE, quiet, "user:ben")
    decide(connection, now + (59 if is_ended else 60) * MINUTE)

    assert len(told(connection)) == 1


def test_a_channel_hears_of_its_sites_and_events_and_of_what_began_after_it(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    before = now - timedelta(hours=1)
    rome = channel(connection, before, "Rome", sites={"Rome"})
    oslo = channel(connection, before, "Oslo", sites={"Oslo"})
    breakers = channel(connection, before, "Breakers", events={NotificationEvent.BREAKER_OPEN})
    off = channel(connection, before, "Off", enabled=False)
    newcomer = channel(connection, now + MINUTE, "Newcomer")

    decide(connection, now + 5 * MINUTE)

    assert [len(told(connection, one)) for one in (rome, oslo, breakers, off, newcomer)] == [1, 0, 0, 0, 0]


def test_deciding_twice_says_nothing_twice(connection: Connection, now: datetime, dark: list[str]) -> None:
    first = decide(connection, now + 3 * MINUTE)
    connection.execute(sa.update(notification_deliveries).values(standing=False))  # as if that had been lost

    second = decide(connection, now + timedelta(hours=2))

    assert (first.told, second.told) == (1, 0)


def test_a_refused_address_that_is_changed_tells_what_is_not_over(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    decide(connection, now + 3 * MINUTE)
    told = answered(401)
    values = {"state": "failed", "finished_at": now + 4 * MINUTE, "error": to_row(told)}
    channel_id = connection.execute(
        sa.update(notification_deliveries).values(**values).returning(notification_deliveries.c.channel_id)
    ).scalar_one()

    channels.change(connection, now + 5 * MINUTE, channel_id, {"url": "https://hooks.example.org/other"})
    [task] = decide(connection, now + 7 * MINUTE).tasks

    assert states(connection) == [("opened", "pending")]
    assert task[1] == 3  # its task has a new name
    row = connection.execute(sa.select(notification_deliveries)).mappings().one()
    assert row["error"] is None


def test_what_was_never_sent_is_put_on_the_queue_again(connection: Connection, now: datetime, dark: list[str]) -> None:
    [(delivery_id, generation)] = decide(connection, now + 3 * MINUTE).tasks

    assert decide(connection, now + 3 * MINUTE).tasks == ()
    assert decide(connection, now + 5 * MINUTE).tasks == ((delivery_id, generation + 1),)


def test_a_merged_incident_goes_without_a_word(connection: Connection, now: datetime, dark: list[str]) -> None:
    settle(connection, now + 3 * MINUTE)
    went = to_row(as_given(text="Everything went."))
    into = {"kind": "cluster", "began_at": now, "opened_at": now + 4 * MINUTE, "cause": went}
    other = connection.execute(sa.insert(incidents).values(**into).returning(incidents.c.id)).scalar_one()
    mine = incidents.c.kind == "site"
    connection.execute(sa.update(incidents).where(mine).values(closed_at=now + 4 * MINUTE, merged_into=other))

    decide(connection, now + 5 * MINUTE)

    assert "recovered" not in [phase for phase, _ in told(connection)]


def test_a_thousand_displays_that_died_one_by_one_cost_no_thousand_questions(
    connection: Connection, now: datetime
) -> None:
    channel(connection, now)
    uuids = [display(connection, now, f"Display {n}", f"Site {n}") for n in range(300)]
    change(connection, now + MINUTE, uuids, "stale")
    asked: list[str] = []
    sa.event.listen(connection, "after_cursor_execute", lambda *arguments: asked.append(arguments[2]))

    decide(connection, now + 17 * MINUTE)

    assert told(connection) == [("opened", "300 displays are unwell")]
    assert len(asked) < 40


def test_a_conversion_that_failed_is_told_to_who_asked_for_it_and_once(connection: Connection, now: datetime) -> None:
    asked = channel(connection, now, "Editors", events={NotificationEvent.CONVERSION_FAILED})
    others = channel(connection, now, "On call")
    medium = {"filename": "Menu.pptx", "kind": "pptx", "bytes": 1, "sha256": "0" * 64, "path": "x", "uploaded_by": "x"}
    made = sa.insert(event_media).values(**medium, uploaded_at=now).returning(event_media.c.id)
    row = {"source_event_media_id": connection.execute(made).scalar_one(), "file_hash": "0" * 64, "created_at": now}
    failed = {"status": "failed", "finished_at": now + MINUTE, "error_message": "It has no slides."}
    connection.execute(sa.insert(conversions).values(**row, **failed))

    for minutes in (2, 4, 5, 90):
        settle(connection, now + minutes * MINUTE)

    assert told(connection, asked) == [("opened", "Menu.pptx could not be converted")]
    assert "It has no slides." in messages(connection)[0]["text"]
    assert told(connection, others) == []


def test_a_sender_slower_than_its_lease_writes_nothing_once_another_took_over(
    connection: Connection, now: datetime, dark: list[str]
) -> None:
    at = now + 3 * MINUTE
    [(number, generation)] = decide(connection, at).tasks
    slow = sending.claim(connection, at, number, generation)
    assert sending.claim(connection, at + timedelta(seconds=80), number, generation) is None

    second = sending.claim(connection, at + timedelta(seconds=91), number, generation)
    assert slow is not None
    assert second is not None
    refused = DeliveryAttempt(Result.REFUSED, answered(401))
    assert sending.record(connection, at + timedelta(seconds=92), slow, refused) is None
    done = sending.record(
        connection, at + timedelta(seconds=93), second, DeliveryAttempt(Result.DELIVERED, answered(200))
    )

    assert done is not None
    assert states(connection) == [("opened", "delivered")]
    assert slow.letter.key == second.letter.key


def test_what_cannot_be_delivered_for_a_day_is_given_up(connection: Connection, now: datetime, dark: list[str]) -> None:
    at = now + 3 * MINUTE
    [(number, generation)] = decide(connection, at).tasks
    tries = 0
    while True:
        errand = sending.claim(connection, at, number, generation)
        assert errand is not None
        after = sending.record(connection, at, errand, DeliveryAttempt(Result.AGAIN, answered(500)))
        tries += 1
        assert after is not None
        if after.generation is None or after.due_at is None:
            break
        generation, at = after.generation, after.due_at

    row = connection.execute(sa.select(notification_deliveries)).mappings().one()
    assert (row["state"], row["attempts"]) == ("failed", tries)
    assert 20 < tries < 40
    told = together([answered(500), given_up(tries=tries)])
    assert convert(row["error"], Sentence) == told


def test_names_that_displays_are_given_stay_on_their_line(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now, "Lobby\r\nBcc: everybody@example.org\x1b[2J" + "x" * 500)
    go_silent(connection, now + MINUTE, [uuid])

    decide(connection, now + 17 * MINUTE)

    [message] = messages(connection)
    assert message["title"].isprintable()
    assert len(message["title"]) < 200
    assert connection.execute(sa.select(sa.func.count()).select_from(clients)).scalar_one() == 1


def test_the_secrets_of_a_channel_are_not_in_its_repr(connection: Connection, now: datetime) -> None:
    kept = channels.find(connection, channel(connection, now, "On call"))

    assert repr(kept) == f"KeptChannel(id={kept.id}, name='On call')"
    assert kept.url == SECRET_URL
