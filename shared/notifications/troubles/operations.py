"""Gather what there is to tell now: incidents, displays alone, breakers, conversions; and what of it is over."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from shared.clients import losses_store
from shared.config import Config
from shared.leadership.rules import CERTIFICATE_KNOWN_FOR, CERTIFICATE_SEEN_FOR
from shared.notifications.troubles import rules, store
from shared.notifications.troubles.rules import Display, Stage, Trouble
from shared.notifications.troubles.store import IncidentToTell, UnwellDisplay
from shared.recovery import operations as recovery
from shared.recovery.breakers import store as breakers
from shared.vocabulary import ClientStatus, Door, IncidentKind, NotificationEvent, RecoveryState

ASKED: Final = 50  # displays of an incident whose recovery is asked for; the rest fares alike
CERTIFICATE: Final = "certificate"
ENDED: Final = "ended_certificate"
CONVERSIONS_OF: Final = timedelta(days=1)


def incidents(connection: Connection) -> list[Trouble]:
    """Every open incident as something to tell."""
    rows = store.incidents(connection)
    members: dict[int, list[Display]] = defaultdict(list)
    back: dict[int, list[Display]] = defaultdict(list)
    for row in store.members(connection, [row.id for row in rows]) if rows else ():
        (back if row.back else members)[row.incident_id].append(row)
    return [_incident(row, members[row.id], back[row.id]) for row in rows]


def _incident(row: IncidentToTell, members: Sequence[Display], back: Sequence[Display]) -> Trouble:
    """An incident; the one of our own has no displays and concerns everybody."""
    is_ours = row.kind == IncidentKind.LISTENING
    met = [*members, *back]
    sites = frozenset(display.site for display in met if display.site is not None)
    root = f"incident:{row.id}"
    words = "" if members or not back else f" {rules.all_back(len(back))}"
    return Trouble(
        root=root,
        subject=f"{root}:{row.reopened}",
        event=NotificationEvent.BRIDGE_SILENT if is_ours else NotificationEvent.INCIDENT_OPENED,
        title=rules.incident_title(row.kind, row.key, len(met), sites),
        cause=rules.bounded(row.cause + words),
        since=row.began_at,
        noticed_at=max(row.opened_at, row.reopened_at or row.opened_at),
        sites=None if is_ours else sites,
        displays=tuple(members),
        back=tuple(back),
        recovery="Recovery does nothing until we hear the fleet again." if is_ours else "",
        link=f"/?v=incidents&i={row.id}",
        more={"incident_id": row.id, "kind": row.kind},
    )


def displays(connection: Connection, now: datetime, config: Config, since: datetime, channels: int) -> list[Trouble]:
    """Displays of no incident that are unwell for long, or that recovery could not help."""
    min_age = timedelta(seconds=config["NOTIFICATION_DISPLAY_SECONDS"])
    recovers = config["CRASH_RECOVERY_ENABLED"]
    rows = store.displays(connection, now - min_age, since, channels, recovers=recovers)
    return [_lonely(row, min_age) for row in rows]


def _lonely(display: UnwellDisplay, min_age: timedelta) -> Trouble:
    suspended, failed_at = display.suspended, display.service_failed_at
    if failed_at is None or display.status in {ClientStatus.STALE, ClientStatus.CRASHED}:
        began, noticed = display.status_since, display.noticed_at
    else:
        began = noticed = failed_at
    root = f"client:{display.uuid}"
    return Trouble(
        root=root,
        subject=f"{root}:{int(began.timestamp())}",
        event=NotificationEvent.DISPLAY_SUSPENDED if suspended else NotificationEvent.DISPLAY_UNWELL,
        title=rules.display_title(display, display.status, display.service_failed_unit, suspended=suspended),
        cause="",
        since=began,
        noticed_at=max(noticed, display.decided_at or noticed) if suspended else noticed,
        sites=_site_of(display),
        displays=(display,),
        min_age=timedelta() if suspended else min_age,
        link=f"/?d={display.uuid}",
        more={"uuid": display.uuid},
    )


def _site_of(display: Display) -> frozenset[str]:
    return frozenset({display.site} if display.site is not None else ())


def failed_services(connection: Connection, since: datetime) -> Iterator[Trouble]:
    """Displays of no incident with a failed service: until it is acknowledged, or the display calls it mended."""
    for display in store.failed_services(connection, since):
        title = rules.display_title(display, "", display.service_failed_unit, suspended=False)
        yield _of_display("service", NotificationEvent.SERVICE_FAILED, display, display.service_failed_at, title)


def bad_screens(connection: Connection, since: datetime) -> Iterator[Trouble]:
    """Displays of no incident that are heard and whose screen shows nothing, or always the same."""
    for display in store.bad_screens(connection, since):
        title = rules.screen_title(display, display.screen)
        yield _of_display("screen", NotificationEvent.SCREEN_BAD, display, display.screen_health_since, title)


def unsteady(connection: Connection, now: datetime) -> Iterator[Trouble]:
    """Displays that keep losing the broker; that one has stopped to is no news."""
    for one in losses_store.unsteady(connection, now):
        display, event = Display(one.uuid, one.name, one.site), NotificationEvent.CONNECTION_UNSTEADY
        title = rules.unsteady_title(display, one.losses)
        yield _of_display("unsteady", event, display, one.since, title, at=now, recovers=False)


def _of_display(
    kind: str,
    event: NotificationEvent,
    display: Display,
    since: datetime,
    title: str,
    *,
    at: datetime | None = None,
    recovers: bool = True,
) -> Trouble:
    """One display's trouble, apart from the others that it may have; one time of it is `at`, or since then."""
    root = f"{kind}:{display.uuid}"
    return Trouble(
        root=root,
        subject=f"{root}:{int((at or since).timestamp())}",
        event=event,
        title=title,
        cause="",
        since=since,
        noticed_at=since,
        sites=_site_of(display),
        displays=(display,),
        recovers=recovers,
        link=f"/?d={display.uuid}",
        more={"uuid": display.uuid},
    )


