"""One site of the demo loses its network for a while, again and again: what an incident looks like."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from deploy.displays.simulated.behaviours import HOUR, Role
from deploy.displays.simulated.display import Display

LEAST: Final = 3  # displays: fewer are no incident
SILENT: Final = ("freezes", "goes silent")  # mischiefs that end heartbeats too


def dark_site(roles: Sequence[Role]) -> str | None:
    """The site that loses its network; None in a fleet too small for it.

    With it and all others that may be silent fewer than a fifth of the fleet is: above, recovery's breaker would
    open, and the demo would show little else.
    """
    at = Counter(role.site for role in roles)
    silent = Counter(role.site for role in roles if role.mischief in SILENT)
    gone = {site: count + silent.total() - silent[site] for site, count in at.items() if count >= LEAST}
    site = min(gone, key=lambda name: (gone[name], name), default=None)
    return site if site is not None and 5 * gone[site] < len(roles) else None


async def outages(displays: Sequence[Display], seed: int) -> None:
    """For ever: longer without network than a display may be silent, and most of an hour with it."""
    rng = random.Random(seed)  # noqa: S311 - a story, not a secret
    await asyncio.sleep(rng.uniform(60.0, 120.0))
    while True:
        gone = await cut(displays)
        await asyncio.sleep(rng.uniform(420.0, 600.0))
        restore(gone)
        await asyncio.sleep(rng.uniform(0.5, 0.9) * HOUR)


async def cut(displays: Iterable[Display]) -> list[Display]:
    """Take the network from those that have one, all at once; which they were."""
    gone = [display for display in displays if display.is_up]
    await asyncio.gather(*(display.lose_network() for display in gone))
    return gone


def restore(gone: Iterable[Display]) -> None:
    """Their network is back; each reconnects by itself."""
    for display in gone:
        display.find_network()
