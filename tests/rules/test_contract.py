"""The Structs of the contract read payloads: only an invalid part is dropped."""

import json
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import messages
from bridge.contract import AckState, Document, HealthDocument
from bridge.reading import PARTS_DROPPED, DocumentReader, Unreadable, json_object
from shared.clients.reports.rules import HealthReport
from shared.commands.rules import ACK_STATES
from shared.vocabulary import DeadLetterReason
from tests.lab.bench.traffic import Traffic

UUID: Final = "11111111-1111-4111-8111-111111111111"

ODD: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 130),
    st.sampled_from([2**31, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.sampled_from(["x" * 16, "x" * 17, "x" * 128, "x" * 129, "x" * 256, "x" * 257, "x" * 500, "x" * 501, "x" * 9000]),
    st.sampled_from(["running", "ok", "warn", "queued", "succeeded", "2026-01-02T03:04:05Z", "a\x00b", "\ud800"]),
    st.lists(st.one_of(st.text(max_size=2), st.integers()), max_size=3),
    st.dictionaries(st.sampled_from(["id", "state", "unit", "n"]), st.one_of(st.none(), st.text(max_size=3))),
)
ACK: Final = st.fixed_dictionaries(
    {"id": st.text(min_size=1, max_size=3), "state": st.sampled_from(["received", "running", "sent", "expired", "?"])},
    optional={"reason": st.one_of(st.none(), st.text(max_size=3)), "more": st.integers(), "seq": st.integers(0, 2)},
)
SOUND: Final[dict[str, st.SearchStrategy[Any]]] = {
    "install_id": st.text(min_size=1, max_size=4),
    "seq": st.integers(0, 3),
    "v": st.sampled_from([1, 1, 1.0, 2, True, None]),
    "process_status": st.sampled_from(["running", "crashed", "asleep"]),
    "interval_seconds": st.integers(4, 3601),
    "last_command": ACK,
    "cpu_percent": st.one_of(st.integers(-1, 101), st.floats(0, 100), st.sampled_from([0, 0.0, 1e-300])),
    "capabilities": st.lists(st.text(max_size=3), max_size=34),
    "service_failed": st.one_of(st.none(), st.fixed_dictionaries({"unit": st.text(max_size=3)})),
    "recent_acks": st.lists(ACK, max_size=10),
    "broker_connection": st.fixed_dictionaries({}, optional={"reconnect_count": st.integers(-1, 3)}),
    "message": st.text(max_size=5),
    "context": st.dictionaries(st.text(max_size=3), ODD, max_size=3),
    "unit": st.text(max_size=3),
    "restarts": st.integers(-1, 3),
}
DOCUMENTS: Final = st.builds(
    lambda sound, odd: json.dumps({**sound, **odd}).encode(),
    st.fixed_dictionaries({}, optional=SOUND),
    st.one_of(st.just({}), st.dictionaries(st.sampled_from([*SOUND, "unknown"]), ODD, max_size=2)),
)
READERS: Final = st.sampled_from([messages.HEARTBEAT, messages.HEALTH, messages.LOG, messages.SERVICE_FAILED])


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
@pytest.mark.parametrize(
    ("reader", "needed", "field"),
    [
        (messages.HEARTBEAT, {}, "interval_seconds"),
        (messages.HEARTBEAT, {}, "seq"),
        (messages.HEALTH, {}, "cpu_percent"),
        (messages.LOG, {"message": "x"}, "ts"),
        (messages.SERVICE_FAILED, {"unit": "x"}, "restarts"),
    ],
)
def test_a_whole_number_beyond_64_bits_puts_the_document_aside(
    reader: DocumentReader[Any], needed: dict[str, str], field: str, number: int
) -> None:
    with pytest.raises(Unreadable) as refused:
        reader.read(json.dumps({**needed, field: number}).encode())

    assert refused.value.reason == DeadLetterReason.BAD_NUMBER


@given(READERS, DOCUMENTS)
def test_what_is_read_in_one_step_is_what_is_read_part_by_part(
    reader: DocumentReader[Document], payload: bytes
) -> None:
    at_once = reader.as_it_should_be(payload)

    assert at_once is None or reader is messages.LOG or reader.mended(json_object(payload)) == (at_once, 0)


@given(READERS, DOCUMENTS)
def test_a_document_of_which_parts_are_dropped_is_one_that_the_contract_allows(
    reader: DocumentReader[Document], payload: bytes
) -> None:
    try:
        document, bad = reader.read(payload)
    except Unreadable:
        return

    assert msgspec.convert(msgspec.to_builtins(document), type(document)) == document
    assert bad <= PARTS_DROPPED + len(document.__struct_fields__)


def health(**fields: Any) -> tuple[HealthDocument, int]:
    return messages.HEALTH.read(json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("fields", "left", "bad"),
    [
        ({"recent_acks": [{"id": "a", "state": "running", "reason": 5}]}, {"reason": None}, 1),
        ({"recent_acks": [{"id": "a", "state": "running", "seq": 0, "ts": []}]}, {"seq": None, "ts": None}, 2),
        ({"recent_acks": [{"id": "b", "state": "sent"}, {"id": "a", "state": "running"}]}, {}, 1),
        ({"recent_acks": ["b", {"id": "a", "state": "running", "later": {}}]}, {}, 1),
    ],
)
def test_a_bad_part_of_an_ack_costs_no_more_than_itself(fields: dict[str, Any], left: dict[str, Any], bad: int) -> None:
    document, dropped = health(**fields)

    kept = [one for one in document.recent_acks or () if one is not None]
    assert [(one.id, one.state) for one in kept] == [("a", "running")]
    assert {name: getattr(kept[0], name) for name in left} == left
    assert dropped == bad


def test_a_part_that_cannot_be_without_a_bad_one_is_dropped_and_counted_as_one() -> None:
    document, bad = health(service_failed={"unit": 7, "seq": 0}, hostname="lobby", capabilities=["a", 1, 2])

    assert (document.service_failed, document.capabilities, document.hostname) == (None, None, "lobby")
    assert bad == 2


@pytest.mark.parametrize("item", [1, {"id": 1}, [[]], {"id": "c", "state": "sent"}])
def test_thousands_of_bad_parts_take_few_tries(item: Any) -> None:
    document, bad = health(recent_acks=[item] * 2_000, hostname="lobby")

    assert (document.recent_acks, document.hostname) == (None, "lobby")
    assert bad == 1


@pytest.mark.parametrize(
    "small",
    [
        b'{"cpu_percent": 1e-20000}',
        b'{"temperature_celsius": -1e-20000}',
        b'{"ts": 1e-20000}',
        b'{"broker_connection": {"last_disconnect_at": 1E-20000}}',
        b'{"service_failed": {"unit": "u", "ts": 1e-20000}}',
        b'{"recent_acks": [{"id": "c", "state": "running", "ts": 0e2000000000}]}',
    ],
)
def test_a_number_that_is_an_error_for_postgres_does_not_reach_it_as_it_came(small: bytes) -> None:
    body, usual = messages.health(UUID, 5.0, small).body, messages.health(UUID, 5.0, b'{"cpu_percent": 1e-2}').body

    assert isinstance(body, HealthReport)
    assert isinstance(usual, HealthReport)
    assert isinstance(body.body, dict)
    assert isinstance(usual.body, msgspec.Raw)


def test_what_displays_send_is_read_in_one_step() -> None:
    readers: dict[bytes, DocumentReader[Any]] = {
        b"heartbeat": messages.HEARTBEAT,
        b"health": messages.HEALTH,
        b"logs": messages.LOG,
    }

    for topic, payload in Traffic(clients=3).messages(60):
        assert readers[topic.split(b"/")[2]].as_it_should_be(payload) is not None


def test_an_escaped_quote_or_letter_costs_no_second_step() -> None:
    assert messages.LOG.as_it_should_be(b'{"message": "\\"\\u00e9\\ud83d\\ude00\\n"}') is not None
    assert messages.LOG.as_it_should_be(b'{"message": "\\u0000"}') is None
    assert messages.LOG.as_it_should_be(b'{"message": "\\ud800"}') is None


def test_an_ack_may_say_what_a_display_may_say_of_a_command() -> None:
    assert set(AckState.__args__) == {state.value for state in ACK_STATES}  # type: ignore[attr-defined]
