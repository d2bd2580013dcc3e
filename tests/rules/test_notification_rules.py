"""What a channel is told and when; hours, pauses and masks of channels."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from extensions.notifications import rules
from extensions.notifications.channels.rules import DEFAULT_EVENTS, Hours, are_on, masked
from extensions.notifications.deliveries.rules import FIRST_WAIT, LONGEST_WAIT
from extensions.notifications.deliveries.rules import wait as wait_after
from extensions.notifications.reports.rules import recovery_did
from extensions.notifications.rules import Channel, Notice
from extensions.notifications.troubles.rules import (
    Addressee,
    Display,
    Trouble,
    bounded,
    display_title,
    emptied_cause,
    incident_title,
    limit_title,
    opened,
    plain,
    recovered,
    recovery_of_many,
)
from shared.clients.limits_rules import LIMITS
from shared.vocabulary import (
    ChannelKind,
    DeliveryState,
    HealthLimit,
    IncidentKind,
    NotificationEvent,
    NotificationPhase,
    RecoveryState,
    Weekday,
)
from shared.words.reader import english, words_of
from shared.words.sentences import Sentence, as_given

WORK = Hours("Europe/Rome", frozenset({Weekday.MONDAY, Weekday.FRIDAY}), time(8), time(18))
NIGHT = Hours("Europe/Rome", frozenset({Weekday.FRIDAY}), time(22), time(6))
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday, outside of both
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
ON_CALL = Channel(
    id=1,
    name="On call",
    events=frozenset(DEFAULT_EVENTS),
    delay=2 * MINUTE,
    sites=None,
    hours=None,
    critical_passes=True,
    tells_since=NOW - HOUR,
)
DARK_SITE = Trouble(
    root="incident:7",
    subject="incident:7",
    event=NotificationEvent.INCIDENT_OPENED,
    title=as_given(text="12 displays at Rome failed together"),
    cause=None,
    since=NOW - 10 * MINUTE,
    noticed_at=NOW - 10 * MINUTE,
    sites=frozenset({"Rome"}),
)
ON_CALL_LETTERS = Addressee("On call", "en", None, "")


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


HELD_BACK = {"event": NotificationEvent.BREAKER_OPEN, "in_incident": True}
DEAF = {"event": NotificationEvent.BRIDGE_SILENT, "sites": None}
OPENS: list[tuple[dict[str, Any], dict[str, Any], bool, str]] = [
    ({}, {"noticed_at": ago(120)}, True, "as old as the channel's delay"),
    ({}, {"noticed_at": ago(119)}, False, "younger"),
    ({"tells_since": ago(600)}, {}, True, "noticed when the channel was added"),
    ({"tells_since": ago(599)}, {}, False, "before that"),
    ({"sites": frozenset({"Rome", "Oslo"})}, {}, True, "one of its sites"),
    ({"sites": frozenset({"Oslo"})}, {}, False, "another site"),
    ({"sites": frozenset({"Oslo"})}, DEAF, True, "the whole fleet"),
    ({"events": frozenset({NotificationEvent.SCREEN_BAD})}, {}, False, "an event that it does not take"),
    ({}, {"min_age": 10 * MINUTE}, True, "as old as it has to be"),
    ({}, {"min_age": 10 * MINUTE, "since": ago(599)}, False, "too young"),
    ({}, HELD_BACK, False, "recovery holds back, and its incident is told"),
    ({"hours": WORK}, HELD_BACK, True, "its incident is not told at this hour"),
    ({"events": frozenset({NotificationEvent.BREAKER_OPEN})}, HELD_BACK, True, "its incident is not told"),
    ({"hours": WORK}, {}, False, "outside of its hours"),
    ({"hours": WORK}, DEAF, True, "critical at any hour"),
    ({"hours": WORK, "critical_passes": False}, DEAF, False, "nothing passes"),
]


@pytest.mark.parametrize(("channel", "trouble", "opens", "note"), OPENS, ids=[note for *_, note in OPENS])
def test_whether_a_channel_is_told_of_a_trouble(
    channel: dict[str, Any], trouble: dict[str, Any], opens: bool, note: str
) -> None:
    told, about = replace(ON_CALL, **channel), replace(DARK_SITE, **trouble)

    assert rules.opens(told, about, NOW, ()) is opens
    assert rules.opens(told, about, NOW, {(2, about.root), (1, "incident:8")}) is opens
    assert not rules.opens(told, about, NOW, {(1, about.root)})


DISPLAYS = tuple(Display(f"{number}", "", "Rome") for number in range(24))
INCIDENT, UNWELL, OLD = (
    NotificationEvent.INCIDENT_OPENED,
    NotificationEvent.DISPLAY_UNWELL,
    NotificationEvent.CERTIFICATE_OLD,
)
GETS_WORSE: list[tuple[NotificationEvent, int, dict[str, Any], NotificationEvent | None, str]] = [
    (INCIDENT, 0, {"displays": DISPLAYS[:23]}, None, "not twice the twelve of the first message"),
    (INCIDENT, 0, {"displays": DISPLAYS}, NotificationEvent.INCIDENT_ESCALATED, "twice as many"),
    (INCIDENT, 3599, {"displays": DISPLAYS[:1]}, None, "told less than an hour ago"),
    (INCIDENT, 3600, {"displays": DISPLAYS[:1]}, NotificationEvent.INCIDENT_ESCALATED, "an hour ago"),
    (INCIDENT, 3600, {}, None, "an hour ago, and all are back"),
    (UNWELL, 9999, {"event": UNWELL}, None, "a display is as unwell as it was"),
    (UNWELL, 0, {"event": NotificationEvent.DISPLAY_SUSPENDED}, NotificationEvent.DISPLAY_SUSPENDED, "beyond help"),
    (OLD, 9999, {"event": OLD}, None, "a certificate ends some day soon"),
    (OLD, 0, {"event": NotificationEvent.CERTIFICATE_ENDING}, NotificationEvent.CERTIFICATE_ENDING, "in some days"),
]


@pytest.mark.parametrize(
    ("told", "seconds_ago", "trouble", "event", "note"), GETS_WORSE, ids=[note for *_, note in GETS_WORSE]
)
def test_when_a_trouble_that_was_told_is_told_as_worse(
    told: NotificationEvent, seconds_ago: float, trouble: dict[str, Any], event: NotificationEvent | None, note: str
) -> None:
    notice = Notice(1, 1, "root", "root", told, DeliveryState.DELIVERED, ago(seconds_ago), {"displays": 12}, False)

    assert rules.escalation(notice, replace(DARK_SITE, **trouble), NOW) is event


@pytest.mark.parametrize(
    ("hours", "at", "on"),
    [
        (None, "2026-11-22T03:00", True),
        (WORK, "2026-11-20T07:00", True),  # a Friday, 08:00 in Rome
        (WORK, "2026-11-20T06:59", False),
        (WORK, "2026-11-20T16:59", True),
        (WORK, "2026-11-20T17:00", False),
        (WORK, "2026-11-21T10:00", False),  # a Saturday
        (WORK, "2026-07-03T06:00", True),  # in summer Rome is two hours ahead of UTC
        (NIGHT, "2026-11-20T21:00", True),
        (NIGHT, "2026-11-21T04:59", True),  # Saturday, which belongs to Friday's night
        (NIGHT, "2026-11-21T05:00", False),
        (NIGHT, "2026-11-20T04:00", False),  # Friday, which belongs to Thursday's night
    ],
)
def test_at_which_hours_a_channel_tells(hours: Hours | None, at: str, on: bool) -> None:
    assert are_on(hours, datetime.fromisoformat(at).replace(tzinfo=UTC)) is on


def test_hours_of_a_zone_that_this_machine_does_not_know_are_those_of_utc() -> None:
    odd = Hours("Atlantis/Capital", frozenset(Weekday), time(8), time(9))

    assert are_on(odd, datetime(2026, 11, 20, 8, 30, tzinfo=UTC))


@given(st.integers(0, 10_000), st.none() | st.timedeltas(timedelta(), timedelta(days=9)))
def test_waits_grow_to_an_hour_and_never_beyond(attempts: int, asked: timedelta | None) -> None:
    wait = wait_after(attempts, asked)

    assert FIRST_WAIT <= wait <= LONGEST_WAIT
    assert wait <= wait_after(attempts + 1, asked)
    assert asked is None or wait >= min(asked, LONGEST_WAIT)


@pytest.mark.parametrize(
    ("kind", "url", "shown"),
    [
        (
            ChannelKind.WEBHOOK,
            "https://anna:s3cret@hooks.example.org:8443/s3cret?s3cret#s3cret",
            "https://hooks.example.org:8443/…",
        ),
        (ChannelKind.WEBHOOK, "http://[::1]/s3cret", "http://[::1]/…"),
        (ChannelKind.APPRISE, "slack://s3cret/s3cret/s3cret", "slack://…"),
        (ChannelKind.APPRISE, "MAILTO://s3cret:s3cret@s3cret", "mailto://…"),
    ],
)
def test_what_may_be_shown_of_an_address(kind: ChannelKind, url: str, shown: str) -> None:
    assert masked(kind, url) == shown


@given(st.text())
def test_other_peoples_text_is_one_bounded_line(text: str) -> None:
    for made in (plain(text), bounded(text)):
        assert made.isprintable()
        assert made == made.strip()
    assert len(plain(text)) <= 100


def test_a_message_names_ten_displays_with_long_names_and_counts_the_rest() -> None:
    displays = tuple(Display(str(n), f"{n} " + "n" * 150, "s" * 150) for n in range(12))

    rome = replace(DARK_SITE, displays=displays)
    message = opened(rome, rome.event, NotificationPhase.OPENED, ON_CALL_LETTERS, NOW)

    assert message["text"].endswith(") and 2 more.")


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {"title": {"code": "of_newer_code", "facts": {}}},
        {"title": {"code": "never_heard", "facts": {}, "more": 1}},
    ],
)
def test_a_message_of_other_code_is_closed_with_the_text_that_was_told(stored: Any) -> None:
    told = {"title": "Rome is dark", "cause": "", "since": ago(600).isoformat(), "url": None, "sentences": stored}

    assert recovered(told, NOW, None, ON_CALL_LETTERS)["title"] == "Over: Rome is dark"


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (
            incident_title(IncidentKind.SUBNET, "10.0.0.0/24", 1, {"none"}, 3, keeps=True),
            (
                "1 display in the subnet 10.0.0.0/24 of none keeps failing (3 times in 24 hours)",
                "1 Display im Subnetz 10.0.0.0/24 von none fällt immer wieder aus (3-mal in 24 Stunden)",
                "拠点 none のサブネット 10.0.0.0/24 の1台のディスプレイが繰り返し異常になっています（24時間で3回）",
            ),
        ),
        (
            incident_title(IncidentKind.CLUSTER, "", 12, {"a", "b"}, 2),
            (
                "12 displays at 2 sites failed together again (2 times in 24 hours)",
                "12 Displays an 2 Standorten sind wieder gemeinsam ausgefallen (2-mal in 24 Stunden)",
                "2拠点の12台のディスプレイが再び同時に異常になりました（24時間で2回）",
            ),
        ),
        (
            display_title(Display("x", "Foyer", "Rome"), "stale", None, None, suspended=True),
            (
                "Foyer (Rome) is silent: recovery has tried everything",
                "Foyer (Rome) ist verstummt: Die Wiederherstellung hat alles versucht",
                "Foyer (Rome) が応答しません。自動復旧は手を尽くしました",
            ),
        ),
        (
            emptied_cause({"channel": 1, "person": 2}),
            (
                "2 people have rights there, 1 channel hears of it. Give each",
                "2 Personen haben dort Rechte, 1 Kanal bekommt Meldungen von dort. Bitte jedem",
                "権限のあるユーザー2人、通知を受けるチャンネル1件。それぞれ",
            ),
        ),
        (
            recovery_of_many([RecoveryState.OFF, RecoveryState.DUE, RecoveryState.DUE]),
            (
                "2 × recovery is about to act, 1 × automatic recovery is switched off.",
                "2 × die Wiederherstellung greift gleich ein, 1 × die automatische Wiederherstellung ist aus.",
                "2台: 自動復旧がまもなく対応します、1台: 自動復旧はオフです。",
            ),
        ),
        (
            recovery_did(restarts=1, reboots=2),
            (
                "Recovery restarted a player once and rebooted a display 2 times.",
                "Die Wiederherstellung hat einmal einen Player neu gestartet und 2-mal ein Gerät neu gestartet.",
                "自動復旧: プレーヤー再起動1回、機器の再起動2回。",
            ),
        ),
    ],
)
def test_a_message_is_said_in_each_language(said: Sentence, texts: tuple[str, ...]) -> None:
    for language, text in zip(("en", "de", "ja"), texts, strict=True):
        assert words_of(language).say(said).startswith(text)


@given(st.lists(st.sampled_from(list(RecoveryState)), min_size=1))
def test_what_recovery_does_about_many_is_a_sentence(states: list[RecoveryState]) -> None:
    said = english(recovery_of_many(states))

    assert said.endswith(".")
    assert said.count("×") == (0 if len(set(states)) == 1 else len(set(states)))


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (HealthLimit.DISK, 94.9, "Disk of Foyer 3 is 94 % full; the limit is 90 %"),
        (HealthLimit.MEMORY, 100.0, "Memory of Foyer 3 is 100 % full; the limit is 95 %"),
        (HealthLimit.HEAT, 86.4, "Foyer 3 is 86 °C hot; the limit is 80 °C"),
        (
            HealthLimit.CERTIFICATE,
            9.2,
            "The certificate authority that Foyer 3 trusts ends in 9 days; the limit is 14 days",
        ),
        (
            HealthLimit.CERTIFICATE,
            0.2,
            "The certificate authority that Foyer 3 trusts ends in 4 hours; the limit is 14 days",
        ),
        (
            HealthLimit.CERTIFICATE,
            -3.0,
            "The certificate authority that Foyer 3 trusts has ended; the limit is 14 days",
        ),
        (HealthLimit.CLOCK, 61.0, "Clock of Foyer 3 is 61 seconds fast; the limit is 60 seconds"),
        (HealthLimit.CLOCK, -7300.0, "Clock of Foyer 3 is 2 hours slow; the limit is 60 seconds"),
        (HealthLimit.VOLTAGE, 1.0, "Power supply of Foyer 3 gave too little voltage since its boot"),
        (HealthLimit.READ_ONLY, 1.0, "Disk of Foyer 3 takes no writes, so it refuses commands"),
        (HealthLimit.REFUSED, 2.0, "Foyer 3 does not take an order: its panel says which and why"),
    ],
)
def test_a_passed_limit_is_said_in_one_sentence(kind: HealthLimit, value: float, words: str) -> None:
    assert english(limit_title(Display("x", "Foyer 3", None), kind, value, LIMITS[kind].at)) == words
