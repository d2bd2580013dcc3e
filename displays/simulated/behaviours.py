"""The demo's displays: names, sites and faults, by a seed.

A mischief is a coroutine that simulates faults of its display: it waits, causes one fault, waits for its end, and
repeats. Waits come from the display's own random generator, so two runs with the same seed are alike, as far as the
network allows.
"""

import asyncio
import random
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from displays.simulated.display import Behaviour, Display

NAMESPACE: Final = uuid.UUID("5b1c3f0e-6d0a-4a52-9f0b-3f7c2d1e8a44")  # namespace of the demo's uuids

SITES: Final = ("Berlin", "Hamburg", "Vienna", "Zurich", "Prague", "Rotterdam", "Lyon", "Milan")
PLACES: Final = (
    ("Lobby North", "lobby"),
    ("Lobby South", "lobby"),
    ("Reception", "lobby"),
    ("Canteen Menu", "menu"),
    ("Coffee Bar", "menu"),
    ("Elevator Hall 1", "wayfinding"),
    ("Elevator Hall 2", "wayfinding"),
    ("Meeting Room Ada", "meeting-room"),
    ("Meeting Room Hopper", "meeting-room"),
    ("Town Hall Stage", "event"),
    ("Shop Window", "retail"),
    ("Parking Level 1", "wayfinding"),
)
PLAYERS: Final = ("nuc-11", "pi-4", "pi-5", "brightbox-2")
UNITS: Final = ("player.service", "display-manager.service", "content-sync.service")

HOUR: Final = 3600.0
FULL_PERCENT: Final = 88  # a fuller disk or memory of the demo swings around its limit


@dataclass(frozen=True, slots=True)
class Role:
    """One display of the demo."""

    uuid: str
    name: str
    site: str
    tags: tuple[str, ...]
    mischief: str  # a key of MISCHIEF, or "healthy"
    behaviour: Behaviour
    vitals: dict[str, Any]  # the first values of its health reports
    seed: int


Mischief = Callable[[Display, random.Random], Coroutine[Any, Any, None]]


def cast(count: int, seed: int, interval_seconds: int) -> list[Role]:
    """`count` displays. About a third of a large fleet has one kind of fault each; the first display is healthy."""
    rng = random.Random(seed)  # noqa: S311 - a story, not a secret
    mischiefs = _shares(count)
    rng.shuffle(mischiefs)
    return [_role(index, seed, mischief, interval_seconds, rng) for index, mischief in enumerate(mischiefs)]


def _shares(count: int) -> list[str]:
    """The kinds of faults, with numbers that keep less than a fifth of the fleet silent at once."""
    shares = [name for name, (_, percent) in MISCHIEF.items() for _ in range(round(count * percent / 100))]
    return (shares + ["healthy"] * count)[:count]


