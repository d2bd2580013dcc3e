"""When a message is stored as a sign of life, and the words for a display that sends messages but no heartbeats."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.clients.reports.rules import heartbeats_do_not_come, no_heartbeat_for, shown_status
from shared.clients.signs_rules import SignsMemory, due, last_sign, messages_refused, why_mute
from shared.vocabulary import ClientStatus, DeadLetterReason, ProcessStatus
from shared.words.reader import english
from shared.words.sentences import Sentence

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
U = "0b54ad5e-3a8b-4a3f-9d0e-000000000001"
LONG_AGO = NOW - timedelta(days=1)

CASES: list[tuple[str, float | None, int, float | None, int, bool]] = [
    # case, age of its heartbeat, its interval, age of its last sign, HEARTBEAT_STALE_SECONDS, whether it is due
    ("its heartbeat is fresh", 1, 30, None, 180, False),
    ("two heartbeats of three are missing", 89, 30, None, 180, False),
    ("three are missing", 91, 30, None, 180, True),
    ("a sign of it was stored lately", 500, 30, 29, 180, False),
    ("and is old", 500, 30, 30, 180, True),
    ("one of a long interval is well", 900, 600, None, 180, False),
    ("three of its halves are missing", 901, 600, None, 180, True),
    ("a short threshold", 46, 30, None, 30, True),
    ("no heartbeat is remembered: the database decides", None, 30, None, 180, True),
    ("nor was one when a sign was stored lately", None, 30, 29, 180, False),
]


@pytest.mark.parametrize(("what", "beat", "interval", "sign", "stale", "expected"), CASES, ids=[c[0] for c in CASES])
def test_a_sign_is_stored_only_where_heartbeats_are_missing_and_only_now_and_then(
    what: str, beat: float | None, interval: int, sign: float | None, stale: int, expected: bool
) -> None:
    clock = 5000.0
    known = SignsMemory()
    if beat is not None:
        known.heartbeats[U] = (clock - beat, interval)
    if sign is not None:
        known.signs[U] = clock - sign

    assert due({U: clock}, {}, known, stale) == ({U: clock} if expected else {}), what


def test_a_heartbeat_of_the_same_batch_counts() -> None:
    known = SignsMemory(heartbeats={U: (0.0, 30)})

    assert due({U: 5000.0}, {U: (4999.0, 30)}, known, 180) == {}


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        ({"too_large": 7}, "7 of them were too large."),
        ({"too_large": 1}, "1 of them was too large."),
        (
            {"not_json": 2, "unsupported_version": 1_200},
            "1,200 of them were of a version that is not supported, 2 were not JSON.",
        ),
        ({"of_newer_code": 2}, "2 of them were refused for another reason."),
        ({}, "look at what the broker lets it publish, and at whether it sends them."),
    ],
)
def test_a_display_without_heartbeats_is_explained_by_what_was_put_aside(refused: dict[str, int], words: str) -> None:
    assert english(why_mute(refused)) == f"Its reports come, its heartbeats do not: {words}"


def told(kind: Any, reason: Any, n: int) -> str:
    return english(messages_refused(kind=kind, reason=reason, n=n))


def test_there_are_words_for_every_reason_and_kind() -> None:
    others = told("logs", "of_newer_code", 2)

    assert [reason for reason in DeadLetterReason if told("logs", reason, 2) == others] == []
    assert told("logs", "too_large", 2) == "2 log lines were too large"
    assert told("acks", "of_newer_code", 1) == "1 answer to a command was refused for another reason"
    assert told("nonsense", "unknown_topic", 1) == "1 message was sent to an unknown topic"


@pytest.mark.parametrize("process", ProcessStatus)
def test_who_talks_without_heartbeats_is_unknown_and_who_says_nothing_is_stale(process: ProcessStatus) -> None:
    def shown(sign: float | None) -> tuple[ClientStatus, Sentence]:
        sign_at = None if sign is None else NOW - timedelta(seconds=sign)
        return shown_status(
            process, NOW - timedelta(hours=1), 30, NOW, 180, deaf=False, listening_since=LONG_AGO, sign_at=sign_at
        )

    assert shown(180) == (ClientStatus.UNKNOWN, heartbeats_do_not_come())
    assert shown(181) == shown(None) == (ClientStatus.STALE, no_heartbeat_for(seconds=3600))


def test_the_last_sign_is_the_later_one() -> None:
    assert last_sign(LONG_AGO, None) == LONG_AGO
    assert last_sign(LONG_AGO, NOW) == last_sign(NOW, LONG_AGO) == NOW
