"""A thief abuses one stolen login in every way of MQTT 5, while a neighbour works normally.

Each way has its own broker. Meanwhile the neighbour publishes one heartbeat after another, and the broker's memory is
measured. The thief leaves its session behind, and the broker's processor time for a heartbeat is measured. Then the
login is revoked, and memory, the saved file and that processor time are measured again. Some ways are repeated without
the setting that prevents them: the harm must show, otherwise the campaign detects nothing.
"""

import itertools
import multiprocessing
import os
import signal
import socket
import struct
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK, write_file
from deploy.parts.probes import wait_until
from tests import diary
from tests.lab.campaigns.fleet import PASSWORD
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.lone_broker import broker, shipped
from tests.lab.campaigns.machine import Component
from tests.lab.campaigns.wire import Wire, WireBroken, length_of, packet, string

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from multiprocessing.synchronize import Event

THIEF: Final = str(uuid.UUID(int=13))
NEIGHBOUR: Final = str(uuid.UUID(int=14))
OWN: Final = f"signage/{THIEF}"
MEGABYTE: Final = 2**20
LONG: Final = "x" * 62_000
LARGEST: Final = bytes(60_000)
WITHIN_SECONDS: Final = 1.0  # for the answer to a neighbour's heartbeat
MORE_MEGABYTES: Final = 64.0  # growth of the broker's memory
WAITING_MEGABYTES: Final = 400.0  # growth of it without a bridge: docs/operating.md, "The broker"
LEFT_MEGABYTES: Final = 4.0  # growth of the broker's saved file
TIMES: Final = 2.0  # the processor time of a heartbeat with the thief's session, as a multiple of the usual one
LOOKS: Final = 6  # the most measurements, until one finds a usual heartbeat
LOOKS_AT_HARM: Final = 2  # where the harm must show
ENOUGH_SECONDS: Final = 0.5  # of processor time, for a measurement of heartbeats that take long
FOREVER: Final = b"\x11\xff\xff\xff\xff"  # session expiry
PROCESSES: Final = multiprocessing.get_context("forkserver")  # imports this module once, and not for each process
PROCESSES.set_forkserver_preload([__name__])
TOPICS: Final = tuple(f"signage/+/{kind}" for kind in ("heartbeat", "health", "logs/+", "presence", "acks"))

Packets = Iterator[bytes]


def published(
    topic: str, payload: bytes, number: int, *, qos: int = 1, retain: bool = False, more: bytes = b""
) -> bytes:
    """A PUBLISH with the properties `more`."""
    mid = struct.pack("!H", number % 65_535 + 1) if qos else b""
    return packet(0x30 | qos << 1 | retain, string(topic) + mid + length_of(len(more)) + more + payload)


def subscribed(number: int, *filters: str, more: bytes = b"", first: int = 0x82) -> bytes:
    """A SUBSCRIBE, or another packet of the same form."""
    options = b"" if first == 0xA2 else b"\x01"
    head = struct.pack("!H", number % 65_535 + 1) + length_of(len(more)) + more
    return packet(first, head + b"".join(string(one) + options for one in filters))


def user_properties(count: int, size: int) -> bytes:
    return b"".join(b"\x26" + string(f"k{at}") + string("v" * size) for at in range(count))


# --- the ways: endless sequences of packets ---


def shared_groups() -> Packets:
    for n in itertools.count():
        yield subscribed(n, *(f"$share/g{n}-{k}/signage/+/heartbeat" for k in range(200)))


def wildcards() -> Packets:
    for n in itertools.count():
        yield subscribed(n, "#", "signage/#", "+/+/+", f"signage/+/{n}", "$SYS/#", f"signage/{NEIGHBOUR}/commands")


def long_filters() -> Packets:
    for n in itertools.count():
        yield subscribed(n, *(f"{n}-{k}/{LONG}" for k in range(3)))


