"""When a channel gets its reports, and their texts."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from extensions.notifications.rules import Channel
from extensions.notifications.troubles.rules import VERSION, Addressee, plain
from shared.availability.rules import Spent
from shared.vocabulary import CommandAction, NotificationEvent, NotificationPhase
from shared.words.facts import Lasting
from shared.words.sentences import Sentence, sentence, to_row

BEGINS: Final = time(7)
ENDS: Final = time(12)  # a report that could not be made until noon is left out
REPORTS: Final = frozenset({NotificationEvent.DAILY_REPORT, NotificationEvent.WEEKLY_REPORT})
DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
LISTED: Final = 15  # the most sites, and the most incidents, that a report names
MOST_DISPLAYS: Final = 2_000  # the most whose week is reckoned for one report: it is made within a tick


class SiteUnwell(StrEnum):
    """How displays of a site are unwell."""

    SILENT = "silent"
    CRASHED = "crashed"
    FAILING = "failing"  # heard, but with a failed service or screen


class SiteNow(Struct, frozen=True):
    """The displays of a site at this moment; '' is no site."""

    site: str
    displays: int
    silent: int
    crashed: int
    failing: int
    """Heard, but with a failed service or screen."""
    resting: int
    """Their screens are meant to be off, so they count as well."""

    @property
    def unwell(self) -> int:
        return self.silent + self.crashed + self.failing


class PastIncident(Struct, frozen=True):
    """An incident of the last day."""

    cause: Sentence
    is_over: bool


class SiteWeek(Struct, frozen=True):
    """How the displays of a site spent a week together."""

    site: str
    displays: int
    spent: Spent


def due_day(event: NotificationEvent, channel: Channel, zone: ZoneInfo, now: datetime) -> date | None:
    """The local day whose report the channel gets now; None when it gets none.

    A channel that was made after the report's time gets the next one.
    """
    local = now.astimezone(zone)
    begins, ends = (datetime.combine(local.date(), at, zone) for at in (BEGINS, ENDS))
    is_day = event is not NotificationEvent.WEEKLY_REPORT or local.weekday() == 0
    if event not in channel.events or not is_day or not begins <= local < ends or channel.tells_since > begins:
        return None
    return local.date() if channel.lets_through(event, now) else None


def last_week(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The seven days before this one, from midnight to midnight."""
    return (datetime.combine(day - WEEK, time(), zone), datetime.combine(day, time(), zone))


def root(event: NotificationEvent) -> str:
    """The root of all reports of a kind."""
    return f"report:{event}"


def subject(event: NotificationEvent, day: date) -> str:
    """The one report of a kind on this day: a channel gets it once."""
    return f"{root(event)}:{day.isoformat()}"


@sentence
def daily_report(*, displays: int, unwell: int) -> Sentence: ...
@sentence
def unwell_so(*, how: SiteUnwell, displays: int) -> Sentence: ...
@sentence
def site_now(*, site: str | None, unwell: list[Sentence], displays: int) -> Sentence: ...
@sentence
def more_sites(*, more: int) -> Sentence: ...
@sentence
def displays_resting(*, displays: int) -> Sentence: ...
@sentence
def last_day(*, incidents: int) -> Sentence: ...
@sentence
def past_incident(*, cause: Sentence, is_over: bool) -> Sentence: ...
@sentence
def more_incidents(*, more: int) -> Sentence: ...
@sentence
def recovery_did(*, restarts: int, reboots: int) -> Sentence: ...
@sentence
def known_for(*, seconds: Lasting, several: bool) -> Sentence: ...
@sentence
def weekly_report(*, percent: int | None, tenths: int | None, known: Sentence | None) -> Sentence: ...
@sentence
def week_of(*, begins: str, ends: str) -> Sentence: ...
@sentence
def site_week(
    *,
    site: str | None,
    percent: int | None,
    tenths: int | None,
    seconds: Lasting | None,
    several: bool,
    known: Sentence | None,
) -> Sentence: ...
@sentence
def sites_left_out(*, sites: int) -> Sentence: ...


