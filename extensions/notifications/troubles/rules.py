"""Troubles, and the texts of the messages about them.

Names of displays, sites and files come from other people: they are shortened, on one line and without markup.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct, field

from extensions.notifications.troubles import words_rules
from extensions.notifications.troubles.words_rules import DisplayTrouble, Naming
from shared.clients import zones_rules
from shared.leadership.rules import certificate_rests
from shared.vocabulary import (
    HealthLimit,
    IncidentKind,
    NotificationEvent,
    NotificationPhase,
    RecoveryState,
    ScreenHealthStatus,
)
from shared.words.facts import in_zone
from shared.words.reader import words_of
from shared.words.sentences import DECLARED, Sentence, as_given, sentences_in, to_row

VERSION: Final = 1  # of a webhook's JSON; added fields do not change it
AGAIN_AFTER: Final = timedelta(hours=1)  # between two messages about the same display, incident or breaker
UNWELL_FOR: Final = timedelta(minutes=15)  # one display alone is silent or crashed for so long before a message
LONGEST_NAME: Final = 100
LONGEST_WORDS: Final = 3000  # the names of NAMED displays with their sites, and words around them
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
    title: Sentence
    cause: Sentence | None
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
    recovery: Sentence | None = None
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
    kind: IncidentKind, key: str, count: int, sites: Collection[str], times: int = 1, *, keeps: bool = False
) -> Sentence:
    """The title of an incident, which is the place's one of `times` in a day."""
    if kind is IncidentKind.LISTENING:
        return words_rules.fleet_unheard()
    site = plain(next(iter(sites))) if len(sites) == 1 else None
    return words_rules.place_fails(
        kind=kind, key=plain(key), site=site, sites=len(sites), displays=count, times=times, keeps=keeps
    )


def limit_title(display: Display, kind: HealthLimit, value: float, limit_at: float) -> Sentence:
    """The title of a passed limit. A value is never shown worse than it is."""
    seconds = math.ceil(value * 86_400) if kind is HealthLimit.CERTIFICATE else math.floor(abs(value))
    return words_rules.limit_passed(
        display=display.words,
        limit=kind,
        value=math.floor(value),
        seconds=max(0, seconds),
        is_over=value <= 0,
        is_fast=value > 0,
        limit_at=f"{limit_at:g}",
    )


def emptied_cause(names: Mapping[str, int]) -> Sentence:
    """How many things of each kind name the site, and what to do."""
    return words_rules.things_to_move(
        things=[words_rules.names_site(what=what, things=names[what]) for what in Naming if what in names]
    )


class Stage(Struct, frozen=True):
    """How soon a certificate expires, and since when it is in this stage."""

    event: NotificationEvent
    seconds: int | None
    """It ends within this time; None: it has ended."""
    since: datetime

    @property
    def has_ended(self) -> bool:
        return self.seconds is None


def certificate_stage(begins_at: datetime, ends_at: datetime, now: datetime) -> Stage | None:
    """The stage of a certificate that is good from `begins_at` to `ends_at`; None while its end is far away."""
    rests = certificate_rests(begins_at, ends_at)
    ending, old = ends_at - rests.ending, ends_at - rests.old
    if now >= ends_at:
        return Stage(NotificationEvent.CERTIFICATE_ENDING, None, ends_at)
    if now >= ending:
        return Stage(NotificationEvent.CERTIFICATE_ENDING, _rounded_up(rests.ending), ending)
    if now >= old:
        return Stage(NotificationEvent.CERTIFICATE_OLD, _rounded_up(rests.old), old)
    return None