def many_levels() -> Packets:
    for n in itertools.count():
        yield subscribed(n, f"{OWN}/" + "/".join(str(n + k) for k in range(190)))


def own_topics_again() -> Packets:
    for n in itertools.count():
        own = (f"{OWN}/commands", f"{OWN}/logs_committed", f"{OWN}/log_level")
        yield subscribed(n, *own, more=b"\x0b" + length_of(n % 200_000_000 + 1))


def unsubscribing() -> Packets:
    for n in itertools.count():
        yield subscribed(n, *(f"{n}-{k}/{LONG}" for k in range(3)), first=0xA2)


def made_up_levels() -> Packets:
    for n in itertools.count():
        yield published(f"{OWN}/logs/x{n}", LARGEST, n, retain=True)


def retained_on_all_it_may() -> Packets:
    kinds = ("presence", "heartbeat", "health", "service_failed", "acks", "logs/info", "logs/error")
    for n, kind in enumerate(itertools.cycle(kinds)):
        yield published(f"{OWN}/{kind}", LARGEST, n, retain=True)


def exactly_once() -> Packets:
    for n in itertools.count():
        yield published(f"{OWN}/logs/info", LARGEST, n, qos=2)


def exactly_once_without_end() -> Packets:
    yield published(f"{OWN}/logs/info", b"x", 1, qos=2)
    while True:
        yield struct.pack("!BBH", 0x62, 2, 2)  # PUBREL


def properties() -> Packets:
    more = user_properties(3, 60_000)
    for n in itertools.count():
        yield published(f"{OWN}/logs/info", b"x", n, more=more)


def little_properties() -> Packets:
    more = user_properties(1_000, 1)
    for n in itertools.count():
        yield published(f"{OWN}/heartbeat", b"x", n, more=more)


def requests_for_answers() -> Packets:
    more = b"\x08" + string(f"signage/{NEIGHBOUR}/commands") + b"\x09" + string(LONG) + b"\x03" + string(LONG)
    for n in itertools.count():
        yield published(f"{OWN}/logs/info", b"x", n, more=more)


def aliases() -> Packets:
    for n in itertools.count():
        more = b"\x23" + struct.pack("!H", n % 10 + 1)
        yield published(f"{OWN}/logs/{'x' * 60_000}{n}", b"x", n, more=more)


def expiring() -> Packets:
    for n in itertools.count():
        yield published(f"{OWN}/heartbeat", b"{}", n, more=b"\x02" + struct.pack("!I", n % 3))


def heartbeats() -> Packets:
    for n in itertools.count():
        yield published(f"{OWN}/heartbeat", b'{"v": 1}', n)


def without_answers() -> Packets:
    for n in itertools.count():
        yield published(f"{OWN}/heartbeat", b'{"v": 1}', n, qos=0)


def largest_logs() -> Packets:
    for n in itertools.count():
        yield published(f"{OWN}/logs/info", LARGEST, n)


def empty_logs() -> Packets:
    for n in itertools.count():
        yield b"".join(published(f"{OWN}/logs/info", b"", n * 50 + k) for k in range(50))


def long_levels() -> Packets:
    for n in itertools.count():
        yield published(f"{OWN}/logs/{n}{LONG}", b"", n)


def to_neighbours() -> Packets:
    for n in itertools.count():
        yield published(f"signage/{NEIGHBOUR}/heartbeat", b"{}", n) + published("$SYS/x", b"", n)


def pings() -> Packets:
    yield from itertools.repeat(b"\xc0\x00" * 500)


def acknowledging() -> Packets:
    for n in itertools.count():
        yield b"".join(struct.pack("!BBH", kind, 2, n % 65_535 + 1) for kind in (0x40, 0x50, 0x70) * 50)


def nothing_valid() -> Packets:
    yield from itertools.cycle((packet(0xF0, b"\x18\x00"), packet(0x30, b"\xff\xff"), b"\x32\xff\xff\xff\xff\x01"))


