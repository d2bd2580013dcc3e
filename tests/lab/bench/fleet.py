"""A realistic fleet: random uuids, names and networks by site, and different times.

Random values are derived from the display's number, so that every run has the same bytes.
"""

from typing import Final

TOWNS: Final = (
    "Berlin,Hamburg,Kiel,Bremen,Ulm,Rome,Milan,Turin,Paris,Lyon,Nantes,Oslo,Bergen,Vienna,Graz,Basel,Bern,Riga"
)
QUARTERS: Final = "Mitte,Nord,Süd,West,Ost,Central,Airport,Mall,Station,Harbour"
SITES: Final = 180
HEARD_WITHIN: Final = 180  # seconds
CHANGED_WITHIN: Final = 86_400  # seconds since a display's change of state, or loss of the broker


def _drawn(what: str, below: int) -> str:
    """SQL: a number of display n, from 0 to below `below`."""
    return f"mod(abs(CAST(hashtext('{what} ' || n) AS bigint)), {below})"


def uuid_of(n: str) -> str:
    """SQL: the uuid (version 4) of display `n`."""
    digits = f"overlay(md5('display ' || {n}) PLACING '4' FROM 13)"
    return f"CAST(CAST(overlay({digits} PLACING substr('89ab', 1 + mod({n}, 4), 1) FROM 17) AS uuid) AS text)"


_SITE: Final = f"""split_part('{TOWNS}', ',', CAST(1 + mod(n, 18) AS int)) || ' '
    || split_part('{QUARTERS}', ',', CAST(1 + mod(n / 18, 10) AS int))"""
_STATUS: Final = "CASE WHEN mod(n, 200) = 0 THEN 'crashed' ELSE 'running' END"

CLIENTS: Final = f"""
    INSERT INTO clients (uuid, name, site, registered_by, process_status, status, status_since, app_version, ip,
        hostname, mqtt_reconnect_count, mqtt_last_disconnect_at, presence, screen_health)
    SELECT {uuid_of("n")}, {_SITE} || ' ' || (1 + n / {SITES}), {_SITE}, 'enrolment',
        CAST({_STATUS} AS process_status), {_STATUS},
        now() - {_drawn("state", CHANGED_WITHIN)} * interval '1 second', '4.2.' || {_drawn("version", 5)},
        concat('10.', mod(n, {SITES}), '.', {_drawn("subnet", 4)}, '.', 1 + {_drawn("host", 254)}),
        concat('host-', n), {_drawn("reconnects", 9)},
        date_trunc('second', now()) - {_drawn("disconnect", CHANGED_WITHIN)} * interval '1 second', 'online', 'ok'
    FROM generate_series(1, CAST(:clients AS int)) AS n
"""
HEARTBEATS: Final = f"""
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at)
    SELECT {uuid_of("n")}, now() - {_drawn("heartbeat", HEARD_WITHIN)} * interval '1 second'
    FROM generate_series(1, CAST(:clients AS int)) AS n
"""
FAILURES: Final = """
    UPDATE clients SET service_failed_at = now(), service_failed_unit = 'player.service'
    WHERE right(hostname, 3) = '500'
"""
NOISE: Final = """
    UPDATE clients SET hostname = 'sign-' || right(md5(uuid), 6),
        name = split_part('Lobby,Entrance,Canteen,Gate,Platform,Window,Checkout,Lift', ',',
            CAST(1 + mod(abs(CAST(hashtext(uuid) AS bigint)), 8) AS int))
            || ' ' || mod(abs(CAST(hashtext('n' || uuid) AS bigint)), 10000),
        mqtt_last_disconnect_at = mqtt_last_disconnect_at
            + mod(abs(CAST(hashtext('ms' || uuid) AS bigint)), 1000) * interval '1 millisecond'
"""
"""SQL: names without the site, host names by serial number, times with milliseconds."""
