"""Troubles, and the texts of the messages about them.

Names of displays, sites and files come from other people: they are shortened, on one line and without markup.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msgspec import Struct, field

from shared.clients import zones_rules
from shared.clients.limits_rules import in_words as limit_in_words
from shared.clients.reports.rules import in_words
from shared.clients.screens_rules import WORDS as SCREENS
from shared.leadership.rules import certificate_rests
from shared.sentences import named
from shared.vocabulary import (
    Door,
    HealthLimit,
    NotificationEvent,
    NotificationPhase,
    RecoveryState,
    ScreenHealthStatus,
)

VERSION: Final = 1  # of a webhook's JSON; added fields do not change it
AGAIN_AFTER: Final = timedelta(hours=1)  # between two messages about the same display, incident or breaker
UNWELL_FOR: Final = timedelta(minutes=15)  # one display alone is silent or crashed for so long before a message
LONGEST_NAME: Final = 100
LONGEST_WORDS: Final = 1000
NAMED: Final = 10  # the most displays that a message names
LISTED: Final = 50  # the most that a list of unsteady connections names


class Display(Struct, frozen=True):
    """A display with its name and site."""

    uuid: str
    name: str
    site: str | None

    @property
    def words(self) -> str:
        """Its name, or its uuid when it has none, and its site."""
        shown = plain(self.name) or self.uuid
        return f"{shown} ({plain(self.site)})" if self.site else shown


class Trouble(Struct, frozen=True):
    """A present trouble that channels may get a message about."""

    root: str
    """What the trouble is about, each time it occurs: `incident:12`, `client:<uuid>`, `breaker:<site>`."""
    subject: str
    """One occurrence of the root."""
    event: NotificationEvent
    title: str
    cause: str
    since: datetime
    """When it began, for the text."""
    noticed_at: datetime
    """When we noticed it: a channel's delay counts from here."""
    sites: frozenset[str] | None
    """Its sites; None is the whole fleet, or no site."""
    displays: tuple[Display, ...] = ()
    """The displays that are affected now."""
    back: tuple[Display, ...] = ()
    """The displays that were affected and are well again."""
    recovers: bool = True
    """Whether a message says when it is over."""
    in_incident: bool = False
    """Whether an open incident of the same site covers it."""
    min_age: timedelta = timedelta()
    """The first message is sent no earlier than this after `since`, whatever the channel's delay."""
    recovery: str = ""
    """What recovery does about it."""
    taken_by: str | None = None
    """Who looks after it; None: nobody."""
    link: str = ""
    """Its path on the dashboard."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further facts for scripts."""
    opened_at: datetime | None = None
    """When its present incident opened; a place that keeps failing is noticed before that."""

    @property
    def uuids(self) -> frozenset[str]:
        return frozenset(display.uuid for display in self.displays)


def plain(text: str | None) -> str:
    """Other people's text: printable characters, on one line, of LONGEST_NAME at most."""
    return " ".join("".join(c if c.isprintable() else " " for c in text or "").split())[:LONGEST_NAME]


def bounded(words: str) -> str:
    """Our own sentence, which may quote names: printable characters, on one line, of LONGEST_WORDS at most."""
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())[:LONGEST_WORDS]


class Spell(Struct, frozen=True):
    """An incident of the line of incidents that leads to the open incident `of`, each the next of one place."""

    of: int
    id: int
    opened_at: datetime
    closed_at: datetime | None
    is_of_the_day: bool
    """It lasted into the day before `of` opened."""


def flapping(line: Sequence[Spell]) -> Spell | None:
    """The incident from which on a place keeps failing: the third within AGAIN_AFTER. It does until well for so long.

    `line`: the incidents of the place, the oldest first.
    """
    third = None
    for number, spell in enumerate(line):
        before = line[number - 1].closed_at if number else None
        if before is not None and spell.opened_at - before >= AGAIN_AFTER:
            third = None
        elif third is None and number > 1 and spell.opened_at - line[number - 2].opened_at <= AGAIN_AFTER:
            third = spell
    return third