def half_a_packet() -> Packets:
    yield b"\x32" + length_of(250_000) + bytes(200_000)
    while True:
        time.sleep(0.2)
        yield b""


def silence() -> Packets:
    yield subscribed(1, f"{OWN}/commands", f"{OWN}/logs_committed")
    while True:
        time.sleep(0.2)
        yield b""


def no_packet() -> Packets:
    while True:
        time.sleep(0.2)
        yield b""


def nothing() -> Packets:
    yield from ()


@dataclass(frozen=True)
class Way:
    """One way of abuse: the thief's packets, and how it connects."""

    name: str
    sends: Callable[[], Packets]
    more: bytes = FOREVER  # properties of CONNECT
    will: bytes | None = None  # payload
    will_delay: int = 2**32 - 1  # seconds
    keepalive: int = 65_535
    reads: bool = True  # the expected answers of the broker
    connections: int = 1  # concurrent connections; each takes the session over
    bridge_writes: bool = False  # the bridge publishes to the thief, who does not acknowledge
    bridge_is_away: bool = False  # the bridge is absent meanwhile: its queue has a limit of its own
    bridge_stands: bool = False  # the bridge is connected and reads nothing (SIGSTOP)
    announces: int = 0  # no login: a CONNECT of so many bytes that never ends
    opened_by: str = ""  # without this setting of mosquitto.conf the harm must show


AWAY: Final = ", the bridge is away"
STANDS: Final = ", the bridge stands"
WAYS: Final = (
    Way("shared groups", shared_groups, opened_by="plugin"),
    Way("wildcards", wildcards),
    Way("long filters", long_filters, opened_by="plugin"),
    Way("filters of many levels", many_levels),
    Way("own topics again and again, each time with another identifier", own_topics_again),
    Way("unsubscribing", unsubscribing),
    Way("retained on made-up levels", made_up_levels),
    Way("retained on all topics of its own", retained_on_all_it_may),
    Way("QoS 2 without an end", exactly_once, opened_by="plugin"),
    Way("QoS 2, the end alone", exactly_once_without_end),
    Way("user properties of 180 KB", properties),
    Way("a thousand user properties", little_properties),
    Way("response topic, correlation data, content type", requests_for_answers),
    Way(f"user properties of 180 KB{AWAY}", properties, bridge_is_away=True),
    Way(f"a thousand user properties{AWAY}", little_properties, bridge_is_away=True),
    Way(f"response topic, correlation data, content type{AWAY}", requests_for_answers, bridge_is_away=True),
    Way(f"heartbeats{AWAY}", heartbeats, bridge_is_away=True),
    Way(f"the largest log lines{AWAY}", largest_logs, bridge_is_away=True),
    Way(f"topics of 62 KB{AWAY}", long_levels, bridge_is_away=True),
    Way(f"topics of 62 KB{STANDS}", long_levels, bridge_stands=True),
    Way(f"empty log lines{AWAY}", empty_logs, bridge_is_away=True),
    Way(f"empty log lines{STANDS}", empty_logs, bridge_stands=True),
    Way(f"large wills at once{STANDS}", nothing, will=LARGEST, will_delay=0, connections=10, bridge_stands=True),
    Way("topic aliases for long topics", aliases),
    Way("messages that expire at once", expiring),
    Way("heartbeats", heartbeats),
    Way("heartbeats, QoS 0, answers unread", without_answers, reads=False),
    Way("heartbeats, answers unread", heartbeats, reads=False),
    Way("the largest log lines", largest_logs),
    Way("to neighbours", to_neighbours),
    Way("pings, answers unread", pings, reads=False),
    Way("acknowledgements of nothing", acknowledging),
    Way("nothing that is valid", nothing_valid),
    Way("half a packet", half_a_packet, connections=20),
    Way("connections and sessions that never end", nothing, connections=50),
    Way("large wills and large properties of them", nothing, will=LARGEST, connections=10),
    Way("without a login, half a CONNECT of 99 KB", no_packet, announces=99_000, connections=900, opened_by="plugin"),
    Way("without a login, half a CONNECT of 1 KB", no_packet, announces=1_000, connections=500),
    Way("large properties of CONNECT", nothing, more=FOREVER + user_properties(3, 60_000), connections=10),
    Way("never acknowledges, Receive Maximum 65,535", silence, more=FOREVER + b"\x21\xff\xff", bridge_writes=True),
    Way("never reads, Receive Maximum 1", silence, more=FOREVER + b"\x21\x00\x01", reads=False, bridge_writes=True),
)


