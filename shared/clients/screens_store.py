"""SQL of screens without a picture: since when, and when that counts as a failure."""

from typing import Final

from shared.clients.screens_rules import IN_A_ROW, SURE_AFTER
from shared.postgres.fragments import is_bad, is_without_picture, screen_fails


def in_a_row(since: str, before_at: str, at: str) -> str:
    """SQL: `screens_rules.in_a_row`; null where a moment is."""
    return (
        f"({since} <= {before_at} AND {at} - {before_at} <= interval '{IN_A_ROW.total_seconds()} seconds'"
        f" AND {at} - {since} >= interval '{SURE_AFTER.total_seconds()} seconds')"
    )


_NEW: Final = "coalesce(said.screen_health, c.screen_health::text)"
_OLD: Final = "c.screen_health::text"
_BEFORE_AT: Final = "(SELECT b.received_at FROM client_health AS b WHERE b.client_uuid = c.uuid)"
_GOES_ON: Final = f"""(({is_bad(_NEW)} AND {is_bad(_OLD)} OR {_NEW} = 'off' AND {_OLD} = 'off')
    AND said.at - {_BEFORE_AT} <= interval '{IN_A_ROW.total_seconds()} seconds')"""
"""SQL: whether the report `said` and a recent one before it are both of a bad screen, or both of one that is off."""
SINCE: Final = f"""
    CASE WHEN NOT {is_without_picture(_NEW)} THEN NULL
        WHEN {_GOES_ON} THEN coalesce(c.screen_health_since, said.at) ELSE said.at END"""
"""SQL: what the report makes of clients.screen_health_since."""
FAILED_AT: Final = f"""
    CASE WHEN NOT {is_without_picture(_NEW)} OR NOT coalesce({_GOES_ON}, false) THEN NULL
        WHEN {screen_fails("c")} THEN c.screen_failed_at
        WHEN {is_bad(_NEW)} AND {in_a_row("c.screen_health_since", _BEFORE_AT, "said.at")} THEN said.at END"""
"""SQL: what the report makes of clients.screen_failed_at. The tick decides about a screen that is off."""
