"""Simulate incidents: one site of the demo loses its network for a while, repeatedly."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from displays.simulated.behaviours import HOUR, Role
from displays.simulated.display import Display

LEAST: Final = 3  # displays; fewer make no incident
SILENT: Final = ("freezes", "goes silent")  # other mischiefs that stop heartbeats


def dark_site(roles: Sequence[Role]) -> str | None:
    """The site that loses its network; None in a small fleet.

    This site and all other silent displays stay below a fifth of the fleet. Otherwise recovery's breaker would open,
    and the demo would show little else.
    """
    at = Counter(role.site for role in roles)
    silent = Counter(role.site for role in roles if role.mischief in SILENT)
    gone = {site: count + silent.total() - silent[site] for site, count in at.items() if count >= LEAST}
    site = min(gone, key=lambda name: (gone[name], name), default=None)
    return site if site is not None and 5 * gone[site] < len(roles) else None


async def outages(displays: Sequence[Display], seed: int) -> None:
    """Repeat for ever: no network for longer than the stale threshold, then network for most of an hour."""
    rng = random.Random(seed)  # noqa: S311 - a story, not a secret
    await asyncio.sleep(rng.uniform(60.0, 120.0))
    while True:
        gone = await cut(displays)
        await asyncio.sleep(rng.uniform(420.0, 600.0))
        restore(gone)
        await asyncio.sleep(rng.uniform(0.5, 0.9) * HOUR)


async def cut(displays: Iterable[Display]) -> list[Display]:
    """Cut the network of all connected displays at once. Returns them."""
    gone = [display for display in displays if display.is_up]
    await asyncio.gather(*(display.lose_network() for display in gone))
    return gone


def restore(gone: Iterable[Display]) -> None:
    """Restore their network; each display reconnects by itself."""
    for display in gone:
        display.find_network()