def connected(port: int, way: Way, name: str = THIEF) -> socket.socket:
    """A new connection of the thief that has sent its CONNECT, or the half of one."""
    made = socket.create_connection((LOOPBACK, port), 5)
    made.settimeout(1)
    flags = 0xC0 | (0 if way.will is None else 0x2C)
    will = b""
    if way.will is not None:
        more = b"\x18" + struct.pack("!I", way.will_delay) + user_properties(1, 60_000)
        will = (
            length_of(len(more))
            + more
            + string(f"signage/{name}/presence")
            + struct.pack("!H", len(way.will))
            + way.will
        )
    head = struct.pack("!H4sBBH", 4, b"MQTT", 5, flags, way.keepalive) + length_of(len(way.more)) + way.more
    if way.announces:
        made.sendall(b"\x10" + length_of(way.announces) + head.ljust(way.announces - 100, b"x"))
    else:
        made.sendall(packet(0x10, head + string(name) + will + string(name) + string(PASSWORD)))
    return made


def steal(port: int, way: Way, seconds: float) -> None:
    """Abuse the login for `seconds`; reconnect whenever the broker closes the connection."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        crowd: list[socket.socket] = []
        with suppress(OSError):
            crowd += [connected(port, way) for _ in range(way.connections)]
            for packets in way.sends():
                if time.monotonic() > until:
                    break
                crowd[-1].sendall(packets)
                if way.reads:
                    _read(crowd[-1])
            else:
                time.sleep(0.05)
        for one in crowd:
            one.close()


def _read(connection: socket.socket) -> None:
    with suppress(BlockingIOError):
        if not connection.recv(MEGABYTE, socket.MSG_DONTWAIT):
            raise ConnectionResetError


# --- the others ---


def bridge(port: int, ready: "Event", over: "Event", writes: bool) -> None:
    """A process that reads messages of displays, and may publish to the thief."""
    wire = Wire.connect(port, "bridge", PASSWORD, clean_start=False, expiry_seconds=3600)
    wire.subscribe(*TOPICS)
    ready.set()
    with suppress(WireBroken):
        while not over.is_set():
            if writes and len(wire.unanswered) < 500:
                wire.publish(f"{OWN}/logs_committed".encode(), bytes(200))
            wire.take()
            wire.flush()
            time.sleep(0 if wire.outgoing else 0.0005)
    wire.close()


@dataclass
class Neighbour:
    """A display that publishes one heartbeat after another."""

    port: int
    longest: float = 0.0
    lost: int = 0
    wire: Wire | None = field(default=None, repr=False)

    def beat(self) -> None:
        """Publish a heartbeat, and note how long its answer took."""
        began = time.monotonic()
        try:
            if self.wire is None:
                self.wire = Wire.connect(self.port, NEIGHBOUR, PASSWORD)
            self.wire.publish(f"signage/{NEIGHBOUR}/heartbeat".encode(), b"{}")
            self.wire.settle_pubacks()
        except WireBroken:
            self.lost, self.wire = self.lost + 1, None
        self.longest = max(self.longest, time.monotonic() - began)

    def close(self) -> None:
        """Disconnect."""
        if self.wire is not None:
            self.wire.close()


@dataclass
class Taken:
    """The harm of one way."""

    longest: float = 0.0  # longest time until a heartbeat of the neighbour was answered
    lost: int = 0  # lost connections of the neighbour
    megabytes: float = 0.0  # the most megabytes of memory
    left: float = 0.0  # megabytes of memory after the revocation
    saved: float = 0.0  # megabytes of the saved file after it
    staying: float = 0.0  # processor time of a heartbeat with the thief's session, as a multiple of that before
    times: float = 0.0  # and after the revocation

    def takes(self, way: Way) -> bool:
        """Whether it takes others' room or connections, on a machine of any speed."""
        most = WAITING_MEGABYTES if way.bridge_is_away or way.bridge_stands else MORE_MEGABYTES
        return self.megabytes > most or self.saved > LEFT_MEGABYTES or self.lost > 0

    @property
    def slows(self) -> bool:
        """Whether heartbeats of others cost the broker more, while the thief's session is there or afterwards."""
        return max(self.staying, self.times) > TIMES