def daily(
    places: Sequence[SiteNow],
    past: Sequence[PastIncident],
    recovered: Mapping[str, int],
    day: date,
    to: Addressee,
    now: datetime,
) -> Any:
    """The report of a morning: who is unwell now, and what happened in the last 24 hours. `recovered`: by action."""
    displays, unwell = sum(place.displays for place in places), sum(place.unwell for place in places)
    ill = sorted((place for place in places if place.unwell), key=lambda place: (-place.unwell, place.site))
    resting = sum(place.resting for place in places)
    shown = [past_incident(cause=one.cause, is_over=one.is_over) for one in past]
    restarts, reboots = (recovered.get(action, 0) for action in (CommandAction.RESTART_APP, CommandAction.REBOOT_HOST))
    lines = [
        *_some([_place(place) for place in ill], more_sites),
        *([displays_resting(displays=resting)] if resting else []),
        last_day(incidents=len(past)),
        *_some(shown, more_incidents),
        recovery_did(restarts=restarts, reboots=reboots),
    ]
    numbers = {"displays": displays, "unwell": unwell, "incidents": len(past), "recovered": dict(recovered)}
    event = NotificationEvent.DAILY_REPORT
    title = daily_report(displays=displays, unwell=unwell)
    return _report(event, day, title, lines, to, now, places=places, numbers=numbers)


def weekly(weeks: Sequence[SiteWeek], more: int, day: date, to: Addressee, now: datetime) -> Any:
    """The report of a week: how available the displays were while open, by site. `more`: sites that are left out."""
    whole = sum((week.spent for week in weeks), Spent())
    begins, ends = day - WEEK, day - DAY
    shown = sorted(weeks, key=lambda week: (_share(week.spent) is None, _share(week.spent) or 0, week.site))
    lines = [
        week_of(begins=begins.isoformat(), ends=ends.isoformat()),
        *_some([_week(one) for one in shown], more_sites),
        *([sites_left_out(sites=more)] if more else []),
    ]
    numbers = {"available": _share(whole), "from": begins.isoformat(), "to": ends.isoformat()}
    displays = sum(week.displays for week in weeks)
    title = weekly_report(**_percent(whole), known=_known(whole, displays))
    event = NotificationEvent.WEEKLY_REPORT
    return _report(event, day, title, lines, to, now, places=weeks, numbers=numbers)


def _report(
    event: NotificationEvent,
    day: date,
    title: Sentence,
    lines: Sequence[Sentence],
    to: Addressee,
    now: datetime,
    *,
    places: Sequence[SiteNow | SiteWeek],
    numbers: Mapping[str, Any],
) -> Any:
    link = f"{to.public_url}/" if to.public_url else ""
    text = "\n".join([*map(to.say, lines), *([link] if link else [])])
    facts = {
        "version": VERSION,
        "event": event.value,
        "phase": NotificationPhase.OPENED.value,
        "subject": subject(event, day),
        "title": to.say(title),
        "sentences": {"title": to_row(title)},
        "at": now.isoformat(),
        "sites": sorted(place.site for place in places if place.site),
        "url": link or None,
        "channel": to.name,
        **numbers,
    }
    return {"title": to.say(title), "text": text, "facts": {**facts, "text": text}}


def _some(lines: Sequence[Sentence], more: Callable[..., Sentence]) -> list[Sentence]:
    rest = len(lines) - LISTED
    return [*lines[:LISTED], *([more(more=rest)] if rest > 0 else [])]


def _place(place: SiteNow) -> Sentence:
    counts = {how: getattr(place, how) for how in SiteUnwell}
    unwell = [unwell_so(how=how, displays=count) for how, count in counts.items() if count]
    return site_now(site=plain(place.site) or None, unwell=unwell, displays=place.displays)


def _share(spent: Spent) -> float | None:
    """The availability from 0 to 1; None when nothing is known."""
    known = spent.up + spent.down
    return spent.up / known if known else None


def _percent(spent: Spent) -> dict[str, int | None]:
    """The share in percent, and its tenths; rounded down: 99.96 is not 100."""
    share = _share(spent)
    whole, tenths = divmod(int(share * 1000), 10) if share is not None else (None, None)
    return {"percent": whole, "tenths": tenths}


def _week(week: SiteWeek) -> Sentence:
    spent, displays = week.spent, week.displays
    down = int((spent.down / displays).total_seconds()) or None
    site = plain(week.site) or None
    several, known = displays > 1, _known(spent, displays)
    return site_week(site=site, **_percent(spent), seconds=down, several=several, known=known)


def _known(spent: Spent, displays: int) -> Sentence | None:
    """For how long the displays are known, where that is not the whole week."""
    known = spent.known_for(WEEK, displays)
    return known_for(seconds=int(known.total_seconds()), several=displays > 1) if known else None
