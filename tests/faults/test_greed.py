"""How much of the broker one or many displays can use. Each test also runs without the limit, to show its effect."""

import resource
import struct
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from deploy.parts.broker import Broker
from deploy.parts.broker_launch import may_open_files
from deploy.parts.probes import wait_until
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


@pytest.mark.parametrize(("change", "is_bounded"), [(shipped, True), (no_door, False)])
def test_a_displays_heartbeats_pass_beside_logs_without_end(
    tmp_path: Path, change: Callable[[str], str], is_bounded: bool
) -> None:
    with broker(tmp_path, change) as (place, _):
        bridge_session(place).close()
        wire = Wire.connect(place.displays_port, NAME, PASSWORD)
        began, codes = time.monotonic(), list[int]()
        taken = most = 0.0
        for _ in range(TRIES):
            for _ in range(3 * AT_ONCE // LARGEST):
                wire.publish(LOGS, bytes(LARGEST))
            codes += answered(wire)
            taken, most = codes.count(0) * LARGEST, AT_ONCE + A_SECOND * (time.monotonic() - began)
            if taken > most or NOT_AUTHORIZED in codes:
                break
        else:
            pytest.skip("did not come about: this machine sends less than the door lets through")
        wire.publish(LOGS.replace(b"logs/info", b"heartbeat"), bytes(LARGEST))
        heartbeat = answered(wire)
        wire.close()

        assert (taken <= most) is is_bounded
        assert taken > AT_ONCE - LARGEST
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
