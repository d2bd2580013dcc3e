"""The bridge keeps only the beginning of a payload that is too large, and reports it as if it had all of it."""

import hashlib
import json

import pytest

from bridge.inbox import LARGEST_BYTES, Arrival, Inbox, Oversized, PutAside, bounded
from shared.vocabulary import DeadLetterReason

UUID = "8a1e3f0c-5f1d-4c5e-9b7a-0d2f6c1b9e44"
STAMP = {"install_id": "installation", "boot_seq": 3, "seq": 7}
INBOX = Inbox("signage", "signage/service/canary")


def put_aside(topic: str, payload: bytes) -> PutAside:
    found = INBOX.read(Arrival(f"signage/{UUID}/{topic}", bounded(payload), 1, 0.0))
    assert isinstance(found, PutAside)
    return found


@pytest.mark.parametrize("size", [0, 1, LARGEST_BYTES])
def test_what_a_topic_may_take_is_held_as_it_came(size: int) -> None:
    payload = b"x" * size

    assert bounded(payload) is payload


@pytest.mark.parametrize("topic", ["heartbeat", "health", "logs/info", "service_failed", "presence", "acks"])
@pytest.mark.parametrize("size", [LARGEST_BYTES + 1, 65_536])
def test_it_is_refused_on_every_topic_with_its_whole_size(topic: str, size: int) -> None:
    found = put_aside(topic, b"x" * size)

    assert found.reason is DeadLetterReason.TOO_LARGE
    assert found.detail is not None
    assert found.detail.startswith(f"{size} bytes")
    assert len(found.payload) == LARGEST_BYTES + 1


def test_its_digest_is_that_of_the_whole() -> None:
    payload = bytes(range(256)) * 200

    found = bounded(payload)

    assert (found.whole_bytes, found.sha256) == (len(payload), hashlib.sha256(payload).hexdigest())  # type: ignore[attr-defined]  # it is cut


def test_the_number_of_a_log_line_is_found_wherever_it_stands() -> None:
    """Otherwise its display would send the line for ever."""
    message = {"message": "m" * 60_000}

    found = [put_aside("logs/info", json.dumps(one).encode()) for one in ({**STAMP, **message}, {**message, **STAMP})]

    assert [one.log_number for one in found] == [((UUID, "installation", 3), 7)] * 2


def test_what_our_own_reading_fails_at_is_put_aside_as_a_fault_of_ours() -> None:
    never_measured = Oversized(b"x" * (LARGEST_BYTES + 1))

    found = INBOX.read(Arrival(f"signage/{UUID}/health", never_measured, 1, 0.0))

    assert isinstance(found, PutAside)
    assert (found.reason, found.detail) == (DeadLetterReason.REFUSED_BY_DATABASE, "parser failed: AttributeError")