@dataclass(frozen=True)
class Plan:
    """The ways, and the length of each."""

    seconds: float = 8.0
    ways: tuple[Way, ...] = WAYS
    beats: int = 2_000  # heartbeats of a measurement
    seed: int = 1


def run(plan: Plan, folder: Path) -> Ledger:
    """Try every way, and some of them again without the setting that prevents them. Returns the ledger."""
    ledger = Ledger("stolen", plan.seed, {"ways": len(plan.ways), "seconds each": round(plan.seconds)})
    began = time.monotonic()
    for number, way in enumerate(plan.ways):
        taken = go(folder / f"{number}", way, plan, shipped, LOOKS)
        tell(f"{way.name}: {taken}")
        ledger.conditions[f"{way.name}: bounded, and nothing is left"] = not taken.takes(way)
        ledger.limits[f"{way.name}: a heartbeat costs at most {TIMES:g} times as much"] = not taken.slows
        ledger.limits[f"{way.name}: a neighbour waits less than {WITHIN_SECONDS:g} s"] = taken.longest < WITHIN_SECONDS
        for name, value in (("longest answer, s", taken.longest), ("memory, MB", taken.megabytes)):
            ledger.counted[name] = max(ledger.counted.get(name, 0.0), round(value, 2))
        if way.opened_by:
            open_door = go(folder / f"{number}-open", way, plan, undone(way.opened_by), LOOKS_AT_HARM)
            tell(f"... without {way.opened_by}: {open_door}")
            ledger.experiments[f"{way.name}: harms without {way.opened_by}"] = open_door.takes(way) or open_door.slows
    ledger.seconds = time.monotonic() - began
    return ledger


def undone(setting: str) -> Callable[[str], str]:
    """mosquitto.conf without this protection; without the plugin the displays' logins are in mosquitto's own file."""

    def change(text: str) -> str:
        lines = text.splitlines()
        if setting == "plugin":
            passwords = next(line.split(" ", 1)[1] for line in lines if line.startswith("plugin_opt_logins "))
            services = next(line.split(" ", 1)[1] for line in lines if line.startswith("password_file "))
            with Path(services).open("a", encoding="utf-8") as file:
                file.write(Path(passwords).read_text(encoding="utf-8"))
        return "\n".join(line for line in lines if not line.startswith(setting)) + "\n"

    return change


def unguarded(text: str) -> str:
    """mosquitto.conf without the plugin, and with rights for log levels of any name."""
    rights = next(Path(line.split(" ", 1)[1]) for line in text.splitlines() if line.startswith("acl_file "))
    with rights.open("a", encoding="utf-8") as file:
        file.write("\npattern write signage/%u/logs/+\n")
    return undone("plugin")(text)


