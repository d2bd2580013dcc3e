"""The answers about quiet times: whole, and as the rows and the page of a client show them."""

from datetime import datetime
from typing import Annotated

import msgspec

from functions.api.bodies import Answer
from shared.quiet.rules import KeptQuietTime, QuietOn
from shared.vocabulary import Quiet, QuietPreset, QuietScope, QuietState, Weekday
from shared.words.sentences import Sentence


class QuietHours(Answer):
    """Weekly hours on some days, at local times HH:MM or HH:MM:SS; `to` may be 24:00.

    `nights`: how many midnights lie between `from` and `to`.
    """

    days: list[Weekday]
    begins: str = msgspec.field(name="from")
    ends: str = msgspec.field(name="to")
    nights: int


class Occurrence(Answer):
    """A time in which it is quiet without a break. `ends_at` null: until somebody ends it."""

    starts_at: datetime
    ends_at: datetime | None


class QuietTime(Answer):
    """A quiet time: whom it is about, what is quiet, when, who made it and why.

    `occurrence` is the present or the next time in which it is quiet (of opening hours: closed); null: none is left.
    `covers`: how many displays it is about now; `note` says when there is none yet. `words` is one sentence for people,
    without the end.
    """

    id: int
    preset: QuietPreset
    quiet: list[Quiet]
    scope: QuietScope
    site: str | None
    tag: str | None
    clients: list[str]
    starts_at: datetime
    ends_at: datetime | None
    hours: list[QuietHours]
    time_zone: str | None
    reason: str
    created_by: str
    created_at: datetime
    ended_by: str | None
    ended_at: datetime | None
    state: QuietState
    occurrence: Occurrence | None
    covers: int
    note: Sentence | None
    words: Sentence


class QuietNowView(Answer):
    """A quiet time that is on. `until` null: until somebody ends it. `by` made it."""

    id: int
    preset: QuietPreset
    quiet: list[Quiet]
    scope: QuietScope
    site: str | None
    tag: str | None
    clients: Annotated[list[str], msgspec.Meta(description="with scope `clients`")]
    until: datetime | None
    by: str
    reason: str


def quiet_now_view(one: QuietOn) -> QuietNowView:
    """A quiet time that is on, as its short answer."""
    time = one.time
    return QuietNowView(
        id=time.id,
        preset=time.preset,
        quiet=time.quiet,
        scope=time.scope,
        site=time.site,
        tag=time.tag,
        clients=time.clients if isinstance(time, KeptQuietTime) else [],
        until=one.until,
        by=time.created_by,
        reason=time.reason,
    )
