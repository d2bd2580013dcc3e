"""Gather the present troubles: incidents, single displays, breakers, certificates, conversions; find ended ones."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import Connection

from extensions.notifications.troubles import rules, store, words_rules
from extensions.notifications.troubles.rules import Display, Spell, Stage, Trouble
from extensions.notifications.troubles.store import AilingDisplay, IncidentToTell, UnwellDisplay
from shared.clients import losses_store
from shared.config import Config
from shared.leadership.rules import CERTIFICATE_KNOWN_FOR, CERTIFICATE_SEEN_FOR
from shared.recovery import operations as recovery
from shared.recovery.breakers import store as breakers_store
from shared.sites import store as sites_store
from shared.vocabulary import (
    ClientStatus,
    Door,
    HealthLimit,
    IncidentKind,
    NotificationEvent,
    RecoveryBasis,
    ScreenHealthStatus,
)
from shared.words.facts import in_zone
from shared.words.sentences import Sentence, as_given, together

ASKED: Final = 50  # the most displays of an incident whose recovery state is read; it stands for the others
BREAKERS: Final = {RecoveryBasis.STALE: "breaker", RecoveryBasis.SCREEN_FAILED: "screens_breaker"}
CERTIFICATE: Final = "certificate"
ENDED: Final = "ended_certificate"
LIMIT: Final = "limit"
LOGIN: Final = "login"
EMPTY_SITE: Final = "empty_site"
FLAPPING: Final = "flapping"
CONVERSIONS_OF: Final = timedelta(days=1)


def incidents(connection: Connection) -> list[Trouble]:
    """Every open incident as a trouble."""
    rows = store.incidents(connection)
    members: dict[int, list[Display]] = defaultdict(list)
    back: dict[int, list[Display]] = defaultdict(list)
    for row in store.members(connection, [row.id for row in rows]) if rows else ():
        (back if row.back else members)[row.incident_id].append(row)
    lines: dict[int, list[Spell]] = defaultdict(list)
    for spell in store.lines(connection, [row.id for row in rows], rules.AGAIN_AFTER) if rows else ():
        lines[spell.of].append(spell)
    return [_incident(row, members[row.id], back[row.id], lines[row.id]) for row in rows]


def _incident(
    row: IncidentToTell, members: Sequence[Display], back: Sequence[Display], line: Sequence[Spell]
) -> Trouble:
    """An incident as a trouble. One of kind `listening` has no displays and concerns every channel.

    While a place keeps failing, all its incidents are one trouble.
    """
    is_ours = row.kind == IncidentKind.LISTENING
    met = [*members, *back]
    sites = frozenset(display.site for display in met if display.site is not None)
    third = rules.flapping(line)
    root = f"incident:{row.id}" if third is None else f"{FLAPPING}:{third.id}"
    times = sum(spell.is_of_the_day for spell in line)
    told = [row.cause] if members or not back else [row.cause, words_rules.all_back(displays=len(back))]
    return Trouble(
        root=root,
        subject=f"{root}:{0 if third else row.reopened}",
        event=NotificationEvent.BRIDGE_SILENT if is_ours else NotificationEvent.INCIDENT_OPENED,
        title=rules.incident_title(IncidentKind(row.kind), row.key, len(met), sites, times, keeps=third is not None),
        cause=together(told),
        since=row.began_at,
        noticed_at=third.opened_at if third else max(row.opened_at, row.reopened_at or row.opened_at),
        sites=None if is_ours else sites,
        displays=tuple(members),
        back=tuple(back),
        recovery=words_rules.fleet_unheard_recovery() if is_ours else None,
        taken_by=row.taken_by,
        link=f"/?v=incidents&i={row.id}",
        more={"incident_id": row.id, "kind": row.kind, "times": times},
        opened_at=row.opened_at,
    )


def displays(connection: Connection, now: datetime, config: Config, since: datetime, channels: int) -> list[Trouble]:
    """Displays in no incident that have been unwell for long, or that recovery has suspended."""
    recovers = config["CRASH_RECOVERY_ENABLED"]
    rows = store.displays(connection, now - rules.UNWELL_FOR, since, channels, recovers=recovers)
    return [_unwell(row) for row in rows]


def _unwell(display: UnwellDisplay) -> Trouble:
    suspended, failed_at = display.suspended, display.service_failed_at or display.screen_failed_since
    if failed_at is None or display.status in {ClientStatus.STALE, ClientStatus.CRASHED}:
        began, noticed, taken_by = display.status_since, display.noticed_at, None
    else:
        began, noticed, taken_by = failed_at, failed_at, display.taken_by
    screen = display.screen_health if display.screen_failed_since is not None else None
    root = f"client:{display.uuid}"
    return Trouble(
        root=root,
        subject=f"{root}:{int(began.timestamp())}",
        event=NotificationEvent.DISPLAY_SUSPENDED if suspended else NotificationEvent.DISPLAY_UNWELL,
        title=rules.display_title(display, display.status, display.service_failed_unit, screen, suspended=suspended),
        cause=None,
        since=began,
        noticed_at=max(noticed, display.decided_at or noticed) if suspended else noticed,
        sites=_site_of(display),
        displays=(display,),
        min_age=timedelta() if suspended else rules.UNWELL_FOR,
        taken_by=taken_by,
        link=f"/?d={display.uuid}",
        more={"uuid": display.uuid},
    )


def _site_of(display: Display) -> frozenset[str]:
    return frozenset({display.site} if display.site is not None else ())


TOLD: Final[Mapping[str, tuple[NotificationEvent, Callable[[AilingDisplay], Sentence]]]] = {
    "service": (
        NotificationEvent.SERVICE_FAILED,
        lambda row: rules.display_title(row, "", row.what, None, suspended=False),
    ),
    "screen": (
        NotificationEvent.SCREEN_BAD,
        lambda row: words_rules.screen_fails(display=row.words, screen=ScreenHealthStatus(row.what)),
    ),
    LIMIT: (
        NotificationEvent.LIMIT_PASSED,
        lambda row: rules.limit_title(row, HealthLimit(row.what), row.value, row.limit_at),
    ),
    LOGIN: (NotificationEvent.LOGIN_SHARED, lambda row: words_rules.login_shared(display=row.words)),
}
"""The ailments that are told at once: event and title."""


def ailments(
    connection: Connection, now: datetime, wanted: Collection[NotificationEvent], since: datetime
) -> Iterator[Trouble]:
    """What single displays suffer from while they are heard, and `wanted` has the event."""
    for kind, (event, title) in TOLD.items():
        for row in store.ailing(connection, now, kind, since) if event in wanted else ():
            trouble = _of_display(kind, event, row, row.since, title(row), at=row.at)
            if kind == LIMIT:
                root = f"{trouble.root}:{row.what}"
                subject, more = f"{root}:{int(row.at.timestamp())}", {**trouble.more, "limit": row.what}
                trouble = replace(trouble, root=root, subject=subject, more=more)
            yield replace(
                trouble, cause=words_rules.login_shared_cause() if kind == LOGIN else None, taken_by=row.taken_by
            )


def unsteady(connection: Connection, now: datetime) -> Iterator[Trouble]:
    """Displays that keep losing the broker. The end of such a trouble sends no message."""
    for one in losses_store.unsteady(connection, now):
        display, event = Display(one.uuid, one.name, one.site), NotificationEvent.CONNECTION_UNSTEADY
        title = words_rules.connection_unsteady(display=display.words, losses=one.losses)
        trouble = _of_display("unsteady", event, display, one.since, title, at=now)
        yield replace(trouble, noticed_at=one.since, recovers=False)


def _of_display(
    kind: str,
    event: NotificationEvent,
    display: Display,
    since: datetime,
    title: Sentence,
    at: datetime,
) -> Trouble:
    """One of a display's troubles. `at` distinguishes one time of the trouble from the next."""
    root = f"{kind}:{display.uuid}"
    return Trouble(
        root=root,
        subject=f"{root}:{int(at.timestamp())}",
        event=event,
        title=title,
        cause=None,
        since=since,
        noticed_at=at,
        sites=_site_of(display),
        displays=(display,),
        link=f"/?d={display.uuid}",
        more={"uuid": display.uuid},
    )