def _rounded_up(duration: timedelta) -> int:
    unit = timedelta(days=1) if duration >= timedelta(days=2) else timedelta(hours=1)
    return int(-(-duration // unit) * unit.total_seconds())


def display_title(
    display: Display, status: str, unit: str | None, screen: ScreenHealthStatus | None, *, suspended: bool
) -> Sentence:
    """The title of an unwell display; `screen`: how its screen fails."""
    if status in {DisplayTrouble.SILENT, DisplayTrouble.CRASHED}:
        what = DisplayTrouble(status)
    elif unit is None and screen is not None:
        what = DisplayTrouble.SCREEN
    else:
        what = DisplayTrouble.SERVICE if unit else DisplayTrouble.UNKNOWN
    return words_rules.display_unwell(
        display=display.words, what=what, unit=plain(unit), screen=screen, suspended=suspended
    )


def recovery_of_many(states: Sequence[RecoveryState]) -> Sentence:
    """What recovery does about several displays: each state with its count, the most frequent first."""
    counts = sorted(((states.count(state), state) for state in set(states)), key=lambda pair: (-pair[0], pair[1]))
    does = [words_rules.recovery_does(state=state) for _, state in counts]
    if len(counts) > 1:
        does = [
            words_rules.recovery_counted(what=what, displays=count)
            for what, (count, _) in zip(does, counts, strict=True)
        ]
    return words_rules.recovery_about(what=does)


class Addressee(Struct, frozen=True):
    """The facts about a channel that the text of its messages needs."""

    name: str
    language: str
    time_zone: str | None
    public_url: str
    """The dashboard's address; empty: no links."""

    def say(self, said: Sentence | None) -> str:
        """A sentence in the channel's language."""
        return "" if said is None else bounded(words_of(self.language).say(said))


def opened(trouble: Trouble, event: NotificationEvent, phase: NotificationPhase, to: Addressee, now: datetime) -> Any:
    """The message that a trouble began or got worse: {title, text, facts}."""
    worse = phase is NotificationPhase.ESCALATED
    on_it = None if trouble.taken_by is None else words_rules.looks_after(by=trouble.taken_by)
    lines = [trouble.cause, _since(trouble.since, now, to), _who(trouble.displays), on_it, trouble.recovery]
    title = to.say(words_rules.got_worse(title=trouble.title) if worse else trouble.title)
    link = f"{to.public_url}{trouble.link}" if to.public_url else ""
    facts = {
        "version": VERSION,
        "event": event.value,
        "phase": phase.value,
        "subject": trouble.subject,
        "title": title,
        "cause": to.say(trouble.cause),
        "sentences": {"title": to_row(trouble.title), "cause": trouble.cause and to_row(trouble.cause)},
        "since": trouble.since.isoformat(),
        "at": now.isoformat(),
        "sites": None if trouble.sites is None else sorted(trouble.sites),
        "displays": len(trouble.displays),
        "uuids": sorted(trouble.uuids)[:NAMED],
        "recovery": to.say(trouble.recovery),
        "taken_by": trouble.taken_by,
        "url": link or None,
        "channel": to.name,
        **trouble.more,
    }
    return _message(title, [*map(to.say, lines), link], facts)


def recovered(told: Mapping[str, Any], now: datetime, taken_by: str | None, to: Addressee) -> Any:
    """The message that a trouble is over; `told` are the facts of its first message. `taken_by` looked after it."""
    was = {name: _sentence(told, name) for name in ("title", "cause")}
    lines = [
        words_rules.trouble_lasted(seconds=_seconds(datetime.fromisoformat(told["since"]), now)),
        was["cause"] and words_rules.trouble_was(cause=was["cause"]),
        None if taken_by is None else words_rules.looked_after(by=taken_by),
    ]
    title = to.say(words_rules.got_over(title=was["title"] or as_given(text="")))
    event, phase = NotificationEvent.RECOVERED.value, NotificationPhase.RECOVERED.value
    facts = {**told, "event": event, "phase": phase, "title": title, "at": now.isoformat(), "recovery": ""}
    facts |= {"cause": to.say(was["cause"]), "taken_by": taken_by}
    return _message(title, [*map(to.say, lines), told["url"] or ""], facts)


def _sentence(told: Mapping[str, Any], name: str) -> Sentence | None:
    """The title or the cause of a message that was sent. A sentence that this code cannot say is the text of then."""
    stored = sentences_in(told.get("sentences") or {}).get(name)
    if isinstance(stored, Sentence) and stored.code in DECLARED:
        return stored
    return as_given(text=told[name]) if told[name] else None


def many(messages: Sequence[Mapping[str, Any]], about: NotificationEvent, over: bool, to: Addressee) -> Any:
    """One message in place of many about single displays."""
    first = messages[0]["facts"]
    told = words_rules.many_troubles(event=about, displays=len(messages), is_over=over)
    title = to.say(told)
    names = [message["title"] for message in messages]
    named = LISTED if about is NotificationEvent.CONNECTION_UNSTEADY else NAMED
    more = [to.say(words_rules.and_more(more=len(names) - named))] if len(names) > named else []
    lines = [*names[:named], *more]
    uuids = [uuid for message in messages for uuid in message["facts"]["uuids"]][:NAMED]
    sites = sorted({site for message in messages for site in message["facts"]["sites"] or ()})
    facts = {**first, "title": title, "cause": "", "displays": len(messages), "uuids": uuids, "sites": sites}
    facts["sentences"] = {"title": to_row(told), "cause": None}
    facts["url"] = to.public_url + "/" if to.public_url else None
    message = _message(title, [*lines, facts["url"] or ""], {**facts, "recovery": "", "taken_by": None})
    return {**message, "own": first}


def _message(title: str, lines: Sequence[str], facts: Mapping[str, Any]) -> Any:
    text = "\n".join(line for line in lines if line)
    return {"title": title, "text": text, "facts": {**facts, "text": text}}


def _since(since: datetime, now: datetime, to: Addressee) -> Sentence:
    zone = zones_rules.or_utc(to.time_zone or "UTC")
    return words_rules.trouble_since(at=in_zone(since, zone.key), seconds=_seconds(since, now))


def _seconds(since: datetime, now: datetime) -> int:
    return max(0, int((now - since).total_seconds()))


def _who(displays: Sequence[Display]) -> Sentence | None:
    """The number of displays and the names of the first NAMED; None for a single display."""
    if len(displays) < 2:
        return None
    names = [display.words for display in displays[:NAMED]]
    return words_rules.displays_affected(displays=len(displays), names=names, more=len(displays) - len(names))