def incident_title(
    kind: str, key: str, count: int, sites: Collection[str], times: int = 1, *, keeps: bool = False
) -> str:
    """The title of an incident, which is the place's one of `times` in a day."""
    if kind == "listening":
        return "We do not hear the fleet"
    where = f" at {len(sites)} sites" if len(sites) > 1 else ""
    if kind == "site":
        where = f" at {plain(key)}"
    if kind == "subnet":
        where = f" in the subnet {plain(key)}" + "".join(f" of {plain(site)}" for site in sites if len(sites) == 1)
    what = ("keeps failing" if count == 1 else "keep failing") if keeps else "failed together"
    again = f"{'' if keeps else ' again'} ({times} times in 24 hours)" if times > 1 else ""
    return f"{count} display{'' if count == 1 else 's'}{where} {what}{again}"


def all_back(count: int) -> str:
    """The sentence for an incident whose displays are all well again."""
    return "It is back." if count == 1 else f"All {count} are back."


def screen_title(display: Display, screen: ScreenHealthStatus) -> str:
    """The title of a failing screen."""
    unplanned = ", and nobody planned that" if screen is ScreenHealthStatus.OFF else ""
    return f"{display.words}: its screen {SCREENS[screen]}{unplanned}"


def limit_title(display: Display, kind: HealthLimit, value: float, limit_at: float) -> str:
    """The title of a passed limit."""
    return limit_in_words(display.words, kind, value, limit_at)


def unsteady_title(display: Display, losses: int) -> str:
    """The title of an unsteady connection."""
    return f"{display.words}: unsteady connection, {losses} losses in the last hour"


def shared_login_title(display: Display) -> str:
    """The title of a login that two devices use."""
    return f"{display.words}: two devices use its login"


NAMING: Final[Mapping[str, tuple[str, str]]] = {
    "person": ("person has rights there", "people have rights there"),
    "token": ("token has rights there", "tokens have rights there"),
    "channel": ("channel hears of it", "channels hear of it"),
    "quiet_time": ("quiet time", "quiet times"),
    "schedule": ("schedule", "schedules"),
    "status_link": ("status page", "status pages"),
    "pictures_off": ("switch of pictures", "switches of pictures"),
}
"""What may name a site, one and many, the gravest first."""


def emptied_title(site: str, names: Mapping[str, int]) -> str:
    """The title of a site that things name although its last display has gone."""
    count = sum(names.values())
    what = "1 thing still names" if count == 1 else f"{count} things still name"
    return f"{what} {plain(site)}, where no display is left"


def emptied_cause(names: Mapping[str, int]) -> str:
    """How many things of each kind name the site, and what to do."""
    told = [
        f"{names[what]} {one if names[what] == 1 else many}" for what, (one, many) in NAMING.items() if what in names
    ]
    return f"{', '.join(told)}. Give each of them another site, or the site its displays."


SHARED_LOGIN: Final = (
    "Either of them may get a command, so recovery leaves the display alone. A new code for one of them ends it."
)
"""The cause of a login that two devices use."""
DOORS: Final[Mapping[str, str]] = {
    Door.DISPLAYS: "The certificate that displays see",
    Door.PEOPLE: "The certificate of the dashboard",
}


class Stage(Struct, frozen=True):
    """How soon a certificate expires, and since when it is in this stage."""

    event: NotificationEvent
    words: str
    since: datetime
    has_ended: bool = False


def certificate_stage(begins_at: datetime, ends_at: datetime, now: datetime) -> Stage | None:
    """The stage of a certificate that is good from `begins_at` to `ends_at`; None while its end is far away."""
    rests = certificate_rests(begins_at, ends_at)
    ending, old = ends_at - rests.ending, ends_at - rests.old
    if now >= ends_at:
        return Stage(NotificationEvent.CERTIFICATE_ENDING, "has ended", ends_at, has_ended=True)
    if now >= ending:
        return Stage(NotificationEvent.CERTIFICATE_ENDING, f"ends within {_rounded_up(rests.ending)}", ending)
    if now >= old:
        return Stage(NotificationEvent.CERTIFICATE_OLD, f"ends within {_rounded_up(rests.old)}", old)
    return None