def open_breakers(connection: Connection, config: Config, dark_sites: Collection[str]) -> Iterator[Trouble]:
    """Every open breaker; none while recovery is off. `dark_sites` have an open incident."""
    if not config["CRASH_RECOVERY_ENABLED"]:
        return
    for row in breakers_store.standing(connection):
        site, root = row.site or None, f"{BREAKERS[row.basis]}:{row.site}"
        yield Trouble(
            root=root,
            subject=f"{root}:{int(row.open_since.timestamp())}",
            event=NotificationEvent.BREAKER_OPEN,
            title=words_rules.breaker_holds(site=rules.plain(site) if site else None),
            cause=row.why,
            since=row.open_since,
            noticed_at=row.open_since,
            sites=None if site is None else frozenset({site}),
            in_incident=site in dark_sites,
            link="/",
            more={"site": site},
        )


def emptied_sites(connection: Connection) -> Iterator[Trouble]:
    """Sites that lost their last display while things name them; only channels of all sites hear of them."""
    names: dict[str, dict[str, int]] = defaultdict(dict)
    for row in sites_store.unmatched(connection):
        names[row.site][row.what] = row.count
    for lost in sites_store.emptied(connection, names):
        root = f"{EMPTY_SITE}:{lost.site}"
        yield Trouble(
            root=root,
            subject=f"{root}:{int(lost.at.timestamp())}",
            event=NotificationEvent.SITE_EMPTIED,
            title=words_rules.site_still_named(site=rules.plain(lost.site), things=sum(names[lost.site].values())),
            cause=rules.emptied_cause(names[lost.site]),
            since=lost.at,
            noticed_at=lost.at,
            sites=frozenset(),
            link="/?v=settings",
            more={"site": lost.site},
        )