def open_breakers(connection: Connection, config: Config, dark_sites: Collection[str]) -> Iterator[Trouble]:
    """Every breaker that holds recovery back; none while recovery is off. `dark_sites` have an open incident."""
    for row in breakers.standing(connection) if config["CRASH_RECOVERY_ENABLED"] else ():
        site, since = row.site or None, row.open_since
        root = f"breaker:{row.site}"
        yield Trouble(
            root=root,
            subject=f"{root}:{int(since.timestamp())}",
            event=NotificationEvent.BREAKER_OPEN,
            title="Recovery holds back" + (f" at {rules.plain(site)}" if site else ""),
            cause=rules.bounded(row.why),
            since=since,
            noticed_at=since,
            sites=None if site is None else frozenset({site}),
            in_incident=site in dark_sites,
            link="/",
            more={"site": site},
        )


def failed_conversions(connection: Connection, now: datetime, since: datetime) -> Iterator[Trouble]:
    """Conversions that failed for good within a day; their end is no news."""
    for row in store.conversions(connection, max(since, now - CONVERSIONS_OF)):
        root = f"conversion:{row.id}"
        yield Trouble(
            root=root,
            subject=f"{root}:{row.generation}",
            event=NotificationEvent.CONVERSION_FAILED,
            title=f"{rules.plain(row.filename)} could not be converted",
            cause=rules.bounded(row.error_message or ""),
            since=row.finished_at,
            noticed_at=row.finished_at,
            sites=None,
            recovers=False,
            link="/?v=conversions",
            more={"media_id": row.media_id, "conversion_id": row.id},
        )


