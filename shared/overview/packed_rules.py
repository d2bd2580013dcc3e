"""How the overview is written column by column, for the dashboard (decision 4).

The same clients in the same order as in the other forms, in a third of what they take once compressed:

- `uuid` is one base64 text of 16 bytes a client: as hexadecimal text they pack to 22, and are half of the answer.
- A time is how many seconds before the second of `server_time` its own second was: 12, or -3 for one to come. One
  with a fraction is a text that adds its six digits: "12.034500". Times inside an open command or a recovery are as
  everywhere.
- Everything else is an array with the value of each client; or, where that is shorter, its different values once
  (`words`) and which of them each client has (`places`).
"""

from base64 import b64decode
from collections.abc import Sequence
from datetime import datetime
from typing import Final

BYTES: Final = 16  # of a uuid


def second_of(now: datetime) -> int:
    """The second that times are counted from, in seconds since 1970."""
    return int(now.timestamp() // 1)


def uuids_of(text: str) -> list[str]:
    """The uuids that such a text holds."""
    digits = b64decode(text).hex()
    each = (digits[start : start + 2 * BYTES] for start in range(0, len(digits), 2 * BYTES))
    return [f"{one[:8]}-{one[8:12]}-{one[12:16]}-{one[16:20]}-{one[20:]}" for one in each]


def in_words(values: Sequence[str | None]) -> tuple[list[str | None], list[int]]:
    """The different ones of these values, and the place of each value among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), list(map(places.__getitem__, values))
