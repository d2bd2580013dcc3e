"""What is quiet, for whom, and until when: the one answer for recovery, messages, batches, incidents and availability.

Quiet is the union: whatever one quiet time makes quiet stays quiet, whatever the others say. A person's own command
always goes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from shared.clients import hours_rules as clients_hours_rules
from shared.clients import zones_rules
from shared.errors import QuietTimesRefused, Refused
from shared.quiet import displays_rules, hours_rules
from shared.quiet.hours_rules import Span, TimeSpan
from shared.vocabulary import Quiet, QuietPreset, QuietScope, QuietState
from shared.words.facts import By
from shared.words.sentences import Sentence, sentence, together

AFTER_OPENING: Final = timedelta(minutes=10)
"""So long after its shop opened, a display that failed while the shop was closed is still left alone: it starts."""
FURTHEST: Final = timedelta(days=5 * 366)  # a later time is a typing mistake
LONGEST: Final[Mapping[QuietPreset, timedelta]] = {
    QuietPreset.SNOOZE: timedelta(days=31),  # so that a forgotten one ends by itself
    QuietPreset.MAINTENANCE: timedelta(days=92),  # longer than building work
}
MAKES_QUIET: Final[Mapping[QuietPreset, tuple[Quiet, ...]]] = {
    QuietPreset.HOLD: (Quiet.RECOVERY,),
    QuietPreset.SNOOZE: (Quiet.NOTICES,),
    QuietPreset.MAINTENANCE: (Quiet.RECOVERY, Quiet.NOTICES, Quiet.COMMANDS),
    QuietPreset.OPENING_HOURS: (Quiet.RECOVERY, Quiet.NOTICES, Quiet.SCREEN),
    QuietPreset.LEAVE_OUT: (Quiet.RECOVERY,),
}
"""What each preset makes quiet; `custom` says it itself."""


class StoredQuietTime(Struct, frozen=True, kw_only=True):
    """A stored quiet time without the clients that it names.

    Without `spans` it is quiet from `starts_at` to `ends_at` (None: until a person ends it). With them it is quiet
    within these hours of `time_zone`; opening hours are quiet outside of them.
    """

    id: int
    preset: QuietPreset
    quiet: list[Quiet]
    scope: QuietScope
    site: str | None
    tag: str | None
    starts_at: datetime
    ends_at: datetime | None
    spans: tuple[Span, ...]
    time_zone: str | None
    reason: str
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None

    @property
    def is_outside(self) -> bool:
        """Whether it is quiet outside of its hours."""
        return self.preset is QuietPreset.OPENING_HOURS

    @property
    def over_at(self) -> datetime | None:
        """When it was ended or its time has passed; None: open."""
        return min((at for at in (self.ends_at, self.ended_at) if at is not None), default=None)

    @property
    def words(self) -> Sentence:
        """Why it is quiet and what that means, as one sentence without the end."""
        return quiet_time(
            how=quiet_how(preset=self.preset),
            by=self.created_by,
            reason=self.reason.strip().rstrip("."),
            quiet=[quiet_what(quiet=one) for one in self.quiet],
        )


class KeptQuietTime(StoredQuietTime, frozen=True, kw_only=True):
    """A stored quiet time with the clients that it names."""

    clients: list[str]


@sentence
def quiet_time(*, how: Sentence, by: By, reason: str, quiet: list[Sentence]) -> Sentence: ...
@sentence
def quiet_how(*, preset: QuietPreset) -> Sentence: ...
@sentence
def quiet_what(*, quiet: Quiet) -> Sentence: ...


class QuietOn(Struct, frozen=True):
    """A quiet time that applies now, and the time in which it does so without a break."""

    time: StoredQuietTime
    at: TimeSpan

    @property
    def until(self) -> datetime | None:
        """When it is quiet no more; None: when a person ends it."""
        return self.at.ends_at

    @property
    def order(self) -> tuple[bool, datetime, int]:
        """The one that ends last comes last; one without an end is last of all."""
        return self.until is None, self.until or datetime.max.replace(tzinfo=UTC), self.time.id


class QuietNow(Struct, frozen=True):
    """Every quiet time that matters now."""

    on: Sequence[QuietOn] = ()
    opened: Sequence[QuietOn] = ()
    """Opening hours whose closed time ended a moment ago (AFTER_OPENING): `until` is when they opened."""
    woken: Sequence[QuietOn] = ()
    """Those that were over since the last look, so that what failed in the meantime is judged now."""

    def ids(self, *what: Quiet) -> list[int]:
        """The ids of those that make one of these quiet now."""
        return [one.time.id for one in self.on if not set(what).isdisjoint(one.time.quiet)]

    def opened_ids(self, what: Quiet) -> dict[int, datetime]:
        """Of those that opened a moment ago and made this quiet: id -> when they opened."""
        return {one.time.id: one.until for one in self.opened if what in one.time.quiet and one.until is not None}

    def woken_ids(self, what: Quiet) -> list[int]:
        """The ids of those that made this quiet and are over since the last look."""
        return [one.time.id for one in self.woken if what in one.time.quiet]


class WantedQuietTime(Struct, frozen=True):
    """A quiet time to make. `site`, `tag` and `clients` are for the scope of the same name."""

    preset: QuietPreset
    quiet: tuple[Quiet, ...]
    scope: QuietScope
    site: str | None
    tag: str | None
    clients: tuple[str, ...]
    starts_at: datetime | None
    """None: from now on."""
    ends_at: datetime | None
    spans: tuple[Span, ...]
    time_zone: str | None
    reason: str


def checked(wanted: WantedQuietTime, now: datetime) -> WantedQuietTime:
    """The quiet time as it may be stored.

    Raises:
        QuietTimesRefused: its times do not fit, or not its preset; the text says why.
        TimeZoneUnknown: there is no such time zone.
    """
    starts_at = wanted.starts_at or now
    if abs(starts_at - now) > FURTHEST:
        raise QuietTimesRefused("quiet_start_too_far")
    if wanted.ends_at is not None:
        _check_end(wanted, starts_at, wanted.ends_at, now)
    _check_preset(wanted)
    if (wanted.time_zone is None) != (not wanted.spans):
        raise QuietTimesRefused("quiet_hours_need_zone")
    if wanted.time_zone is not None:
        zones_rules.known(wanted.time_zone)
        _check_displays_can_keep(wanted, wanted.time_zone)
    return replace(wanted, starts_at=starts_at)


def _check_displays_can_keep(wanted: WantedQuietTime, zone: str) -> None:
    if wanted.preset is not QuietPreset.OPENING_HOURS:
        return
    try:
        clients_hours_rules.check(displays_rules.kept_by_displays(wanted.spans, zone))
    except Refused as error:
        raise QuietTimesRefused(error.sentence) from error


def _check_end(wanted: WantedQuietTime, starts_at: datetime, ends_at: datetime, now: datetime) -> None:
    longest = None if wanted.spans else LONGEST.get(wanted.preset)
    if ends_at <= starts_at:
        raise QuietTimesRefused("quiet_end_before_start")
    if ends_at <= now:
        raise QuietTimesRefused("quiet_end_in_past")
    if ends_at - now > FURTHEST:
        raise QuietTimesRefused("quiet_end_too_far")
    if longest is not None and ends_at - starts_at > longest:
        raise QuietTimesRefused("quiet_too_long", facts={"preset": wanted.preset.value, "days": longest.days})


def chosen(preset: QuietPreset, quiet: Collection[Quiet] | None) -> tuple[Quiet, ...]:
    """What this preset makes quiet; `quiet` is for `custom` only. Raises QuietTimesRefused."""
    if (quiet is None) is (preset is QuietPreset.CUSTOM):
        raise QuietTimesRefused("quiet_only_of_custom")
    made = MAKES_QUIET.get(preset, quiet or ())
    return tuple(one for one in Quiet if one in made)


def _check_preset(wanted: WantedQuietTime) -> None:
    if wanted.preset in {QuietPreset.HOLD, QuietPreset.LEAVE_OUT} and not wanted.reason.strip():
        raise QuietTimesRefused("quiet_needs_reason", facts={"preset": wanted.preset.value})
    if wanted.preset is QuietPreset.OPENING_HOURS and wanted.scope is QuietScope.CLIENTS:
        raise QuietTimesRefused("opening_hours_of_many")
    _check_times(wanted)


def _check_times(wanted: WantedQuietTime) -> None:
    preset, has_end, weekly = wanted.preset, wanted.ends_at is not None, bool(wanted.spans)
    needs_end = preset is QuietPreset.SNOOZE or (preset is QuietPreset.MAINTENANCE and not weekly)
    if needs_end and not has_end:
        raise QuietTimesRefused("quiet_needs_end", facts={"preset": preset.value})
    if preset is QuietPreset.LEAVE_OUT and has_end:
        raise QuietTimesRefused("leave_out_has_no_end")
    if weekly and preset in {QuietPreset.HOLD, QuietPreset.LEAVE_OUT, QuietPreset.SNOOZE}:
        raise QuietTimesRefused("quiet_takes_no_hours", facts={"preset": preset.value})
    if not weekly and preset is QuietPreset.OPENING_HOURS:
        raise QuietTimesRefused("opening_hours_need_hours")


def looked_at(time: StoredQuietTime, now: datetime) -> datetime:
    """The moment by which it is judged. One that began when it was made has begun, also for an older transaction.

    So the tick that decides while a person makes it does not miss it.
    """
    return max(now, time.created_at)


def applies(time: StoredQuietTime, now: datetime) -> bool:
    """Whether it has begun and is not over; with weekly hours it may still be quiet only later."""
    moment = looked_at(time, now)
    return time.starts_at <= moment and (time.over_at is None or time.over_at > moment)


def occurrence_at(time: StoredQuietTime, now: datetime) -> TimeSpan | None:
    """The time in which it is quiet without a break, and now is in it; None when it is not quiet now."""
    moment = looked_at(time, now)
    if time.over_at is not None and time.over_at <= moment:
        return None
    return next((one for one in _times(time, moment) if one.holds(moment)), None)


def next_occurrence(time: StoredQuietTime, now: datetime) -> TimeSpan | None:
    """The next time in which it is quiet; None without one. Of an ended quiet time there is none."""
    if time.ended_at is not None:
        return None
    moment = max(now, time.starts_at)
    return next((one for one in _times(time, moment) if one.starts_at > now), None)


def state_at(time: StoredQuietTime, now: datetime) -> QuietState:
    """The state of a quiet time."""
    if time.ended_at is not None:
        return QuietState.ENDED
    if time.ends_at is not None and time.ends_at <= now:
        return QuietState.OVER
    return QuietState.ON if occurrence_at(time, now) is not None else QuietState.PLANNED


def now_quiet(times: Iterable[StoredQuietTime], now: datetime, since: datetime | None = None) -> QuietNow:
    """What is quiet now, of these quiet times, which may apply between `since` and now.

    `since`: the last look; those that ended after it are `woken`. None: nobody asks for them.
    """
    on, opened, woken = [], [], []
    for time in times:
        if (at := occurrence_at(time, now)) is not None:
            on.append(QuietOn(time, at))
            continue
        if (last := _last(time, now)) is None or last.ends_at is None:
            continue
        grace = AFTER_OPENING if time.is_outside and last.ends_at != time.over_at else timedelta()
        if now < last.ends_at + grace:
            opened.append(QuietOn(time, last))
        elif since is not None and last.ends_at + grace > since:
            woken.append(QuietOn(time, last))
    return QuietNow(on, opened, woken)


def _last(time: StoredQuietTime, now: datetime) -> TimeSpan | None:
    """The last time in which it was quiet, which ended before now."""
    return next((one for one in reversed(_times(time, now)) if one.ends_at is not None and one.ends_at <= now), None)


def _times(time: StoredQuietTime, moment: datetime) -> Sequence[TimeSpan]:
    """The times in which it is quiet, around this moment, in order."""
    if time.over_at is not None and time.over_at <= time.starts_at:
        return ()  # ended before it began
    if not time.spans or time.time_zone is None:
        return (TimeSpan(time.starts_at, time.over_at),)
    edge = hours_rules.AROUND * hours_rules.DAY
    found = hours_rules.around(time.spans, time.time_zone, moment, outside=time.is_outside)
    return [cut for one in found if (cut := _cut(time, one, moment + edge)) is not None]


def _cut(time: StoredQuietTime, one: TimeSpan, horizon: datetime) -> TimeSpan | None:
    """The part of these hours that lies in the quiet time; hours beyond the horizon go on until it is over."""
    ends = one.ends_at if one.ends_at is not None and one.ends_at < horizon else None
    ends = min((at for at in (ends, time.over_at) if at is not None), default=None)
    begins = max(one.starts_at, time.starts_at)
    return TimeSpan(begins, ends) if ends is None or begins < ends else None


def closed_times(times: Iterable[StoredQuietTime], start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """The times between two moments in which the screen is meant to be off, in order and apart from each other."""
    found: list[tuple[datetime, datetime]] = []
    for time in times:
        if Quiet.SCREEN not in time.quiet:
            continue
        first, last = max(start, time.starts_at), min(end, time.over_at or end)
        if first >= last:
            continue
        if not time.spans or time.time_zone is None:
            found.append((first, last))
        else:
            whole = hours_rules.between(time.spans, time.time_zone, first, last, outside=time.is_outside)
            found += [(one.starts_at, one.ends_at or last) for one in whole]
    return hours_rules.joined(found)


def union(times: Iterable[QuietOn]) -> list[Quiet]:
    """Everything that these make quiet, each once."""
    found = {what for one in times for what in one.time.quiet}
    return [what for what in Quiet if what in found]


def last_first(times: Iterable[QuietOn]) -> list[QuietOn]:
    """The one that ends last comes first."""
    return sorted(times, key=lambda one: one.order, reverse=True)


def in_words(times: Sequence[QuietOn]) -> Sentence:
    """Why it is quiet, in sentences."""
    return together(one.time.words for one in times) if times else nothing_quiet()


@sentence
def nothing_quiet() -> Sentence: ...


def cut_through(times: Sequence[QuietOn]) -> Sentence | None:
    """What a person's command cuts through; None when nothing is quiet."""
    made = [quiet_by(how=quiet_how(preset=one.time.preset), by=one.time.created_by) for one in times]
    return goes_although(quiet=reduce(lambda before, last: quiet_and(before=before, last=last), made)) if made else None


@sentence
def goes_although(*, quiet: Sentence) -> Sentence: ...
@sentence
def quiet_by(*, how: Sentence, by: By) -> Sentence: ...
@sentence
def quiet_and(*, before: Sentence, last: Sentence) -> Sentence: ...


def nobody(site: str | None, tag: str | None, covers: int) -> Sentence | None:
    """A sentence that nobody is covered yet; None when somebody is."""
    if covers:
        return None
    if site is not None:
        return nobody_at_site(site=site)
    return nobody_covered() if tag is None else nobody_with_tag(tag=tag)


@sentence
def nobody_at_site(*, site: str) -> Sentence: ...
@sentence
def nobody_with_tag(*, tag: str) -> Sentence: ...
@sentence
def nobody_covered() -> Sentence: ...


def is_left_alone(covered: Collection[str], uuid: str, opened_at: datetime | None, since: datetime) -> bool:
    """Whether a failure since then is still quiet: its display is, or the failure is older than a recent opening."""
    return uuid in covered or (opened_at is not None and since < opened_at)