def go(folder: Path, way: Way, plan: Plan, change: Callable[[str], str], looks: int) -> Taken:
    """Try one way, with a neighbour and a bridge."""
    folder.mkdir()
    taken = Taken()
    with (
        broker(folder, change, (THIEF, NEIGHBOUR)) as (place, component),
        closing(Neighbour(place.displays_port)) as neighbour,
    ):
        with bridging(place):
            usual, before = processor_time(neighbour, component, plan.beats), megabytes(component)
            neighbour.longest = 0.0

        def times() -> float:
            """The processor time of a heartbeat as a multiple of the usual one, after the queues are empty."""
            found = 0.0
            for _ in range(looks):
                found = processor_time(neighbour, component, plan.beats) / usual
                diary.progress(f"a heartbeat takes {found:.1f} times as long")
                if found <= TIMES:
                    break
            return found

        with (
            nullcontext() if way.bridge_is_away else bridging(place, writes=way.bridge_writes, stands=way.bridge_stands)
        ):
            with stealing(place, way, plan.seconds) as thief:
                while thief.is_alive():
                    neighbour.beat()
                    taken.megabytes = max(taken.megabytes, megabytes(component) - before)
                    thief.join(0.02)
            taken.longest = neighbour.longest
        with bridging(place):
            taken.staying = times()
        revoke(place)
        with bridging(place):
            taken.times = times()
        with suppress(TimeoutError):  # the broker saves each second at most
            wait_until(lambda: saved_megabytes(place) < LEFT_MEGABYTES, 120)
        taken.left, taken.saved = megabytes(component) - before, saved_megabytes(place)
        taken.lost = neighbour.lost
    return taken


@contextmanager
def bridging(place: mosquitto.Broker, *, writes: bool = False, stands: bool = False) -> Iterator[None]:
    """Run a process that reads messages of displays; one that `stands` begins to read at the end of the block."""
    ready, over = PROCESSES.Event(), PROCESSES.Event()
    reader = PROCESSES.Process(target=bridge, args=(place.services_port, ready, over, writes))
    reader.start()
    ready.wait()
    assert reader.pid is not None
    if stands:
        os.kill(reader.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(reader.pid, signal.SIGCONT)
        over.set()
        reader.join(60)


@contextmanager
def stealing(place: mosquitto.Broker, way: Way, seconds: float) -> Iterator["BaseProcess"]:
    """Run the thief's process; it is always ended."""
    thief = PROCESSES.Process(target=steal, args=(place.displays_port, way, seconds))
    thief.start()
    try:
        yield thief
    finally:
        thief.kill()
        thief.join()


def revoke(place: mosquitto.Broker) -> None:
    """Revoke the login by replacing the file at once, as the accounts program does."""
    lines = place.displays_password_file.read_text(encoding="utf-8").splitlines(keepends=True)
    write_file(place.displays_password_file, "".join(line for line in lines if not line.startswith(THIEF)))
    if "plugin" in place.configuration.read_text(encoding="utf-8"):
        wait_until(lambda: _is_refused(place.displays_port), 60)


def _is_refused(port: int) -> bool:
    try:
        Wire.connect(port, THIEF, PASSWORD).close()
    except WireBroken:
        return True
    return False


def processor_time(neighbour: Neighbour, component: Component, most: int) -> float:
    """The broker's processor time for one heartbeat of the neighbour, in seconds."""
    assert component.process is not None
    before, beats, used = _ticks(component.process.pid), 0, 0.0
    while beats < most and used < ENOUGH_SECONDS:
        neighbour.beat()
        beats += 1
        used = (_ticks(component.process.pid) - before) / os.sysconf("SC_CLK_TCK")
    return max(0.01, used) / beats


def _ticks(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def megabytes(component: Component) -> float:
    """The broker's private memory in megabytes."""
    assert component.process is not None
    lines = Path(f"/proc/{component.process.pid}/status").read_text(encoding="utf-8").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024


def saved_megabytes(place: mosquitto.Broker) -> float:
    """The size of the broker's file after its next save, in megabytes."""
    return sum(file.stat().st_size for file in place.data.glob("mosquitto.db")) / MEGABYTE