def failed_conversions(connection: Connection, now: datetime, since: datetime) -> Iterator[Trouble]:
    """Conversions that failed for good within a day. They have no end, so no closing message."""
    for row in store.conversions(connection, max(since, now - CONVERSIONS_OF)):
        root = f"conversion:{row.id}"
        yield Trouble(
            root=root,
            subject=f"{root}:{row.generation}",
            event=NotificationEvent.CONVERSION_FAILED,
            title=words_rules.not_converted(file=rules.plain(row.filename)),
            cause=as_given(text=row.error_message) if row.error_message else None,
            since=row.finished_at,
            noticed_at=row.finished_at,
            sites=None,
            recovers=False,
            link="/?v=conversions",
            more={"media_id": row.media_id, "conversion_id": row.id},
        )


def certificates(connection: Connection, now: datetime) -> Iterator[Trouble]:
    """Certificates of our doors that expire soon or have expired.

    A certificate must have been seen lately, because a restored database has old ones. An expired one may have been
    seen longer ago: its door may not answer because of it.
    """
    for row in store.certificates(connection):
        stage = rules.certificate_stage(row.begins_at, row.ends_at, now)
        if stage and now - row.seen_at <= (CERTIFICATE_KNOWN_FOR if stage.has_ended else CERTIFICATE_SEEN_FOR):
            yield _certificate(row.door, row.ends_at, stage)


def _certificate(door: Door, ends_at: datetime, stage: Stage) -> Trouble:
    root = f"{ENDED if stage.has_ended else CERTIFICATE}:{_certificate_name(door, ends_at)}"
    return Trouble(
        root=root,
        subject=root,
        event=stage.event,
        title=words_rules.certificate_ends(door=door, seconds=stage.seconds),
        cause=words_rules.certificate_end(door=door, at=in_zone(ends_at, "UTC"), has_ended=stage.has_ended),
        since=stage.since,
        noticed_at=stage.since,
        sites=None,
        link="/",
        more={"door": door, "ends_at": ends_at.isoformat()},
    )


