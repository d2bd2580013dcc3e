"""Gather what recovery judges by: the fleet's circumstances and the clients' conditions."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from sqlalchemy import Connection

from shared.config import Config
from shared.incidents import operations as incidents
from shared.leadership.rules import BridgeStatus, is_bridge_silent
from shared.maintenance import operations as maintenance
from shared.recovery.breakers.rules import SEEN_WITHIN
from shared.recovery.evidence import rules, store
from shared.recovery.evidence.rules import Condition, Fleet, KnownRow
from shared.recovery.evidence.store import Surroundings

SENT = ("RESTART_APP", "REBOOT_HOST")  # what recovery sends, as the settings name it
MOST_LOOKED_AT = 250  # of the crashed, failing and silent; the tick must not grow with a broken fleet


def circumstances(
    connection: Connection,
    now: datetime,
    config: Config,
    around: Surroundings,
    breakers: Mapping[str | None, str],
    uuids: Collection[str],
    late: str | None = None,
) -> Fleet:
    """The facts that all clients share, and which of these clients are in a maintenance window or an incident.

    Where `around` shows no window or incident, none is read. A caller that acts on the answer, with clients locked,
    reads all. `late`: why silence is not acted on at this moment, where that was checked.
    """
    enabled = config["CRASH_RECOVERY_ENABLED"]  # while it is off nothing else is read
    quiet = maintenance.quiet_of(connection, now, uuids) if enabled and uuids and around.windows else {}
    met = incidents.open_incident_of(connection, uuids) if enabled and uuids and around.incidents else {}
    return Fleet(
        enabled=enabled,
        bridge_silent=is_silent(around.bridge, now, config),
        listening_since=around.bridge.connected_since,
        stale_seconds=config["HEARTBEAT_STALE_SECONDS"],
        breakers=breakers,
        quiet={uuid: (window.why, window.until) for uuid, window in quiet.items()},
        late=late,
        command_life=timedelta(seconds=max(config[f"{a}_TTL_SECONDS"] + config[f"{a}_RESULT_SECONDS"] for a in SENT)),
        incidents={uuid: incident.cause for uuid, incident in met.items()},
    )


def is_silent(bridge: BridgeStatus, now: datetime, config: Config) -> bool:
    """Whether we do not hear the fleet, so that nothing that we see may be acted on."""
    max_age = timedelta(seconds=config["CANARY_MAX_AGE_SECONDS"])
    return bridge.connected_since is None or is_bridge_silent(bridge, now, max_age)


def candidates(
    connection: Connection,
    now: datetime,
    config: Config,
    bridge: BridgeStatus,
    breakers: Mapping[str | None, str],
    silent: Collection[str],
    places: int,
) -> list[str]:
    """Whom a tick looks at. `silent` ones only where one may be acted on: in a mass they would be all there are.

    `places`: how many may be commanded at once.
    """
    silent_too = not is_silent(bridge, now, config) and None not in breakers
    return store.candidates(
        connection,
        now,
        silent if silent_too else (),
        silent_since=bridge.connected_since,
        stale_seconds=config["HEARTBEAT_STALE_SECONDS"],
        blocked_sites=[site for site in breakers if site is not None],
        too_long=SEEN_WITHIN,
        most=max(MOST_LOOKED_AT, 2 * places),
    )


def conditions(
    connection: Connection, now: datetime, fleet: Fleet, uuids: Collection[str]
) -> list[tuple[KnownRow, Condition]]:
    """Each of these clients that is not deleted: its row of `store.conditions`, and what that says."""
    return [(row, rules.condition(row, now, fleet)) for row in store.conditions(connection, uuids)]
