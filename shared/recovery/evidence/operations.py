"""Read what recovery decides by: the circumstances of the fleet, and the clients that a tick examines."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection

from shared.config import Config
from shared.incidents import operations as incidents
from shared.leadership.rules import BridgeStatus, is_bridge_silent
from shared.quiet import operations as quiet
from shared.quiet.rules import QuietNow
from shared.recovery.breakers.rules import SEEN_WITHIN, BreakerKey
from shared.recovery.evidence import store
from shared.recovery.evidence.rules import Fleet
from shared.recovery.evidence.store import Surroundings
from shared.vocabulary import Quiet, RecoveryBasis
from shared.words.sentences import Sentence

MOST_LOOKED_AT = 250  # crashed, failing and silent clients in one tick: a tick must not grow with a broken fleet


def circumstances(
    connection: Connection,
    now: datetime,
    config: Config,
    around: Surroundings,
    breakers: Mapping[BreakerKey, Sentence],
    uuids: Collection[str],
    late: Sentence | None = None,
    found: QuietNow | None = None,
) -> Fleet:
    """The facts that all clients share, and which of the clients are in a quiet time or an incident.

    Quiet times and incidents are read only if `around` says that there may be some; `Surroundings(bridge)` reads both.
    `late`: why recovery does not act on silence now. `found`: what is quiet now, if the caller has read it.
    """
    enabled = config["CRASH_RECOVERY_ENABLED"]  # while recovery is off, nothing else is needed
    if found is None:
        found = quiet.now_quiet(connection, now) if enabled and uuids and around.quiet_times else QuietNow()
    held = quiet.covered(connection, found, Quiet.RECOVERY, uuids)
    met = incidents.open_incident_of(connection, uuids) if enabled and uuids and around.incidents else {}
    return Fleet(
        enabled=enabled,
        bridge_silent=bridge_is_silent(around.bridge, now),
        listening_since=around.bridge.connected_since,
        stale_seconds=config["HEARTBEAT_STALE_SECONDS"],
        breakers=breakers,
        quiet={uuid: (one.time.words, one.until) for uuid, one in held.items()},
        opened=quiet.opened(connection, found, Quiet.RECOVERY, uuids),
        late=late,
        incidents={uuid: one.cause for uuid, one in met.items()},
    )


def bridge_is_silent(bridge: BridgeStatus, now: datetime) -> bool:
    """Whether the bridge does not hear the fleet, so that recovery must not act."""
    return bridge.connected_since is None or is_bridge_silent(bridge, now)


def candidates(
    connection: Connection,
    now: datetime,
    config: Config,
    bridge: BridgeStatus,
    breakers: Collection[BreakerKey],
    silent: Collection[str],
    cap: int,
    found: QuietNow,
) -> list[str]:
    """The clients that a tick examines. Silent clients count only while recovery may act on silence, because in a mass
    failure they would fill the cap, the number of clients that may get a command at once.
    """
    blocked = [site for basis, site in breakers if basis is RecoveryBasis.STALE]
    silent_too = not bridge_is_silent(bridge, now) and None not in blocked
    return store.candidates(
        connection,
        now,
        silent if silent_too else (),
        silent_since=bridge.connected_since,
        stale_seconds=config["HEARTBEAT_STALE_SECONDS"],
        blocked_sites=[site for site in blocked if site is not None],
        too_long=SEEN_WITHIN,
        most=max(MOST_LOOKED_AT, 2 * cap),
        quiet=found.ids(Quiet.RECOVERY),
    )