def _certificate_name(door: str, ends_at: datetime) -> str:
    """The name of one certificate: its door and its expiry, which a renewed certificate changes."""
    return f"{door}:{int(ends_at.timestamp())}"


def with_recovery(connection: Connection, now: datetime, config: Config, trouble: Trouble) -> Trouble:
    """The same trouble, with what recovery does about it. Call it only when a message is written."""
    if not trouble.displays:
        return trouble
    uuids = [display.uuid for display in trouble.displays[:ASKED]]
    states = list(recovery.states_of(connection, now, config, store.states(connection, uuids)).values())
    if not states:
        return trouble
    if len(trouble.displays) == 1:
        return replace(trouble, recovery=states[0].why)
    return replace(trouble, recovery=rules.recovery_of_many([one.state for one in states]))


def takers(connection: Connection, roots: Collection[str]) -> dict[str, str]:
    """Who looks after the incidents among these roots, or did until their end."""
    ids = [int(root.removeprefix("incident:")) for root in roots if root.startswith("incident:")]
    return {f"incident:{i}": by for i, by in store.takers(connection, ids).items()} if ids else {}


def over(
    connection: Connection, now: datetime, config: Config, roots: Collection[str], well_since: datetime
) -> dict[str, bool]:
    """The troubles of these roots that are over. The value is True when no message needs to say so."""
    names: dict[str, list[Any]] = defaultdict(list)
    for root in roots:
        kind, _, name = root.partition(":")
        names[kind].append(name)
    found = _over_incidents(connection, now, names)
    values = {"now": now, "well_since": well_since, "recovers": config["CRASH_RECOVERY_ENABLED"]}
    for kind in store.OVER.keys() & names.keys():
        ended = store.over(connection, kind, names[kind], **values)
        found |= {f"{kind}:{name}": silently for name, silently in ended.items()}
    if of_breakers := [root for root in roots if root.partition(":")[0] in BREAKERS.values()]:
        still = {trouble.root for trouble in open_breakers(connection, config, ())}
        found |= {root: False for root in of_breakers if root not in still}
    found |= _over_emptied(connection, names[EMPTY_SITE])
    if names[CERTIFICATE] or names[ENDED]:
        found |= _over_certificates(connection, now, names[CERTIFICATE], names[ENDED])
    return found


def _over_incidents(connection: Connection, now: datetime, names: Mapping[str, Sequence[Any]]) -> dict[str, bool]:
    found: dict[str, bool] = {}
    if ids := names["incident"]:
        over = store.over_incidents(connection, [int(i) for i in ids])
        found |= {f"incident:{i}": silently for i, silently in over.items()}
    if ids := names[FLAPPING]:
        over = store.over_flapping(connection, [int(i) for i in ids], now - rules.AGAIN_AFTER)
        found |= {f"{FLAPPING}:{i}": silently for i, silently in over.items()}
    return found


def _over_emptied(connection: Connection, sites: Collection[str]) -> dict[str, bool]:
    still_named = {row.site for row in sites_store.unmatched(connection, sites)} if sites else set()
    return {f"{EMPTY_SITE}:{site}": False for site in sites if site not in still_named}


def _over_certificates(
    connection: Connection, now: datetime, ending: Collection[str], ended: Collection[str]
) -> dict[str, bool]:
    """The ended troubles about certificates. True (no message): the door is gone, or the certificate has expired."""
    ends = {row.door: row.ends_at for row in store.certificates(connection)}
    shown = {_certificate_name(door, ends_at): ends_at for door, ends_at in ends.items()}
    found = {f"{ENDED}:{name}": name.partition(":")[0] not in ends for name in ended if name not in shown}
    for name in ending:
        if name not in shown:
            found[f"{CERTIFICATE}:{name}"] = name.partition(":")[0] not in ends
        elif now >= shown[name]:
            found[f"{CERTIFICATE}:{name}"] = True
    return found