def _role(index: int, seed: int, mischief: str, interval_seconds: int, rng: random.Random) -> Role:
    site = SITES[index % len(SITES)]
    turn, place = divmod(index // len(SITES), len(PLACES))
    name, kind = PLACES[(place + index % len(SITES)) % len(PLACES)]
    player = rng.choice(PLAYERS)
    return Role(
        uuid=str(uuid.uuid5(NAMESPACE, f"{seed}/{index}")),
        name=name if turn == 0 else f"{name} ({turn + 1})",
        site=site,
        tags=(kind, player),
        mischief=mischief,
        behaviour=_behaviour(mischief, interval_seconds, rng),
        vitals=_vitals(index, site, player, rng),
        seed=rng.randrange(2**31),
    )


def _behaviour(mischief: str, interval_seconds: int, rng: random.Random) -> Behaviour:
    return Behaviour(
        interval_seconds=interval_seconds,
        answer_delay_seconds=rng.uniform(8.0, 90.0) if mischief == "answers late" else 0.0,
        restart_seconds=rng.uniform(2.0, 5.0),
        reboot_seconds=rng.uniform(10.0, 25.0),
    )


def _vitals(index: int, site: str, player: str, rng: random.Random) -> dict[str, Any]:
    return {
        "cpu_percent": rng.randint(8, 35),
        "memory_percent": rng.randint(30, 60),
        "disk_percent": rng.randint(20, 70),
        "temperature_celsius": rng.randint(41, 58),
        "app_version": rng.choice(("4.2.1", "4.2.1", "4.2.1", "4.1.7")),
        "os": "Debian 12" if player != "brightbox-2" else "BrightBox OS 3.4",
        "ip": f"10.{20 + SITES.index(site)}.{index // 200}.{10 + index % 200}",
        "hostname": f"{site.lower()}-{player}-{index:03d}",
    }


async def live(display: Display, role: Role) -> None:
    """Run a display's faults, logs and changing health values, for ever."""
    rng = random.Random(role.seed)  # noqa: S311 - a story, not a secret
    display.vitals = dict(role.vitals)
    lives = [_small_talk(display, rng), _power_button(display)]
    if role.mischief in MISCHIEF:
        lives.append(MISCHIEF[role.mischief][0](display, rng))
    await asyncio.gather(*lives)


async def _small_talk(display: Display, rng: random.Random) -> None:
    while True:
        await asyncio.sleep(rng.uniform(40.0, 300.0))
        display.vitals["cpu_percent"] = max(2, min(97, display.vitals["cpu_percent"] + rng.randint(-6, 6)))
        display.vitals["temperature_celsius"] = 40 + display.vitals["cpu_percent"] // 3
        if display.is_up:
            display.log("info", "playlist item finished", "player", item=rng.randint(1, 40))


async def _power_button(display: Display) -> None:
    """Switch a display on a quarter of an hour after a shutdown, like a person on site."""
    while True:
        await asyncio.sleep(HOUR / 4)
        if not display.on and not display.is_rebooting:
            await display.power_on()


async def _crash(display: Display, rng: random.Random) -> None:
    """Crash the player; it stays crashed until a restart."""
    await asyncio.sleep(rng.uniform(15.0, 90.0))
    while True:
        if display.is_up and display.state.process_status == "running":
            display.log("error", "renderer lost its GPU context", "player", code=rng.choice((134, 139)))
            display.log("critical", "player exited with a core dump", "watchdog")
            display.heartbeat("crashed")
        await asyncio.sleep(rng.uniform(0.2, 0.6) * HOUR)


async def _freeze(display: Display, rng: random.Random) -> None:
    await asyncio.sleep(rng.uniform(30.0, 200.0))
    while True:
        display.frozen = True  # a reboot ends it: the flag belongs to one boot
        await asyncio.sleep(rng.uniform(0.2, 0.4) * HOUR)
        display.frozen = False
        await asyncio.sleep(rng.uniform(0.2, 0.6) * HOUR)


async def _go_silent(display: Display, rng: random.Random) -> None:
    await asyncio.sleep(rng.uniform(30.0, 200.0))
    while True:
        if display.is_up:
            await display.lose_network()
            await asyncio.sleep(rng.uniform(300.0, 900.0))
            display.find_network()
        await asyncio.sleep(rng.uniform(0.2, 0.6) * HOUR)


async def _fail_service(display: Display, rng: random.Random) -> None:
    await asyncio.sleep(rng.uniform(10.0, 120.0))
    while True:
        if display.is_up:
            unit = rng.choice(UNITS)
            display.log("error", f"{unit}: main process exited", "systemd", status=1)
            display.service_failed(unit, rng.choice(("exit-code", "core-dump", "timeout")), rng.randint(1, 5))
        await asyncio.sleep(rng.uniform(0.3, 1.0) * HOUR)


async def _flap(display: Display, rng: random.Random) -> None:
    while True:
        await asyncio.sleep(rng.uniform(20.0, 90.0))
        if display.is_up:
            display.drop_connection()


async def _answer_late(_display: Display, _rng: random.Random) -> None:
    """Do nothing: `_behaviour` sets the delay."""


async def _complain(display: Display, rng: random.Random) -> None:
    while True:
        await asyncio.sleep(rng.uniform(5.0, 40.0))
        level = rng.choice(("warning", "warning", "warning", "error"))
        message = "frame dropped" if level == "warning" else "content could not be fetched"
        if display.is_up:
            display.log(level, message, "player", attempt=rng.randint(1, 5))


async def _lose_picture(display: Display, rng: random.Random) -> None:
    """The screen fails while the player reports that it runs."""
    await asyncio.sleep(rng.uniform(20.0, 120.0))
    while True:
        if display.is_up and display.screen == "ok":
            display.screen = rng.choice(("black", "white", "frozen", "hung", "error_page", "no_page"))
            display.log("warning", "no frame was drawn for 10 s", "compositor")
            display.health()
        await asyncio.sleep(rng.uniform(0.3, 0.9) * HOUR)


async def _pass_a_limit(display: Display, rng: random.Random) -> None:
    """The machine is nearly full, or gets too little power, or trusts an authority that ends soon."""
    soon = (datetime.now(UTC) + timedelta(days=rng.uniform(2, 12))).isoformat()
    display.vitals |= rng.choice(
        ({"disk_percent": 92}, {"memory_percent": 97}, {"under_voltage": True}, {"certificate_ends_at": soon})
    )
    while True:
        await asyncio.sleep(rng.uniform(60.0, 240.0))
        for name in ("disk_percent", "memory_percent"):
            if display.vitals[name] > FULL_PERCENT:
                display.vitals[name] = rng.randint(FULL_PERCENT + 1, 98)


MISCHIEF: Final[dict[str, tuple[Mischief, int]]] = {  # fault -> its coroutine, and its percentage of the fleet
    "crashes": (_crash, 6),
    "freezes": (_freeze, 4),
    "goes silent": (_go_silent, 4),
    "fails a service": (_fail_service, 6),
    "flaps": (_flap, 4),
    "answers late": (_answer_late, 6),
    "complains": (_complain, 6),
    "loses its picture": (_lose_picture, 4),
    "passes a limit": (_pass_a_limit, 6),
}
