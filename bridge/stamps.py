"""The stamp of a document that was refused, where it can still be read.

A numbered log message that can never be stored must be passed over: its display would send it for ever, and the
mark would never come past it.
"""

import re
from typing import Final

import msgspec

from bridge.payloads import LONG, STAMP_ID_CHARS, Fields
from shared.clients.failures_rules import Stamp
from shared.postgres.door import scrub

TEXT: Final = re.compile(rb'"install_id"\s*:\s*"([^"\\\x00-\x1f]+)"')
NUMBERS: Final = (re.compile(rb'"boot_seq"\s*:\s*(\d{1,19})\s*[,}]'), re.compile(rb'"seq"\s*:\s*(\d{1,19})\s*[,}]'))
"""What follows a number must be there: of a document that was cut within a number the rest would be another one."""
NAMES: Final = (b'"install_id"', b'"boot_seq"', b'"seq"')


def legible_stamp(payload: bytes) -> Stamp | None:
    """install_id, boot_seq and seq: None when one is missing, makes no sense, or could be meant in two ways."""
    try:
        values = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _stamp_in_ruins(payload)
    if type(values) is not dict:
        return None
    install_id, boot_seq, seq = Fields(values).stamp()
    return None if install_id is None or boot_seq is None or seq is None else (scrub(install_id), boot_seq, seq)


def _stamp_in_ruins(payload: bytes) -> Stamp | None:
    """Of bytes that are no JSON: only when each name is there once, for another one may be that of an inner object."""
    text, boot_seq, seq = TEXT.search(payload), NUMBERS[0].search(payload), NUMBERS[1].search(payload)
    if text is None or boot_seq is None or seq is None or any(payload.count(name) != 1 for name in NAMES):
        return None
    try:
        install_id = text[1].decode()
    except UnicodeDecodeError:
        return None
    numbers = int(boot_seq[1]), int(seq[1])
    is_sound = len(install_id) <= STAMP_ID_CHARS and numbers[0] <= LONG and 1 <= numbers[1] <= LONG
    return (install_id, *numbers) if is_sound else None
