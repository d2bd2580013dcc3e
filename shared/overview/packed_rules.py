"""The packed form of the overview for the dashboard: one column for each field (decision 4).

It has the same clients in the same order as the other form, and about two thirds of its size after compression:

- `uuid` is one base64 text of 16 bytes for each client. As hexadecimal text a uuid compresses only to 22 bytes, and
  uuids would be half of the answer.
- A time is the seconds from its own second to that of `server_time`: 12, or -3 for a time in the future. A time with a
  fraction is a text that adds its six digits: "12.034500". Times inside an open command or a recovery are not packed.
- Every other column is an array with the value of each client; or, if that is shorter, each different value once
  (`words`), and the index of each client's value in it (`places`).
"""

from collections.abc import Sequence
from datetime import datetime


def second_of(now: datetime) -> int:
    """The second of `server_time`, in seconds since 1970."""
    return int(now.timestamp() // 1)


def in_words(values: Sequence[str | None]) -> tuple[list[str | None], list[int]]:
    """Each different value once, and the index of each of `values` among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), list(map(places.__getitem__, values))
