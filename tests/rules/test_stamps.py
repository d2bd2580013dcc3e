"""The number of a refused log message is read only if it is unambiguous."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.reading import legible_stamp

STAMP = {"install_id": "installation-a", "boot_seq": 3, "seq": 42}
READ = ("installation-a", 3, 42)


def stamped(**fields: Any) -> bytes:
    return json.dumps({**STAMP, **fields}).encode()


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (stamped(message="x" * 60_000), READ),  # too large, but a document
        (stamped(context={"seq": 5, "boot_seq": 6, "install_id": "b"}), READ),  # inner names do not count
        (b'{"context": {"seq": 5}, ' + stamped()[1:] + b"cut", None),  # not a document, and two candidates
        (stamped()[:-1] + b', "message": "cut', READ),
        (stamped()[:-1] + b', "message": "\xff"}', READ),
        (stamped()[:-1] + b', "x": NaN}', READ),
        (stamped()[:-1], None),  # cut after 42: it may have been 423
        (b'{"seq": 42, "boot_seq": 3, "install_id": "installa', None),
        (b'{"seq": 42, "boot_seq": 3, "install_id": "a\\u0000b"', None),  # escapes are not decoded here
        (b'{"seq": 42, "boot_seq": 3, "install_id": "a\\u0000b", "v": 2}', ("a\ufffdb", 3, 42)),
        (b'{"seq": 0, "boot_seq": 3, "install_id": "a", ', None),
        (b'{"seq": 9999999999999999999, "boot_seq": 3, "install_id": "a", ', None),
        (b'{"seq": 42, "boot_seq": 3, "install_id": "\xff", ', None),
        (b'{"seq": 4.2, "boot_seq": 3, "install_id": "a", ', None),
        (b'{"message": "\\"seq\\": 5, ", "seq": 42, "boot_seq": 3, "install_id": "a", ', ("a", 3, 42)),
        (stamped(seq=-1), None),
        (stamped(seq=True), None),
        (b"[1]", None),
        (b"", None),
    ],
)
def test_what_is_read_of_a_refused_document(payload: bytes, expected: tuple[str, int, int] | None) -> None:
    assert legible_stamp(payload) == expected


@given(st.binary(max_size=200))
def test_nothing_stops_it(payload: bytes) -> None:
    assert legible_stamp(payload) is None or payload


@given(st.integers(1, 10**12), st.data())
def test_a_document_cut_anywhere_never_tells_another_number(seq: int, data: st.DataObject) -> None:
    whole = json.dumps({"message": "m", **STAMP, "seq": seq, "context": {"a": "b"}}).encode()
    cut = whole[: data.draw(st.integers(0, len(whole)))]

    assert legible_stamp(cut) in {None, ("installation-a", 3, seq)}
