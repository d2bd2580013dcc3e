"""List crashed, silent and failing clients, with what recovery does about each."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.failures_rules import service_fails
from shared.clients.store import ShownClient
from shared.config import Config
from shared.leadership.rules import BridgeStatus
from shared.overview import problems_store, rules
from shared.overview.problems_store import After, UnwellClients
from shared.recovery import operations as recovery
from shared.recovery.evidence.rules import RecoveryFacts, is_unwell
from shared.recovery.rules import ShownRecovery
from shared.vocabulary import ProcessStatus


class Unwell(Struct, frozen=True):
    """Some clients, and for the unwell ones what recovery does, by uuid."""

    clients: Sequence[ShownClient]
    recovery: Mapping[str, ShownRecovery]
    bridge: BridgeStatus


def crashed(connection: Connection, now: datetime, config: Config, limit: int, after: After | None = None) -> Unwell:
    """Clients that are crashed or silent, whatever the bridge does, the longest silent first."""
    stale_after = timedelta(seconds=config["HEARTBEAT_STALE_SECONDS"])
    return _judged(connection, now, config, problems_store.crashed(connection, now, stale_after, limit, after))


def failed(connection: Connection, now: datetime, config: Config, limit: int, after: After | None = None) -> Unwell:
    """Clients with a recorded service failure, the newest first."""
    return _judged(connection, now, config, problems_store.failed(connection, now, limit, after))


def _judged(connection: Connection, now: datetime, config: Config, found: UnwellClients) -> Unwell:
    unwell = [one for one in found.judged if _is_unwell(one)]
    states = recovery.states_of_facts(connection, now, config, unwell, found.around)
    return Unwell(found.clients, states, found.around.bridge)


def _is_unwell(one: RecoveryFacts) -> bool:
    fails = service_fails(one.service_failed_at, one.service_mended_at)
    return is_unwell(one.status, one.process_status, fails, one.screen_failed_since)


def why_crashed(client: ShownClient, now: datetime) -> dict[str, Any]:
    """{reason, since} of one of the `crashed` clients: why it is in the list, in words, and since when."""
    says_so = client.process_status is ProcessStatus.CRASHED
    heard_at = client.last_heartbeat_at
    silent_for = now - heard_at if heard_at is not None else timedelta()
    return {
        "reason": rules.why_crashed(client.process_status, silent_for),
        "since": client.process_status_since if says_so else heard_at,
    }
