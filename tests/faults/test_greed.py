"""How much of the broker one or many displays can use. Each test also runs without the limit, to show its effect."""

import resource
import socket
import ssl
import struct
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from deploy.parts.broker import Broker
from deploy.parts.broker_launch import may_open_files
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, wait_until
from tests.deploy.certificates import Authority
from tests.lab.campaigns import stolen
from tests.lab.campaigns.fleet import PASSWORD
from tests.lab.campaigns.lone_broker import NAME, bridge_session, broker, shipped, without
from tests.lab.campaigns.machine import Component
from tests.lab.campaigns.wire import Puback, Received, Wire, WireBroken

MEGABYTE = 2**20
LARGEST = 65_536  # the largest payload that the broker takes, in bytes
NO_SUBSCRIBERS, NOT_AUTHORIZED, TOO_LARGE = 0x10, 0x87, 0x95
TRIES = 3
AT_ONCE, A_SECOND = 16_000_000, 2_000_000  # the most bytes of one display: deploy/parts/broker_door.c
BESIDE = 512  # what a message costs beside its topic and payload, in bytes: there too
CONNECT_MOST, MOST_STRANGERS, STRANGER_SECONDS = 1024, 1024, 10.0  # and there
LOGS = f"signage/{NAME}/logs/info".encode()