def _rounded_up(duration: timedelta) -> str:
    unit, name = (timedelta(days=1), "days") if duration >= timedelta(days=2) else (timedelta(hours=1), "hours")
    return f"{-(-duration // unit)} {name}"


def certificate_cause(door: str, ends_at: datetime, *, has_ended: bool) -> str:
    """When the certificate expires, and the consequence."""
    when = f"{'It ended' if has_ended else 'It ends'} on {ends_at.astimezone(UTC):%Y-%m-%d %H:%M} (UTC)."
    whom = "Browsers warn of the dashboard then" if door == Door.PEOPLE else "No display connects any more then"
    return f"{when} {whom}, until the door shows a renewed one."


def display_title(
    display: Display, status: str, unit: str | None, screen: ScreenHealthStatus | None, *, suspended: bool
) -> str:
    """The title of an unwell display; `screen`: how its screen fails."""
    what = {"stale": "is silent", "crashed": "has crashed"}.get(status)
    if what is None and unit is None and screen is not None:
        what = f"has a screen that {SCREENS[screen]}"
    if what is None:
        what = f"has a failed service ({plain(unit)})" if unit else "is unwell"
    return f"{display.words} {what}" + (": recovery has tried everything" if suspended else "")


RECOVERY_WORDS: Final[Mapping[RecoveryState, str]] = {
    RecoveryState.OFF: "automatic recovery is switched off",
    RecoveryState.DUE: "recovery is about to act",
    RecoveryState.IN_FLIGHT: "a command of recovery is on its way",
    RecoveryState.VERIFYING: "recovery waits for proof that it is ill or well",
    RecoveryState.LOCKED: "recovery waits until the time after the last restart is over",
    RecoveryState.SUSPENDED: "recovery has tried everything: a person must act",
    RecoveryState.UNREACHABLE: "the display is not connected, so recovery cannot act",
    RecoveryState.BLOCKED_BRIDGE: "recovery waits until we hear the fleet",
    RecoveryState.BLOCKED_BREAKER: "recovery holds back: so many at once may be our own fault",
    RecoveryState.HELD: "recovery leaves it alone, as it was told",
    RecoveryState.NOT_RECOVERED: "recovery has nothing that the display could do",
}


def recovery_of_many(states: Sequence[RecoveryState]) -> str:
    """What recovery does about several displays: each state with its count, the most frequent first."""
    counts = sorted(((states.count(state), state) for state in set(states)), key=lambda pair: (-pair[0], pair[1]))
    if len(counts) == 1:
        return _sentence(RECOVERY_WORDS[counts[0][1]])
    return _sentence("; ".join(f"{count} × {RECOVERY_WORDS[state]}" for count, state in counts))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


class Addressee(Struct, frozen=True):
    """The facts about a channel that the text of its messages needs."""

    name: str
    time_zone: str | None
    public_url: str
    """The dashboard's address; empty: no links."""


def opened(trouble: Trouble, event: NotificationEvent, phase: NotificationPhase, to: Addressee, now: datetime) -> Any:
    """The message that a trouble began or got worse: {title, text, facts}."""
    title = f"Worse: {trouble.title}" if phase is NotificationPhase.ESCALATED else trouble.title
    on_it = "" if trouble.taken_by is None else f"{plain(named(trouble.taken_by))} is on it."
    lines = [trouble.cause, _since(trouble.since, now, to), _who(trouble.displays), on_it, trouble.recovery]
    link = f"{to.public_url}{trouble.link}" if to.public_url else ""
    facts = {
        "version": VERSION,
        "event": event.value,
        "phase": phase.value,
        "subject": trouble.subject,
        "title": title,
        "cause": trouble.cause,
        "since": trouble.since.isoformat(),
        "at": now.isoformat(),
        "sites": None if trouble.sites is None else sorted(trouble.sites),
        "displays": len(trouble.displays),
        "uuids": sorted(trouble.uuids)[:NAMED],
        "recovery": trouble.recovery,
        "taken_by": trouble.taken_by,
        "url": link or None,
        "channel": to.name,
        **trouble.more,
    }
    return _message(title, [*lines, link], facts)


