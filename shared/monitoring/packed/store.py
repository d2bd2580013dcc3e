"""SQL that writes the overview column by column: Postgres makes one text of each in one pass over the fleet."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.monitoring.store import CHANGED, TOLD, in_order

_UUIDS: Final = "translate(encode(string_agg(uuid, ''), 'base64'), chr(10), '')"
"""SQL: uuids, each as its bytes, in base64; Postgres breaks its lines, which JSON does not take."""


def _second(moment: str) -> str:
    """SQL: the whole second of a time, since 1970, exactly for any time."""
    return f"CAST(date_part('epoch', date_trunc('second', {moment})) AS bigint)"


def _ago(moment: str) -> str:
    """SQL: how many seconds before `second` a time was, as JSON; what it has beyond its second is cut off."""
    return f"coalesce(CAST(CAST(:second AS bigint) - {_second(moment)} AS text), 'null')"


def _exactly_ago(moment: str) -> str:
    """SQL: the same, as a text with the digits of the fraction where there is one."""
    return f"""CASE WHEN date_trunc('second', {moment}) <> {moment}
        THEN concat('"', {_ago(moment)}, to_char({moment}, '.US'), '"')
        ELSE {_ago(moment)} END"""


_TIMES: Final = {
    "status_since": _ago("c.status_since"),
    "last_heartbeat_at": _ago("h.last_heartbeat_at"),
    "service_failed_at": _exactly_ago("c.service_failed_at"),
    "mqtt_last_disconnect_at": _exactly_ago("c.mqtt_last_disconnect_at"),
    "lockout_until": _exactly_ago("c.lockout_until"),
}
PACKED: Final[Mapping[str, str]] = {**TOLD, "uuid": "uuid_send(CAST(c.uuid AS uuid))", **_TIMES}
"""As TOLD, in the same order: the field and the SQL that writes it for its column."""


def _columns(which: str) -> str:
    """SQL: the clients for which `which` holds as a JSON object of columns."""
    values = ", ".join(f"{value} AS {name}" for name, value in PACKED.items())
    arrays = ", ".join(f"""',"{name}":[', string_agg({name}, ','), ']'""" for name in PACKED if name != "uuid")
    return f"""
        SELECT concat('{{"uuid":"', {_UUIDS}, '"', {arrays}, '}}') FROM (SELECT {values} {in_order(which)}) AS told
    """  # noqa: S608 - made of constants


WHOLE_FLEET: Final = sa.text(_columns("true"))
CHANGED_CLIENTS: Final = sa.text(_columns(CHANGED))
HEARTBEATS: Final = sa.text(
    f"""
    SELECT concat('{{"uuid":"', {_UUIDS}, '","last_heartbeat_at":[', string_agg(ago, ','), ']}}') FROM (
        SELECT uuid_send(CAST(c.uuid AS uuid)) AS uuid, {_TIMES["last_heartbeat_at"]} AS ago
        FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid WHERE c.deleted_at IS NULL) AS told
    """  # noqa: S608 - made of constants
)


def whole_fleet(connection: Connection, second: int, recovery: Mapping[str, str]) -> str:
    """Every client, by name and uuid, as a JSON object of columns; times from `second` (since 1970).

    `recovery` is what recovery does about the unwell ones, by uuid, already as JSON text.
    """
    values = {"second": second, "recovery": json.dumps(recovery)}
    return str(connection.execute(WHOLE_FLEET, values).scalar_one())


def changed_clients(connection: Connection, second: int, since: int, too: Sequence[str] = ()) -> str:
    """As `whole_fleet`, without what recovery does: clients of which something changed in transaction `since` or
    later, and these `too`.
    """
    values = {"second": second, "recovery": "{}", "since": str(since), "too": list(too)}
    return str(connection.execute(CHANGED_CLIENTS, values).scalar_one())


def heartbeats(connection: Connection, second: int) -> str:
    """The last heartbeat of every client that was ever heard, as a JSON object of two columns."""
    return str(connection.execute(HEARTBEATS, {"second": second}).scalar_one())
