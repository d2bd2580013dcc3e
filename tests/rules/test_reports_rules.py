"""Which report is newest, when a failure is raised, the effect of presence, and the shown state."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.clients.failures_rules import Marker, ServiceFailure, Stamp, is_named, is_raised
from shared.clients.reports.rules import (
    Heartbeat,
    PresenceChange,
    PresenceReport,
    late_after,
    never_heard,
    newest,
    no_heartbeat_for,
    presence_changes,
    shown_status,
    stale_after,
    when_heard,
)
from shared.vocabulary import ClientStatus, Presence, ProcessStatus
from shared.words.facts import rounded
from shared.words.reader import english

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)


def beat(
    install: str | None = None, boot: int | None = None, seq: int | None = None, uuid: str = "u", heard: float = 0.0
) -> Heartbeat:
    return Heartbeat(uuid, heard, install_id=install, boot_seq=boot, seq=seq)


# --- newest ---


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ([beat("i", 1, 2), beat("i", 1, 1)], [beat("i", 1, 2)]),  # out of order
        ([beat("i", 2, 1), beat("i", 1, 9)], [beat("i", 2, 1)]),  # a later boot is newer, with any numbers
        ([beat("i", 1, 1, heard=1.0), beat("i", 1, 1, heard=2.0)], [beat("i", 1, 1, heard=1.0)]),  # delivered twice
        ([beat(heard=1.0), beat(heard=2.0)], [beat(heard=2.0)]),  # without a stamp the last arrival is newest
        ([beat("i", 1, 5), beat(heard=2.0)], [beat(heard=2.0)]),  # a display that lost its stamp
        ([beat(heard=1.0), beat("i", 1, 1)], [beat("i", 1, 1)]),  # a display that got a stamp
        ([beat("i", 9, 9), beat("j", 1, 1)], [beat("i", 9, 9), beat("j", 1, 1)]),  # the database decides which is newer
        ([beat(uuid="u"), beat(uuid="v")], [beat(uuid="u"), beat(uuid="v")]),
    ],
)
def test_of_each_client_only_what_may_be_newest_is_kept(said: list[Heartbeat], kept: list[Heartbeat]) -> None:
    assert newest(said) == kept


@given(st.permutations([beat("i", boot, seq) for boot in (1, 2) for seq in (1, 2, 3)]))
def test_the_order_of_arrival_does_not_matter_to_stamped_reports(said: list[Heartbeat]) -> None:
    assert newest(said) == [beat("i", 2, 3)]


# --- service failures ---

A: Stamp = ("i", 1, 1)
B: Stamp = ("i", 1, 2)
CLEAN = Marker(None, None, None, None)
MENDED = Marker("x", A, None, None, mended=True)


def failed(unit: str = "x", stamp: Stamp | None = None, *, by_topic: bool = True) -> ServiceFailure:
    return ServiceFailure("u", 0.0, unit, stamp, by_topic)


@pytest.mark.parametrize(
    ("marker", "failure", "raised", "why"),
    [
        (CLEAN, failed(), True, "the topic raises"),
        (CLEAN, failed(stamp=A), True, "the topic raises"),
        (Marker("x", None, None, None), failed(), True, "it failed once more, as far as anybody can tell"),
        (Marker("x", A, None, None), failed(stamp=A), False, "the broker delivered it twice"),
        (Marker("x", A, None, None), failed(stamp=B), True, "it failed once more"),
        (Marker(None, None, "x", None), failed(), True, "the topic raises what was acknowledged"),
        (Marker(None, None, "x", A), failed(stamp=A), False, "the broker delivered it again after that"),
        (Marker(None, None, "x", A), failed(stamp=B), True, "it failed again after that"),
        (CLEAN, failed(stamp=A, by_topic=False), True, "the message on the topic was lost"),
        (CLEAN, failed(by_topic=False), True, "the message on the topic was lost"),
        (Marker("x", A, None, None), failed(stamp=A, by_topic=False), False, "it is shown already"),
        (Marker("x", None, None, None), failed(by_topic=False), False, "it is shown already"),
        (Marker("x", None, None, None), failed(stamp=A, by_topic=False), False, "it is shown already"),
        (Marker("x", A, None, None), failed("y", B, by_topic=False), True, "another service failed since"),
        (Marker("x", A, None, None), failed("x", B, by_topic=False), True, "it failed once more"),
        (Marker("y", B, None, None), failed("x", A, by_topic=False), False, "a later failure overtook this repeat"),
        (Marker("y", B, None, None), failed("x", ("j", 1, 1), by_topic=False), True, "installations have no order"),
        (
            Marker(None, None, "y", B, frozenset({"x"})),
            failed("x", A, by_topic=False),
            True,
            "it still stands after the later one ended",
        ),
        (Marker(None, None, "y", B), failed("x", A, by_topic=False), False, "both were acknowledged"),
        (Marker(None, None, "x", A), failed(stamp=A, by_topic=False), False, "it was acknowledged"),
        (Marker(None, None, "x", A), failed(stamp=B, by_topic=False), True, "it failed again after that"),
        (Marker(None, None, "x", None), failed(by_topic=False), False, "it cannot be told from the acknowledged one"),
        (Marker(None, None, "x", None), failed("y", by_topic=False), True, "another service was acknowledged"),
        (MENDED, failed(stamp=A, by_topic=False), True, "it was mended, and stands again"),
        (MENDED, failed(stamp=A), False, "the broker delivered it again after it was mended"),
        (MENDED, failed(stamp=B), True, "it failed again after it was mended"),
        (Marker("x", None, None, None, mended=True), failed(by_topic=False), True, "it stands again"),
        (Marker("x", None, None, None, mended=True), failed(stamp=A, by_topic=False), True, "it stands again"),
        (Marker("x", B, None, None, mended=True), failed(stamp=A, by_topic=False), True, "an earlier one stands again"),
        (Marker("x", A, "x", A, mended=True), failed(stamp=A, by_topic=False), False, "it was acknowledged"),
    ],
)
def test_a_failure_is_raised_once_for_each_time_it_happens(
    marker: Marker, failure: ServiceFailure, raised: bool, why: str
) -> None:
    assert is_raised(marker, failure) is raised, why


def test_a_repeat_gives_its_stamp_to_the_failure_that_is_shown_without_one() -> None:
    shown = Marker("x", None, None, None)

    assert is_named(shown, failed(stamp=A, by_topic=False))
    assert not is_named(shown, failed("y", stamp=A, by_topic=False))
    assert not is_named(Marker("x", B, None, None), failed(stamp=A, by_topic=False))
    assert not is_named(Marker("x", None, None, None, mended=True), failed(stamp=A, by_topic=False))


# --- presence ---


def online(session: str | None) -> PresenceReport:
    return PresenceReport("u", Presence.ONLINE, session)


def offline(session: str | None) -> PresenceReport:
    return PresenceReport("u", Presence.OFFLINE, session)


def change(state: Presence, session: str | None, only_if: tuple[str | None, ...] | None = None) -> PresenceChange:
    return PresenceChange("u", state, session, only_if)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([online("a")], change(Presence.ONLINE, "a")),
        ([online("a"), offline("a")], change(Presence.OFFLINE, "a")),
        ([online("b"), offline("a")], change(Presence.ONLINE, "b")),  # the will of the previous session
        ([online("a"), offline("a"), online("b")], change(Presence.ONLINE, "b")),
        ([offline("a")], change(Presence.OFFLINE, "a", ("a",))),  # the database knows the present session
        ([offline("a"), offline("b")], change(Presence.OFFLINE, "b", ("a", "b"))),
        ([offline(None)], change(Presence.OFFLINE, None, (None,))),
        ([online(None), offline(None)], change(Presence.OFFLINE, None)),
    ],
)
def test_offline_ends_only_its_own_session(said: list[PresenceReport], expected: PresenceChange) -> None:
    assert presence_changes(said) == [expected]


# --- the shown state ---


def shown(
    process: ProcessStatus = ProcessStatus.RUNNING,
    age: float = 0.0,
    *,
    interval: int = 30,
    deaf: bool = False,
    since: datetime | None = LONG_AGO,
    stale: int = 180,
) -> ClientStatus:
    heard_at = NOW - timedelta(seconds=age)
    return shown_status(process, heard_at, interval, NOW, stale, deaf=deaf, listening_since=since)[0]


@pytest.mark.parametrize("process", ProcessStatus)
def test_a_client_just_heard_shows_what_it_says(process: ProcessStatus) -> None:
    assert shown(process) == process.value == when_heard(process)[0]


@pytest.mark.parametrize(
    ("age", "interval", "expected"),
    [
        (90, 30, ClientStatus.RUNNING),
        (91, 30, ClientStatus.LATE),  # two intervals, but at least 90 s
        (180, 30, ClientStatus.LATE),
        (181, 30, ClientStatus.STALE),
        (240, 120, ClientStatus.RUNNING),
        (241, 120, ClientStatus.LATE),  # two of its own intervals
        (360, 120, ClientStatus.LATE),
        (361, 120, ClientStatus.STALE),  # never under three of its own intervals
    ],
)
def test_silence_makes_late_and_then_stale(age: float, interval: int, expected: ClientStatus) -> None:
    assert shown(age=age, interval=interval) is expected


@pytest.mark.parametrize("process", [ProcessStatus.CRASHED, ProcessStatus.STOPPED, ProcessStatus.STARTING])
def test_what_is_worse_than_late_is_not_hidden_by_it(process: ProcessStatus) -> None:
    assert shown(process, age=120) == process.value
    assert shown(process, age=181) is ClientStatus.STALE  # no fresh heartbeat confirms it


def test_while_the_bridge_is_deaf_silence_proves_nothing() -> None:
    assert shown(age=600, deaf=True) is ClientStatus.UNKNOWN
    assert shown(age=600, since=None) is ClientStatus.UNKNOWN
    assert shown(age=60, deaf=True) is ClientStatus.RUNNING


@pytest.mark.parametrize(
    ("listening_for", "expected"),
    [
        (0, ClientStatus.UNKNOWN),  # the bridge has just begun to listen, so the display may be well or dead
        (90, ClientStatus.UNKNOWN),
        (91, ClientStatus.LATE),
        (181, ClientStatus.STALE),
    ],
)
def test_silence_counts_only_while_somebody_listened(listening_for: float, expected: ClientStatus) -> None:
    assert shown(age=7200, since=NOW - timedelta(seconds=listening_for)) is expected


def test_a_client_never_heard_is_unknown_and_not_stale() -> None:
    status, cause = shown_status(ProcessStatus.UNKNOWN, None, 30, NOW, 180, deaf=False, listening_since=LONG_AGO)

    assert (status, cause) == (ClientStatus.UNKNOWN, never_heard())


def test_the_cause_says_for_how_long() -> None:
    heard_at = NOW - timedelta(minutes=7, seconds=5)

    _, cause = shown_status(ProcessStatus.RUNNING, heard_at, 30, NOW, 180, deaf=False, listening_since=LONG_AGO)

    assert english(cause) == "No heartbeat for 7 minutes."


@given(st.integers(5, 3600), st.integers(30, 86_400))
def test_a_client_is_late_before_it_is_stale(interval: int, stale_seconds: int) -> None:
    stale = max(stale_seconds, 180)

    assert late_after(interval) <= stale_after(interval, stale)
    assert stale_after(interval, stale) >= timedelta(seconds=3 * interval)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (119.9, "119 seconds"), (120, "2 minutes"), (7_200, "2 hours"), (200_000, "2 days")],
)
def test_durations_are_told_in_words(seconds: float, words: str) -> None:
    assert english(no_heartbeat_for(seconds=rounded(timedelta(seconds=seconds)))) == f"No heartbeat for {words}."