def recovered(told: Mapping[str, Any], now: datetime, taken_by: str | None) -> Any:
    """The message that a trouble is over; `told` are the facts of its first message. `taken_by` looked after it."""
    lasted = in_words(max(timedelta(), now - datetime.fromisoformat(told["since"])))
    title = f"Over: {told['title']}"
    event, phase = NotificationEvent.RECOVERED.value, NotificationPhase.RECOVERED.value
    facts = {**told, "event": event, "phase": phase, "title": title, "at": now.isoformat(), "recovery": ""}
    was = f"It was: {told['cause']}" if told["cause"] else ""
    on_it = "" if taken_by is None else f"{plain(named(taken_by))} was on it."
    lines = [f"It lasted {lasted}.", was, on_it, told["url"] or ""]
    return _message(title, lines, {**facts, "taken_by": taken_by})


MANY: Final[Mapping[NotificationEvent, str]] = {
    NotificationEvent.SERVICE_FAILED: "have a failed service",
    NotificationEvent.SCREEN_BAD: "have a bad screen",
    NotificationEvent.LIMIT_PASSED: "pass a limit of health",
    NotificationEvent.CONNECTION_UNSTEADY: "have an unsteady connection",
    NotificationEvent.LOGIN_SHARED: "have a login that two devices use",
}
MANY_OVER: Final[Mapping[NotificationEvent, str]] = {
    NotificationEvent.SERVICE_FAILED: "have no failed service any more",
    NotificationEvent.SCREEN_BAD: "have a good screen again",
    NotificationEvent.LIMIT_PASSED: "are within their limits again",
    NotificationEvent.LOGIN_SHARED: "have a login for one device again",
}


def many(messages: Sequence[Mapping[str, Any]], about: NotificationEvent, over: bool, to: Addressee) -> Any:
    """One message in place of many about single displays."""
    first = messages[0]["facts"]
    what = MANY_OVER.get(about, "are well again") if over else MANY.get(about, "are unwell")
    title = f"{len(messages)} displays {what}"
    names = [message["title"] for message in messages]
    named = LISTED if about is NotificationEvent.CONNECTION_UNSTEADY else NAMED
    lines = [*names[:named], *([f"and {len(names) - named} more"] if len(names) > named else [])]
    uuids = [uuid for message in messages for uuid in message["facts"]["uuids"]][:NAMED]
    sites = sorted({site for message in messages for site in message["facts"]["sites"] or ()})
    facts = {**first, "title": title, "cause": "", "displays": len(messages), "uuids": uuids, "sites": sites}
    facts["url"] = to.public_url + "/" if to.public_url else None
    message = _message(title, [*lines, facts["url"] or ""], {**facts, "recovery": "", "taken_by": None})
    return {**message, "own": first}


def _message(title: str, lines: Sequence[str], facts: Mapping[str, Any]) -> Any:
    text = "\n".join(line for line in lines if line)
    return {"title": title, "text": text, "facts": {**facts, "text": text}}


def _since(since: datetime, now: datetime, to: Addressee) -> str:
    zone = zones_rules.or_utc(to.time_zone or "UTC")
    duration = in_words(max(timedelta(), now - since))
    return f"Since {since.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key}), for {duration}."


def _who(displays: Sequence[Display]) -> str:
    """The number of displays and the names of the first NAMED; empty for a single display."""
    if len(displays) < 2:
        return ""
    names = ", ".join(display.words for display in displays[:NAMED])
    more = f" and {len(displays) - NAMED} more" if len(displays) > NAMED else ""
    return f"{len(displays)} displays are affected: {names}{more}."