def megabytes(component: Component) -> float:
    """The private memory of the process in megabytes."""
    assert component.process is not None
    lines = Path(f"/proc/{component.process.pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024


def answered(wire: Wire) -> list[int]:
    """The reason codes of all publishes, in the order of the answers."""
    codes: list[int] = []

    def all_of_it() -> bool:
        wire.flush()
        codes.extend(event.code for event in wire.take() if isinstance(event, Puback))
        return not wire.unanswered

    wait_until(all_of_it, 60)
    return codes


def sent_of(place: Broker, size: int) -> int:
    """How many bytes of a message of this size a display could send before the broker closed the connection."""
    wire = Wire.connect(place.displays_port, NAME, PASSWORD)
    body = struct.pack("!H", len(LOGS)) + LOGS + struct.pack("!HB", 1, 0)
    wire.outgoing += b"\x32" + remaining_length(len(body) + size) + body
    sent, piece = 0, bytes(MEGABYTE)

    def is_over() -> bool:
        nonlocal sent
        while sent < size and len(wire.outgoing) < MEGABYTE:
            wire.outgoing += piece
            sent += MEGABYTE
        wire.flush()
        return sent >= size and not wire.outgoing

    with suppress(WireBroken):
        wait_until(is_over, 60)
    wire.close()
    return sent


def remaining_length(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


@pytest.mark.parametrize(
    ("change", "size", "is_stopped"),
    [
        (shipped, 200 * MEGABYTE, True),
        (without("max_packet_size", "message_size_limit"), 16 * MEGABYTE, False),
    ],
)
def test_a_message_of_200_megabytes_is_hung_up_on_before_it_takes_any_memory(
    tmp_path: Path, change: Callable[[str], str], size: int, is_stopped: bool
) -> None:
    with broker(tmp_path, change) as (place, component):
        bridge = bridge_session(place)
        before = megabytes(component)

        sent = sent_of(place, size)

        wire = Wire.connect(place.displays_port, NAME, PASSWORD)
        wire.publish(LOGS, b"well")
        assert answered(wire) == [0]
        wire.close()
        came = [event for event in bridge.take() if isinstance(event, Received) and event.payload == b"well"]
        bridge.close()
        assert (sent < size) is is_stopped
        if is_stopped:
            assert len(came) == 1
            assert megabytes(component) < before + 8


def test_a_payload_above_64_kib_is_refused_and_the_display_stays(tmp_path: Path) -> None:
    with broker(tmp_path) as (place, _):
        bridge_session(place).close()
        wire = Wire.connect(place.displays_port, NAME, PASSWORD)
        for size in (LARGEST, LARGEST + 1, 200_000, 1):
            wire.publish(LOGS, bytes(size))

        assert answered(wire) == [0, TOO_LARGE, TOO_LARGE, 0]
        wire.close()


SMALL_BOUND = 8 * MEGABYTE
no_door = stolen.undone("plugin")


def small_bound(text: str) -> str:
    """mosquitto.conf with a thirtieth of the limit, and without the door, which has a lower limit for one display."""
    assert "max_queued_bytes 268435456\n" in text
    return no_door(text).replace("max_queued_bytes 268435456", f"max_queued_bytes {SMALL_BOUND}")


def no_bound(text: str) -> str:
    return no_door(text).replace("max_queued_bytes 268435456", "max_queued_bytes 0")


@pytest.mark.parametrize(("change", "is_bounded"), [(small_bound, True), (no_bound, False)])
def test_what_waits_for_an_absent_bridge_takes_only_so_much_memory_and_disk(
    tmp_path: Path, change: Callable[[str], str], is_bounded: bool
) -> None:
    """The broker saves all waiting messages each second, and does not answer meanwhile."""
    with broker(tmp_path, change) as (place, component):
        bridge_session(place).close()
        before = megabytes(component)
        wire = Wire.connect(place.displays_port, NAME, PASSWORD)
        for _ in range(8 * SMALL_BOUND // LARGEST):
            wire.publish(LOGS, bytes(LARGEST))
        answered(wire)
        wire.close()

        grown = (megabytes(component) - before) * MEGABYTE

        assert (grown < 3 * SMALL_BOUND) is is_bounded
        if is_bounded:
            bridge = bridge_session(place)  # subscribes again: the answer comes after all waiting messages
            kept = [event for event in bridge.take() if isinstance(event, Received)]
            bridge.close()
            assert SMALL_BOUND // 2 < len(kept) * LARGEST < 2 * SMALL_BOUND


@pytest.mark.parametrize("size", [LARGEST, 0])
@pytest.mark.parametrize(("change", "is_bounded"), [(shipped, True), (no_door, False)])
def test_a_displays_heartbeats_pass_beside_logs_without_end(
    tmp_path: Path, change: Callable[[str], str], is_bounded: bool, size: int
) -> None:
    costs = len(LOGS) + size + BESIDE
    with broker(tmp_path, change) as (place, _):
        bridge_session(place).close()
        wire = Wire.connect(place.displays_port, NAME, PASSWORD)
        began, codes = time.monotonic(), list[int]()
        taken = most = 0.0
        for _ in range(TRIES):
            for _ in range(min(60_000, 3 * AT_ONCE // costs)):  # there are 65,535 packet ids
                wire.publish(LOGS, bytes(size))
            codes += answered(wire)
            taken, most = codes.count(0) * costs, AT_ONCE + A_SECOND * (time.monotonic() - began)
            if taken > most or NOT_AUTHORIZED in codes:
                break
        else:
            pytest.skip("did not come about: this machine sends less than the door lets through")
        wire.publish(LOGS.replace(b"logs/info", b"heartbeat"), bytes(LARGEST))
        heartbeat = answered(wire)
        wire.close()

        assert (taken <= most) is is_bounded
        assert taken > AT_ONCE - 2 * LARGEST
        assert set(codes) == ({0, NOT_AUTHORIZED} if is_bounded else {0})
        assert heartbeat == [NO_SUBSCRIBERS]  # of this session; it was accepted


@pytest.mark.parametrize(("change", "is_bounded"), [(shipped, True), (no_door, False)])
def test_what_a_display_adds_to_its_messages_takes_no_memory_while_they_wait(
    tmp_path: Path, change: Callable[[str], str], is_bounded: bool
) -> None:
    """Mosquitto counts only payloads towards the limit of waiting messages."""
    with broker(tmp_path, change) as (place, component):
        bridge_session(place).close()
        before = megabytes(component)
        wire = Wire.connect(place.displays_port, NAME, PASSWORD)
        more = stolen.user_properties(3, 60_000)
        for number in range(200):
            wire.outgoing += stolen.published(LOGS.decode(), b"x", number, more=more)
            wire.unanswered.add(number + 1)
        wire.settle_pubacks()
        wire.close()

        grown = megabytes(component) - before

        assert (grown < 8) is is_bounded


def topics_of_64_kilobytes(place: Broker) -> None:
    wire = Wire.connect(place.displays_port, NAME, PASSWORD)
    for number in range(300):
        wire.publish(LOGS + bytes([97 + number % 26]) * 64_000, b"")
    answered(wire)
    wire.close()


def wills_of_80_kilobytes(place: Broker) -> None:
    way = stolen.Way("wills", stolen.nothing, will=bytes(20_000), will_delay=0)
    for _ in range(300):
        with suppress(OSError), stolen.connected(place.displays_port, way, NAME) as display:
            display.recv(5)


@pytest.mark.parametrize("flood", [topics_of_64_kilobytes, wills_of_80_kilobytes])
@pytest.mark.parametrize(("change", "is_bounded"), [(shipped, True), (stolen.unguarded, False)])
def test_what_a_display_says_beside_its_payloads_takes_no_memory_while_it_waits(
    tmp_path: Path, change: Callable[[str], str], is_bounded: bool, flood: Callable[[Broker], None]
) -> None:
    with broker(tmp_path, change) as (place, component):
        bridge = bridge_session(place)
        bridge.subscribe("signage/+/presence")
        bridge.close()
        before = megabytes(component)

        flood(place)

        assert (megabytes(component) - before < 8) is is_bounded


def strangers(port: int, count: int, announced: int, sent: int) -> Iterator[socket.socket]:
    """Connect so often, and each time send the beginning of a CONNECT."""
    begun = (b"\x10" + remaining_length(announced) + b"\x00\x04MQTT\x05\x02\0\0\0\0\xff\xff").ljust(sent, b"a")
    for _ in range(count):
        one = socket.create_connection((LOOPBACK, port), 60)
        with suppress(OSError):  # the broker has hung up already
            one.sendall(begun[:sent])
        yield one


def is_ended(connection: socket.socket) -> bool:
    """Whether the broker has ended the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize(
    ("announced", "sent", "stays"),
    [
        (99_000, 98_000, False),  # from 2.0.12 on Mosquitto itself refuses 100,000 bytes
        (255_000, 3, False),
        (CONNECT_MOST, 1_000, False),
        (CONNECT_MOST - 1, 1_000, True),
        (CONNECT_MOST, 0, True),
    ],
)
@pytest.mark.parametrize(("change", "is_bounded"), [(shipped, True), (no_door, False)])
def test_a_stranger_takes_two_kilobytes_of_the_broker(
    tmp_path: Path, change: Callable[[str], str], is_bounded: bool, announced: int, sent: int, stays: bool
) -> None:
    folder = tmp_path / "of: one"  # LD_PRELOAD takes no such path
    folder.mkdir()
    with broker(folder, change) as (place, component), ExitStack() as stack:
        before, count = megabytes(component), 300

        crowd = [stack.enter_context(one) for one in strangers(place.displays_port, count, announced, sent)]

        if is_bounded and not stays:
            wait_until(lambda: all(map(is_ended, crowd)), 60)
        Wire.connect(place.displays_port, NAME, PASSWORD).close()
        bytes_of_each = (megabytes(component) - before) * MEGABYTE / count
        assert (bytes_of_each < 2_500) is (is_bounded or sent < CONNECT_MOST)


def hello(port: int) -> socket.socket:
    """Connect, and announce a ClientHello of 131 KB."""
    made = socket.create_connection((LOOPBACK, port), 60)
    begun = b"\x01\x01\xff\x00\x03\x03".ljust(900, b"x")
    made.sendall(b"\x16\x03\x01" + struct.pack("!H", len(begun)) + begun)
    return made


def half_a_connect_in_tls(port: int, authority: Path) -> socket.socket:
    """Finish TLS's handshake, and send nearly all of a CONNECT of 99 KB."""
    context = ssl.create_default_context(cafile=authority)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # which Python 3.13 asks for
    made = context.wrap_socket(socket.create_connection((LOOPBACK, port), 60), server_hostname=LOOPBACK)
    with suppress(OSError):
        made.sendall(b"\x10" + remaining_length(99_000) + bytes(95_000))
    return made


@pytest.mark.parametrize("kind", ["hello", "connect"])
@pytest.mark.parametrize(("change", "is_bounded"), [(shipped, True), (no_door, False)])
def test_a_stranger_takes_little_more_in_tls(
    tmp_path: Path, change: Callable[[str], str], is_bounded: bool, kind: str
) -> None:
    authority, port = Authority(tmp_path), free_port()
    certificate, key = authority.sign("broker")
    key.chmod(0o644)

    def in_tls(text: str) -> str:
        return change(text) + f"\nlistener {port} {LOOPBACK}\ncertfile {certificate}\nkeyfile {key}\n"

    with broker(tmp_path, in_tls) as (place, component), ExitStack() as stack:
        before, count = megabytes(component), 100

        for _ in range(count):
            stack.enter_context(hello(port) if kind == "hello" else half_a_connect_in_tls(port, authority.ca_file))
        Wire.connect(place.displays_port, NAME, PASSWORD).close()

        bytes_of_each = (megabytes(component) - before) * MEGABYTE / count
        if not is_bounded and bytes_of_each < 64_000:
            pytest.skip("did not come about: this OpenSSL itself makes no room for so large a message")
        assert (bytes_of_each < 64_000) is is_bounded


def test_strangers_beyond_the_limit_end_the_oldest_of_them_and_no_display(tmp_path: Path) -> None:
    with broker(tmp_path) as (place, component), ExitStack() as stack:
        display = stack.enter_context(closing(Wire.connect(place.displays_port, NAME, PASSWORD)))
        before, began = megabytes(component), time.monotonic()
        first = [stack.enter_context(one) for one in strangers(place.displays_port, 10, 0, 0)]
        for one in strangers(place.displays_port, MOST_STRANGERS, CONNECT_MOST - 1, 1_000):
            stack.enter_context(one)

        if time.monotonic() - began > STRANGER_SECONDS / 2:
            pytest.skip("did not come about: this machine connects so slowly that the time ends them")
        wait_until(lambda: all(map(is_ended, first)), 60)
        assert time.monotonic() - began < STRANGER_SECONDS
        bridge_session(place).close()
        display.publish(LOGS, b"well")

        assert answered(display) == [0]
        assert megabytes(component) < before + 8


def test_a_stranger_has_ten_seconds_and_a_display_the_time_it_wants(tmp_path: Path) -> None:
    with broker(tmp_path) as (place, _), ExitStack() as stack:
        display = stack.enter_context(closing(Wire.connect(place.displays_port, NAME, PASSWORD)))
        began = time.monotonic()
        ports = (place.displays_port, place.services_port)
        crowd = [stack.enter_context(one) for port in ports for one in strangers(port, 5, 200, 100)]

        wait_until(lambda: any(map(is_ended, crowd)), 60)
        assert time.monotonic() - began > STRANGER_SECONDS
        wait_until(lambda: all(map(is_ended, crowd)), 60)
        display.publish(LOGS, b"well")
        assert answered(display) == [NO_SUBSCRIBERS]


@contextmanager
def few_files(number: int) -> Iterator[None]:
    """Limit the open files of this process and its children, like Debian's default but lower."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_more_displays_than_a_program_may_open_files_are_connected_at_once(tmp_path: Path) -> None:
    names = [str(uuid.UUID(int=number)) for number in range(1, 400)]
    with few_files(256), broker(tmp_path, names=names) as (place, component):
        assert component.process is not None
        limits = Path(f"/proc/{component.process.pid}/limits").read_text()
        (may_open,) = [int(line.split()[3]) for line in limits.splitlines() if line.startswith("Max open files")]
        assert may_open == may_open_files()
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        wires = [Wire.connect(place.displays_port, name, PASSWORD) for name in names]
        for wire, name in zip(wires, names, strict=True):
            wire.publish(f"signage/{name}/heartbeat".encode(), b"{}")

        assert all(answered(wire) for wire in wires)
        for wire in wires:
            wire.close()
