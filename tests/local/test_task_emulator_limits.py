"""When the local Cloud Tasks delivers and when it does not: times, limits, deadlines, broken answers."""

import socket
import threading
import time
from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.local.queue_harness import HELD_SECONDS, HOUR, LOCATION, Answer, Call, Emulator, Worker, at, wait_until


def test_a_task_waits_for_its_time(queue_service: Emulator, running: str, target: Worker) -> None:
    queue_service.add(running, "in-an-hour", target.url, schedule_time=at(HOUR))
    queue_service.add(running, "now", target.url)
    wait_until(lambda: target.calls, "the call")
    began = time.monotonic()
    queue_service.add(running, "soon", target.url, schedule_time=at(0.7))

    wait_until(lambda: len(target.calls) == 2, "both calls")

    assert [call.task for call in target.calls] == ["now", "soon"]
    assert target.calls[1].at - began >= 0.65


def test_no_more_are_under_way_than_the_queue_allows(queue_service: Emulator, running: str, target: Worker) -> None:
    name = f"{LOCATION}/queues/two-at-once"
    released = threading.Event()
    most: list[int] = []
    under_way: set[str] = set()

    def hold(call: Call) -> Answer:
        if call.task != "other":
            under_way.add(call.task)
            most.append(len(under_way))
            released.wait(HELD_SECONDS)
            under_way.discard(call.task)
        return 200, {}

    target.answer = hold
    for number in range(6):
        queue_service.add(name, f"n{number}", target.url)
    wait_until(lambda: len(under_way) == 2, "two under way")
    queue_service.add(running, "other", target.url)  # another queue is not held up
    wait_until(lambda: target.calls_of("other"), "the call from another queue")
    assert len(under_way) == 2

    released.set()
    wait_until(lambda: not queue_service.names(name), "the end of all")
    assert max(most) == 2
    assert len(target.calls) == 7


def test_the_rate_is_kept(queue_service: Emulator, target: Worker) -> None:
    name = f"{LOCATION}/queues/ten-a-second"
    made = [queue_service.add(name, f"n{number}", target.url) for number in range(18)]

    wait_until(lambda: not queue_service.names(name), "the end of all")

    assert len(target.calls) == 18  # ten at once, eight more at ten a second
    began = [queue_service.row(task)["first_dispatched_at"] for task in made]
    assert max(began) - min(began) >= timedelta(seconds=0.7)


def test_an_attempt_ends_at_the_deadline_even_when_the_worker_trickles(queue_service: Emulator) -> None:
    hourly = f"{LOCATION}/queues/hourly"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        trickle = threading.Thread(target=_trickle, args=(listening,), daemon=True)
        trickle.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        task = queue_service.add(hourly, "slow", url, schedule_time=at(HOUR))
        # Below the 15 s that the API allows, so that the test takes less time.
        queue_service.change(hourly, dispatch_deadline_ms=600, scheduled_at=sa.func.now())

        wait_until(lambda: "DEADLINE" in (queue_service.row(task)["last_failure"] or ""), "the end of the attempt")

    found = queue_service.row(task)
    assert (found["dispatch_count"], found["response_count"]) == (1, 0)
    trickle.join(60)
    assert not trickle.is_alive()  # the emulator closed the connection


def _trickle(listening: socket.socket) -> None:
    """Answer one byte at a time, without an end: each read of the caller is quick."""
    connection, _ = listening.accept()
    with connection:
        try:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while True:
                connection.sendall(b"x")
                time.sleep(0.05)
        except OSError:
            return


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"not HTTP\r\n\r\n",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ],
    ids=["nothing", "no HTTP", "half a status", "no headers", "half a header", "half a body", "half the chunks"],
)
def test_an_answer_that_is_no_whole_one_is_none(reply: bytes, queue_service: Emulator, running: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        task = queue_service.add(running, "broken", url)
        for _ in range(2):
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(reply)

        wait_until(lambda: queue_service.row(task)["dispatch_count"] >= 2, "a second try")

    assert queue_service.row(task)["response_count"] == 0