def certificates(connection: Connection, now: datetime) -> Iterator[Trouble]:
    """Certificates of our doors that end soon, or have ended.

    What was seen a while ago is no news but of one that has ended: a door may be away because of it. A database that
    was put back holds what was seen long ago.
    """
    for row in store.certificates(connection):
        stage = rules.certificate_stage(row.ends_at, now)
        if stage and now - row.seen_at <= (CERTIFICATE_KNOWN_FOR if stage.has_ended else CERTIFICATE_SEEN_FOR):
            yield _certificate(row.door, row.ends_at, stage)


def _certificate(door: Door, ends_at: datetime, stage: Stage) -> Trouble:
    root = f"{ENDED if stage.has_ended else CERTIFICATE}:{_certificate_name(door, ends_at)}"
    return Trouble(
        root=root,
        subject=root,
        event=stage.event,
        title=f"{rules.DOORS[door]} {stage.words}",
        cause=rules.certificate_cause(door, ends_at, has_ended=stage.has_ended),
        since=stage.since,
        noticed_at=stage.since,
        sites=None,
        link="/",
        more={"door": door, "ends_at": ends_at.isoformat()},
    )


def _certificate_name(door: str, ends_at: datetime) -> str:
    """One certificate of one door: another one has another end."""
    return f"{door}:{int(ends_at.timestamp())}"


def with_recovery(connection: Connection, now: datetime, config: Config, trouble: Trouble) -> Trouble:
    """The same, with what recovery does about it; asked for only where it is told."""
    if not trouble.displays:
        return trouble
    uuids = [display.uuid for display in trouble.displays[:ASKED]]
    said = recovery.states_of(connection, now, config, [vars(one) for one in store.states(connection, uuids)])
    if not said:
        return trouble
    if len(trouble.displays) == 1:
        return replace(trouble, recovery=rules.bounded(next(iter(said.values()))["why"]))
    words = rules.recovery_of_many([RecoveryState(one["state"]) for one in said.values()])
    return replace(trouble, recovery=words)


def over(
    connection: Connection, now: datetime, config: Config, roots: Collection[str], well_since: datetime
) -> dict[str, bool]:
    """Those of these roots that are over, each with whether nobody needs to hear of it."""
    names: dict[str, list[Any]] = defaultdict(list)
    for root in roots:
        kind, _, name = root.partition(":")
        names[kind].append(name)
    found: dict[str, bool] = {}
    if ids := names["incident"]:
        found |= {
            f"incident:{i}": silently for i, silently in store.over_incidents(connection, [int(i) for i in ids]).items()
        }
    if uuids := names["client"]:
        recovers = config["CRASH_RECOVERY_ENABLED"]
        well = store.over_clients(connection, uuids, well_since, recovers=recovers)
        found |= {f"client:{uuid}": silently for uuid, silently in well.items()}
    if uuids := names["service"]:
        found |= {f"service:{uuid}": silently for uuid, silently in store.over_services(connection, uuids).items()}
    if uuids := names["screen"]:
        found |= {f"screen:{uuid}": silently for uuid, silently in store.over_screens(connection, uuids).items()}
    if sites := names["breaker"]:
        still = store.open_breakers(connection) if config["CRASH_RECOVERY_ENABLED"] else set()
        found |= {f"breaker:{site}": False for site in sites if site not in still}
    if names[CERTIFICATE] or names[ENDED]:
        found |= _over_certificates(connection, now, names[CERTIFICATE], names[ENDED])
    return found


def _over_certificates(
    connection: Connection, now: datetime, ending: Collection[str], ended: Collection[str]
) -> dict[str, bool]:
    """Those that no door shows any more; without a word where the door is gone, or the end itself is told instead."""
    ends = {row.door: row.ends_at for row in store.certificates(connection)}
    shown = {_certificate_name(door, ends_at): ends_at for door, ends_at in ends.items()}
    found = {f"{ENDED}:{name}": name.partition(":")[0] not in ends for name in ended if name not in shown}
    for name in ending:
        if name not in shown:
            found[f"{CERTIFICATE}:{name}"] = name.partition(":")[0] not in ends
        elif now >= shown[name]:
            found[f"{CERTIFICATE}:{name}"] = True
    return found
