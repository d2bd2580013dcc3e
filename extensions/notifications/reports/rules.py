"""When a channel gets its reports, and their texts."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from extensions.notifications.rules import Channel
from extensions.notifications.troubles.rules import VERSION, Addressee, bounded, plain
from shared.availability.rules import Spent
from shared.clients.reports.rules import in_words
from shared.vocabulary import CommandAction, NotificationEvent, NotificationPhase
from shared.words.reader import english
from shared.words.sentences import Sentence

BEGINS: Final = time(7)
ENDS: Final = time(12)  # a report that could not be made until noon is left out
REPORTS: Final = frozenset({NotificationEvent.DAILY_REPORT, NotificationEvent.WEEKLY_REPORT})
DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
LISTED: Final = 15  # the most sites, and the most incidents, that a report names
MOST_DISPLAYS: Final = 2_000  # the most whose week is reckoned for one report: it is made within a tick


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
    state = f"{unwell} of {_displays(displays)} unwell" if unwell else f"all {_displays(displays)} well"
    ill = sorted((place for place in places if place.unwell), key=lambda place: (-place.unwell, place.site))
    resting = sum(place.resting for place in places)
    lines = [
        *_some([_place(place) for place in ill], "sites"),
        f"{_displays(resting)} off as planned." if resting else "",
        f"Last 24 hours: {_count(len(past), 'incident')}.",
        *_some([bounded(english(one.cause)) + (" (over)" if one.is_over else "") for one in past], "incidents"),
        _recovered(recovered),
    ]
    numbers = {"displays": displays, "unwell": unwell, "incidents": len(past), "recovered": dict(recovered)}
    event = NotificationEvent.DAILY_REPORT
    return _report(event, day, f"Daily report: {state}", lines, to, now, places=places, numbers=numbers)


def weekly(weeks: Sequence[SiteWeek], more: int, day: date, to: Addressee, now: datetime) -> Any:
    """The report of a week: how available the displays were while open, by site. `more`: sites that are left out."""
    whole = sum((week.spent for week in weeks), Spent())
    begins, ends = day - WEEK, day - DAY
    shown = sorted(weeks, key=lambda week: (_share(week.spent) is None, _share(week.spent) or 0, week.site))
    left_out = (
        f"The page has {_count(more, 'more site')}: one message has no room for so many displays." if more else ""
    )
    lines = [f"{begins:%Y-%m-%d} to {ends:%Y-%m-%d}, while open.", *_some([_week(one) for one in shown], "sites")]
    numbers = {"available": _share(whole), "from": begins.isoformat(), "to": ends.isoformat()}
    known = _known(whole, sum(week.displays for week in weeks))
    title = f"Weekly report: {_percent(whole)} available{known}"
    event = NotificationEvent.WEEKLY_REPORT
    return _report(event, day, title, [*lines, left_out], to, now, places=weeks, numbers=numbers)


def _report(
    event: NotificationEvent,
    day: date,
    title: str,
    lines: Sequence[str],
    to: Addressee,
    now: datetime,
    *,
    places: Sequence[SiteNow | SiteWeek],
    numbers: Mapping[str, Any],
) -> Any:
    link = f"{to.public_url}/" if to.public_url else ""
    text = "\n".join(line for line in (*lines, link) if line)
    facts = {
        "version": VERSION,
        "event": event.value,
        "phase": NotificationPhase.OPENED.value,
        "subject": subject(event, day),
        "title": title,
        "at": now.isoformat(),
        "sites": sorted(place.site for place in places if place.site),
        "url": link or None,
        "channel": to.name,
        **numbers,
    }
    return {"title": title, "text": text, "facts": {**facts, "text": text}}


def _some(lines: Sequence[str], what: str) -> list[str]:
    more = len(lines) - LISTED
    return [*lines[:LISTED], *([f"and {more} more {what}"] if more > 0 else [])]


def _displays(count: int) -> str:
    return _count(count, "display")


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _site(name: str) -> str:
    return plain(name) or "Without a site"


def _place(place: SiteNow) -> str:
    parts = ((place.silent, "silent"), (place.crashed, "crashed"), (place.failing, "with a failed service or screen"))
    words = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{_site(place.site)}: {words}, of {_displays(place.displays)}."


def _recovered(counts: Mapping[str, int]) -> str:
    did = ((CommandAction.RESTART_APP, "restarted a player"), (CommandAction.REBOOT_HOST, "rebooted a display"))
    words = " and ".join(f"{what} {_times(counts[action])}" for action, what in did if counts.get(action))
    return f"Recovery {words or 'had nothing to do'}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _share(spent: Spent) -> float | None:
    """The availability from 0 to 1; None when nothing is known."""
    known = spent.up + spent.down
    return spent.up / known if known else None


def _percent(spent: Spent) -> str:
    share = _share(spent)
    return "unknown" if share is None else f"{int(share * 1000) / 10:.1f} %"  # rounded down: 99.96 is not 100


def _week(week: SiteWeek) -> str:
    spent, displays = week.spent, week.displays
    each = " each, on average" if displays > 1 else ""
    down = f", down for {in_words(spent.down / displays)}{each}" if spent.down else ""
    return f"{_site(week.site)}: {_percent(spent)}{down}{_known(spent, displays)}."


def _known(spent: Spent, displays: int) -> str:
    """For how long the displays are known, where that is not the whole week."""
    known_for = spent.known_for(WEEK, displays)
    each = " each, on average" if displays > 1 else ""
    return f" (known for {in_words(known_for)}{each})" if known_for else ""
