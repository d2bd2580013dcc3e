"""Failing screens: the tick judges screens that are off, and opens breakers where too many screens fail at once."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from shared.config import Config
from shared.quiet import operations as quiet_times
from shared.quiet.rules import QuietNow
from shared.recovery import screens_rules, screens_store, store, words_rules
from shared.recovery.breakers.rules import FEWEST
from shared.recovery.breakers.store import THE_FLEET
from shared.recovery.screens_rules import FailingScreens
from shared.recovery.screens_store import ScreensBreaker
from shared.recovery.store import NewDecision
from shared.sentences import Sentence, in_code
from shared.vocabulary import Quiet, RecoveryDecision


def judge_off(connection: Connection, now: datetime) -> int:
    """Judge each screen that is off: it fails unless somebody planned it. Returns how many judgements changed.

    A quiet time of the screen or of recovery is a plan, and so are an operator's screen_off and the opening hours that
    the display keeps. After its shop opened, a screen has some minutes to come on.
    """
    if not screens_store.off(connection):
        return 0
    found = quiet_times.now_quiet(connection, now)
    ids = {*found.ids(Quiet.SCREEN, Quiet.RECOVERY), *found.opened_ids(Quiet.SCREEN)}
    return screens_store.judge_off(connection, now, sorted(ids))


def watch(connection: Connection, now: datetime, quiet: QuietNow | None = None) -> dict[str | None, Sentence]:
    """Open and close the breakers of screens. Returns why each is open, by site; None is the fleet.

    The caller holds recovery's lock. `quiet`: what is quiet now, if it was read. While the fleet's breaker is open, no
    site's breaker opens.
    """
    before = {row.site or None: row for row in screens_store.standing(connection)}
    found = {site: one for site, one in _counted(connection, now, quiet).items() if one.are_too_many}
    if None in found:
        found = {site: one for site, one in found.items() if site is None or site in before}
    whys = {site: screens_rules.why(site, one) for site, one in found.items()}
    rows = [
        ScreensBreaker(site or THE_FLEET, before[site].since if site in before else now, why.english, in_code(why))
        for site, why in whys.items()
    ]
    closed = [ScreensBreaker(site or THE_FLEET, None, None) for site in before if site not in found]
    if rows or closed:
        screens_store.put(connection, [*rows, *closed])
    opened = [_event(site, one) for site, one in found.items() if site not in before]
    events = [*opened, *(_event(row.site or None, None) for row in closed)]
    if events:
        store.record(connection, now, events)
    return dict(whys)


def _counted(connection: Connection, now: datetime, quiet: QuietNow | None) -> dict[str | None, FailingScreens]:
    """The numbers of the fleet and of each site with a failing screen; nothing if fewer than FEWEST fail."""
    if len(screens_store.mendable(connection)) < FEWEST:
        return {}
    quiet = quiet or quiet_times.now_quiet(connection, now)
    failing = screens_store.failing(connection, now, quiet.ids(Quiet.RECOVERY))
    if len(failing) < FEWEST:
        return {}
    telling = screens_store.telling(connection)
    found: dict[str | None, FailingScreens] = {None: screens_rules.counted(sum(telling.values()), failing)}
    for site in {one.site for one in failing} - {None}:
        here = [one for one in failing if one.site == site]
        found[site] = screens_rules.counted(telling.get(site, len(here)), here)
    return found


def _event(site: str | None, found: FailingScreens | None, by: str | None = None) -> NewDecision:
    """The record of a breaker that opened; without `found` it closed, or was released by somebody."""
    numbers = {}
    if found is not None:
        numbers = {"telling": found.telling, "failing": found.failing, "at_once": found.at_once}
        decision, why = RecoveryDecision.BREAKER_OPEN, screens_rules.why(site, found)
    elif by is None:
        decision, why = RecoveryDecision.BREAKER_CLOSED, words_rules.screens_closed(site=site)
    else:
        decision, why = RecoveryDecision.BREAKER_RELEASED, words_rules.screens_released(site=site, by=by)
    return NewDecision(None, decision, why.english, in_code(why), {"site": site, **numbers}, None)


def release(connection: Connection, now: datetime, by: str, site: str | None) -> list[str | None]:
    """Release the breaker of this site, or (None) every open one. Returns their sites; None is the fleet's."""
    released = [row or None for row in screens_store.release(connection, now, site)]
    if released:
        store.record(connection, now, [_event(one, None, by) for one in released])
    return released


def standing(connection: Connection, config: Config) -> Mapping[str | None, Sentence]:
    """Why each breaker of screens is open, by site; None is the fleet. While recovery is off, none is open."""
    if not config["CRASH_RECOVERY_ENABLED"]:
        return {}
    return {
        row.site or None: words_rules.BREAKERS.stored(row.why, row.why_sentences)
        for row in screens_store.standing(connection)
    }
