"""What a person without an account may read about a site. Pure.

Whoever has the link reads it, so it names no machine: no address, no uuid, no service, no other site.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final

from msgspec import Struct

from shared.access.rules import MOST_FAILURES, Counter, network_of
from shared.availability.rules import SLOT, UP, LocalDay, by_day, slots
from shared.availability.segments_rules import Segment, worse
from shared.incidents import causes_rules  # noqa: F401 - declares what `told` reads
from shared.vocabulary import ClientStatus, IncidentKind, PageState
from shared.words.sentences import DECLARED, Sentence

SECRET_BYTES: Final = 32
WEEK: Final = timedelta(days=7)
HOUR: Final = timedelta(hours=1)
MOST_DISPLAYS: Final = 300
KEPT: Final = timedelta(seconds=10)
"""How long one reading of a site answers everybody."""
STATES: Final[Mapping[ClientStatus, PageState]] = {
    ClientStatus.RUNNING: PageState.RUNNING,
    ClientStatus.CRASHED: PageState.NOT_RUNNING,
    ClientStatus.UNKNOWN: PageState.UNKNOWN,
}
"""The states that are left after `plainly`."""
LETTERS: Final[Mapping[ClientStatus | None, str]] = {
    ClientStatus.RUNNING: "r",
    ClientStatus.CRASHED: "n",
    ClientStatus.UNKNOWN: "u",
    None: "-",
}


class StatusOfDisplay(Struct, frozen=True):
    """A display on the page.

    `since`: when this state began, a week ago at the earliest. `hours`: a letter for each of the last 168 hours, the
    oldest first, by the worst state in it: r runs, n does not, u unknown, - off or not there yet. `availability`: the
    share, 0 to 1, of the open and known time of the week in which it ran. `known_seconds`: how long that is; null: the
    open time of the week, or nearly.
    """

    name: str
    state: PageState
    since: datetime
    hours: str
    availability: float | None
    known_seconds: float | None


def plainly(strip: Sequence[Segment]) -> list[Segment]:
    """The strip with three states only: runs (RUNNING), does not (CRASHED), nobody knows (UNKNOWN)."""
    return [Segment(one.begins, one.ends, _plain(one.status)) for one in strip]


def unjudged(strip: Sequence[Segment], since: datetime, now: datetime) -> list[Segment]:
    """The strip with UNKNOWN from `since` to `now`: nobody judged the display in this time."""
    known = [Segment(one.begins, min(one.ends, since), one.status) for one in strip if one.begins < since]
    begins = max(since, strip[0].begins) if strip else now
    return [*known, Segment(begins, now, ClientStatus.UNKNOWN)] if begins < now else known


def _plain(status: ClientStatus) -> ClientStatus:
    if status in UP:
        return ClientStatus.RUNNING
    return status if status is ClientStatus.UNKNOWN else ClientStatus.CRASHED


def shown(
    name: str, strip: Sequence[Segment], closed: Sequence[tuple[datetime, datetime]], now: datetime
) -> StatusOfDisplay:
    """A display by its states of the last week, and by the times in which its screen was meant to be off."""
    strip = plainly(strip)
    state, since = _present(strip, closed, now)
    [spent] = by_day(strip, closed, [LocalDay(now.date(), now - WEEK, now)])
    known = spent.up + spent.down
    share, known_for = spent.up / known if known else None, spent.known_for(WEEK)
    seconds = None if known_for is None else known_for.total_seconds()
    return StatusOfDisplay(name, state, since, _hours(strip, closed, now), share, seconds)


def _present(
    strip: Sequence[Segment], closed: Sequence[tuple[datetime, datetime]], now: datetime
) -> tuple[PageState, datetime]:
    """The state now, and since when."""
    if closed and closed[-1][1] >= now:
        return PageState.OFF, closed[-1][0]
    if not strip:
        return PageState.UNKNOWN, now
    last = strip[-1].status
    *_, first = takewhile(lambda one: one.status is last, reversed(strip))
    return STATES[last], first.begins


def _hours(strip: Sequence[Segment], closed: Sequence[tuple[datetime, datetime]], now: datetime) -> str:
    parts = slots(strip, closed, now - WEEK, now)
    step = HOUR // SLOT
    return "".join(LETTERS[_worst(parts[n : n + step])] for n in range(0, len(parts), step))


def _worst(parts: Iterable[ClientStatus | None]) -> ClientStatus | None:
    found: ClientStatus | None = None
    for one in parts:
        if one is not None:
            found = worse(found, one)
    return found


def told(site: str, cause: Sentence) -> Sentence | None:
    """The cause of an incident for strangers; None for a sentence that might name a machine.

    `failed_together` is made anew without subnet, service and other sites.
    """
    if cause.code in _HARMLESS:
        return cause
    if cause.code != "failed_together" or cause.facts.keys() != _FACTS:
        return None
    return Sentence(cause.code, {**cause.facts, **_of_site(site, cause.facts)})


_HARMLESS: Final = {"fleet_not_heard", "other_sites_too"}
_FACTS: Final = DECLARED["failed_together"].keys()


def _of_site(site: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of `failed_together` as if the place were the site. A cluster without a place stays one."""
    is_cluster = facts["kind"] == IncidentKind.CLUSTER and facts["place"] is None
    counts = facts["kind"] == IncidentKind.SITE and facts["key"] == site
    return {
        "kind": IncidentKind.CLUSTER if is_cluster else IncidentKind.SITE,
        "key": "" if is_cluster else site,
        "site": None,
        "size": facts["size"] if counts else None,
        "sites": 1,
        "unit": None,
        "place": None,
        "where": IncidentKind.SITE,
    }


def counters(address: str) -> tuple[Counter, ...]:
    """The counter of links that were not valid, by network."""
    return (Counter(f"status:{network_of(address)}", MOST_FAILURES),)
