"""What the product leans on at a broker, as rules that a broker keeps or not. No code of the product is used.

Each rule has displays of its own: what a rule leaves behind cannot help or harm the next one.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count, repeat
from typing import Any, Final

from tests.lab.campaigns.broker_client import Caller, at_once, until

NOBODY, REFUSED, TAKEN_OVER = 0x10, 0x87, 0x8E
BRIDGE: Final = ("heartbeat", "health", "logs/+", "service_failed", "presence", "acks")
LOGS: Final = "signage/+/logs/+"
DAY: Final = 86_400
QUIET_SECONDS: Final = 1.0  # nothing more comes after so long
CLEANED_SECONDS: Final = 300.0  # a session lasts a day: a broker may end it some minutes late
OF_A_PROCESS: Final = 200  # displays: paho waits with select, which takes no file numbers above 1,023


@dataclass
class Place:
    """A broker, its users, and the means to end and start it."""

    displays_port: int
    services_port: int
    displays: list[str]
    password: str  # of each user
    kill: Callable[[], None]
    stop: Callable[[], None]
    start: Callable[[], None]
    waiting: int = 20_000  # messages of the rule of a backlog
    herd: int = 1_000

    def __post_init__(self) -> None:
        self._next = count()

    def name(self) -> str:
        """A display that no rule had before."""
        return self.displays[next(self._next)]

    def display(self, name: str, **options: Any) -> Caller:
        return Caller(self.displays_port, name, self.password, **options)

    def service(self, name: str, **options: Any) -> Caller:
        return Caller(self.services_port, name, self.password, **options)

    @contextmanager
    def bridge(self, name: str = "bridge", *topics: str, **options: Any) -> Iterator[Caller]:
        """A new session of the bridge on these topics, forgotten afterwards."""
        self.forget(name)
        one = self.service(name, **options)
        try:
            one.subscribe(*(topics or (f"signage/+/{topic}" for topic in BRIDGE)))
            yield one
        finally:
            one.drop()
            self.forget(name)

    def forget(self, name: str) -> None:
        """End a service's session."""
        self.service(name, clean=True, expiry=0).leave()

    def sent(self, topic: str, payload: bytes = b"{}") -> int | None:
        """The broker's answer to a publish of the api."""
        api = self.service("api", client_id="api-1", clean=True, expiry=0)
        try:
            return api.publish(topic, payload)
        finally:
            api.leave()


Rule = Callable[[Place], bool]
RULES: dict[str, Rule] = {}
TOLERATED: set[str] = set()
"""Rules that a broker may break: the product works without them, and docs/deploying.md says how."""


def rule(name: str, *, tolerated: bool = False) -> Callable[[Rule], Rule]:
    def named(made: Rule) -> Rule:
        RULES[name] = made
        if tolerated:
            TOLERATED.add(name)
        return made

    return named


@rule("a session is granted for a day")
def _(place: Place) -> bool:
    one = place.display(place.name(), expiry=DAY)
    granted = one.is_in and one.seen.granted.get("SessionExpiryInterval", DAY) == DAY
    one.leave(expiry=0)
    return granted


@rule("no login is refused")
def _(place: Place) -> bool:
    return not Caller(place.displays_port, None, None).is_in


@rule("a wrong password is refused")
def _(place: Place) -> bool:
    return not Caller(place.displays_port, place.name(), "wrong").is_in


@rule("a display cannot take the bridge's client id")
def _(place: Place) -> bool:
    with place.bridge() as bridge:
        thief = place.display(place.name(), client_id="bridge")
        return not _hears(thief, bridge, place) and bridge.is_in


def _hears(thief: Caller, bridge: Caller, place: Place) -> bool:
    """Whether the thief, not the bridge, gets what a display says."""
    name = place.name()
    place.display(name, clean=True).publish(f"signage/{name}/heartbeat", b"mine")
    until(lambda: bridge.payloads, 5)
    return b"mine" in thief.payloads or b"mine" not in bridge.payloads


@rule("a second connection ends the first")
def _(place: Place) -> bool:
    name = place.name()
    first = place.display(name)
    second = place.display(name)
    return until(lambda: first.seen.ended is not None) and second.is_in


@rule("the first one hears why (0x8E)", tolerated=True)
def _(place: Place) -> bool:
    name = place.name()
    first = place.display(name)
    place.display(name)
    return until(lambda: first.seen.ended is not None) and first.seen.ended == TAKEN_OVER


def _listening(place: Place, name: str, **options: Any) -> Caller:
    one = place.display(name, **options)
    one.subscribe(f"signage/{name}/commands")
    return one


@rule("what comes meanwhile waits in the session")
def _(place: Place) -> bool:
    name = place.name()
    _listening(place, name).drop()
    answer = place.sent(f"signage/{name}/commands", b"waits")
    again = place.display(name)
    return answer == 0 and again.seen.session_present and until(lambda: again.payloads == [b"waits"])


@rule("a session ends when its time is over, then 0x10")
def _(place: Place) -> bool:
    name = place.name()
    _listening(place, name, expiry=3).drop()
    kept = place.sent(f"signage/{name}/commands") == 0
    time.sleep(5)
    return kept and until(lambda: place.sent(f"signage/{name}/commands") == NOBODY, CLEANED_SECONDS)


@rule("a DISCONNECT with expiry 0 ends it at once")
def _(place: Place) -> bool:
    name = place.name()
    _listening(place, name).leave(expiry=0)
    return until(lambda: place.sent(f"signage/{name}/commands") == NOBODY, 3)


@rule("a DISCONNECT without keeps it")
def _(place: Place) -> bool:
    name = place.name()
    _listening(place, name).leave()
    return place.sent(f"signage/{name}/commands") == 0


@rule("0x10 says that nobody listens, 0x00 that somebody does")
def _(place: Place) -> bool:
    name = place.name()
    before = place.sent(f"signage/{name}/commands")
    one = _listening(place, name)
    after = place.sent(f"signage/{name}/commands")
    one.leave(expiry=0)
    return (before, after) == (NOBODY, 0)


@contextmanager
def _shown(place: Place) -> Iterator[str]:
    """A display whose retained presence is gone afterwards: the sessions of later rules would get it."""
    name = place.name()
    try:
        yield name
    finally:
        one = place.display(name, clean=True, expiry=0)
        one.publish(_presence(name), b"", retain=True)
        one.leave()


def _presence(name: str) -> str:
    return f"signage/{name}/presence"


def _with_will(place: Place, name: str, delay: int, **options: Any) -> Caller:
    return place.display(name, will=(_presence(name), delay), **options)


def _is_told(bridge: Caller, name: str, seconds: float = 15) -> bool:
    """Whether the bridge hears of this display's presence: wills of displays of other rules may come meanwhile."""
    return until(lambda: any(one.topic == _presence(name) for one in list(bridge.seen.messages)), seconds)


@rule("a will waits for its delay, then comes")
def _(place: Place) -> bool:
    with _shown(place) as name, place.bridge() as bridge:
        _with_will(place, name, 3).drop()
        return not _is_told(bridge, name, 1) and _is_told(bridge, name)


@rule("who comes back within the delay leaves no will")
def _(place: Place) -> bool:
    with _shown(place) as name, place.bridge() as bridge:
        return _leaves_none(place, name, bridge, QUIET_SECONDS)


@rule("nor does who comes back at once", tolerated=True)
def _(place: Place) -> bool:
    with place.bridge() as bridge:
        return all(_leaves_none(place, place.name(), bridge, 0) for _ in range(3))


def _leaves_none(place: Place, name: str, bridge: Caller, seconds: float) -> bool:
    """Whether this display leaves no will when it is back after so many seconds."""
    _with_will(place, name, 3).drop()
    time.sleep(seconds)
    again = _with_will(place, name, 3)
    return not _is_told(bridge, name, 5) and again.is_in


@rule("the end of a session sends its will")
def _(place: Place) -> bool:
    with _shown(place) as name, place.bridge() as bridge:
        _with_will(place, name, 600, expiry=2).drop()
        return _is_told(bridge, name)


@rule("a DISCONNECT in order drops the will")
def _(place: Place) -> bool:
    with _shown(place) as name, place.bridge() as bridge:
        _with_will(place, name, 0).leave(expiry=0)
        return not _is_told(bridge, name, 3)


@contextmanager
def _kept(place: Place) -> Iterator[str]:
    """The topic of a presence that is retained meanwhile."""
    with _shown(place) as name:
        one = place.display(name, clean=True)
        one.publish(_presence(name), b"kept", retain=True)
        one.leave()
        yield _presence(name)


@rule("a wildcard brings what is retained", tolerated=True)
def _(place: Place) -> bool:
    with _kept(place) as topic, place.bridge("bridge_urgent", "signage/+/presence") as urgent:
        return until(lambda: any(one.topic == topic and one.retain for one in urgent.seen.messages), 5)


@rule("retain handling 1 is kept to", tolerated=True)
def _(place: Place) -> bool:
    with _kept(place), place.bridge("bridge_urgent", "signage/+/presence") as urgent:
        until(lambda: urgent.payloads, 5)
        before = len(urgent.payloads)
        urgent.subscribe("signage/+/presence", handling=1)
        return before > 0 and not until(lambda: len(urgent.payloads) > before, QUIET_SECONDS)


@rule("a message's expiry is counted down and passed on")
def _(place: Place) -> bool:
    name = place.name()
    _listening(place, name).drop()
    api = place.service("api", client_id="api-1", clean=True, expiry=0)
    api.publish(f"signage/{name}/commands", b"{}", expiry=60)
    time.sleep(2.5)
    one = place.display(name)
    return until(lambda: one.seen.messages) and 50 <= (one.seen.messages[0].expiry or 0) <= 58


@rule("what is over is not delivered")
def _(place: Place) -> bool:
    name = place.name()
    _listening(place, name).drop()
    api = place.service("api", client_id="api-1", clean=True, expiry=0)
    api.publish(f"signage/{name}/commands", b"over", expiry=1)
    api.publish(f"signage/{name}/commands", b"good", expiry=60)
    time.sleep(2.5)
    one = place.display(name)
    return until(lambda: b"good" in one.payloads) and b"over" not in one.payloads


@rule("a refused publish is not delivered")
def _(place: Place) -> bool:
    with place.bridge() as bridge:
        place.display(place.name()).publish(f"signage/{place.name()}/heartbeat", b"forged")
        return not until(lambda: bridge.payloads, QUIET_SECONDS)


@rule("it is answered 0x87, and the connection stays", tolerated=True)
def _(place: Place) -> bool:
    one = place.display(place.name())
    answer = one.publish(f"signage/{place.name()}/heartbeat", b"forged")
    return answer == REFUSED and not until(lambda: one.seen.ended is not None, QUIET_SECONDS)


def _spied(place: Place, topics: Callable[[str], str]) -> tuple[int | None, list[bytes]]:
    """The answer to a command for a display that is away while another display subscribed, and what that one got."""
    name = place.name()
    spy = place.display(place.name())
    spy.subscribe(topics(name))
    answer = place.sent(f"signage/{name}/commands", b"secret")
    until(lambda: spy.payloads, QUIET_SECONDS)
    return answer, spy.payloads


@rule("a neighbour's topic brings nothing")
def _(place: Place) -> bool:
    return _spied(place, lambda name: f"signage/{name}/commands")[1] == []


@rule("a display's wildcards bring nothing")
def _(place: Place) -> bool:
    return _spied(place, lambda _: "signage/+/commands")[1] == [] and _spied(place, lambda _: "#")[1] == []


@rule("a shared subscription brings nothing")
def _(place: Place) -> bool:
    return _spied(place, lambda _: "$share/g/signage/+/commands")[1] == []


@rule("0x10 stays the truth beside a spy")
def _(place: Place) -> bool:
    return _spied(place, lambda name: f"signage/{name}/commands")[0] == NOBODY


@rule("the bridge's filters are granted with QoS 1")
def _(place: Place) -> bool:
    with place.bridge() as bridge:
        return bridge.subscribe(*(f"signage/+/{topic}" for topic in BRIDGE)) == [1] * len(BRIDGE)


def _said(place: Place, number: int, size: int = 20) -> None:
    """A display logs so many lines, all taken by the broker."""
    name = place.name()
    one = place.display(name, clean=True)
    lines = (b"%08d" % line + b" " * size for line in range(number))
    if not one.send_all(f"signage/{name}/logs/info", lines, 120):
        raise AssertionError("the broker did not take the lines")
    one.leave()


@rule("our Receive Maximum is kept to", tolerated=True)
def _(place: Place) -> bool:
    with place.bridge(acknowledges=False, connect={"ReceiveMaximum": 5}) as bridge:
        _said(place, 50)
        until(lambda: len(bridge.payloads) > 5, 2)
        return 0 < len(bridge.payloads) <= 5


@rule("3,000 unacknowledged messages come", tolerated=True)
def _(place: Place) -> bool:
    with place.bridge(acknowledges=False, connect={"ReceiveMaximum": 16_000}) as bridge:
        _said(place, 3_000)
        return until(lambda: len(bridge.payloads) >= 3_000, 30)


@rule("200 unanswered publishes are taken")
def _(place: Place) -> bool:
    name = place.name()
    one = place.display(name, clean=True)
    mids = [one.send(f"signage/{name}/logs/info", b"x") for _ in range(200)]
    return one.answered(mids)


@rule("what is above our Maximum Packet Size is dropped, the next comes")
def _(place: Place) -> bool:
    with place.bridge(connect={"MaximumPacketSize": 1_000}) as bridge:
        _said(place, 1, 5_000)
        _said(place, 1)
        return until(lambda: bridge.payloads) and [len(one) for one in bridge.payloads] == [28] and bridge.is_in


@rule("a line of 20 kB passes, 300 kB do not")
def _(place: Place) -> bool:
    with place.bridge() as bridge:
        _said(place, 1, 19_500)
        name = place.name()
        large = place.display(name, clean=True).publish(f"signage/{name}/logs/info", b"x" * 300_000)
        until(lambda: bridge.payloads)
        return large != 0 and [len(one) for one in bridge.payloads] == [19_508]


@rule("what is not acknowledged comes again, in order, before the new")
def _(place: Place) -> bool:
    with place.bridge(acknowledges=False) as bridge:
        _said(place, 100)
        until(lambda: len(bridge.payloads) >= 100)
        under_way = len(bridge.payloads)
        bridge.drop()
        _said(place, 1, 40)
        again = place.service("bridge")
        came = until(lambda: len(again.payloads) > 100)
        messages = again.seen.messages[:101]
        again.drop()
        is_marked = all(one.dup for one in messages[:under_way])
        return came and is_marked and [int(one.payload[:8]) for one in messages] == [*range(100), 0]


@rule("it is not sent again on the same connection")
def _(place: Place) -> bool:
    with place.bridge(acknowledges=False) as bridge:
        _said(place, 10)
        until(lambda: len(bridge.payloads) >= 10)
        return not until(lambda: len(bridge.payloads) > 10, 5)


@rule("what is acknowledged in one go, up to 2,000 messages, stays so")
def _(place: Place) -> bool:
    with place.bridge(acknowledges=False, connect={"ReceiveMaximum": 16_000}) as bridge:
        _said(place, 2_000)
        until(lambda: len(bridge.payloads) >= 2_000, 30)
        first = bridge.seen.messages[:2_000]  # as many as the broker has under way
        bridge.acknowledge(first)
        bridge.publish("signage/service/canary", b"{}")
        bridge.leave()
        again = place.service("bridge")
        until(lambda: len(first) + len(again.payloads) > 2_000, QUIET_SECONDS)
        return again.seen.session_present and not {one.payload for one in first} & set(again.payloads)


@rule("a backlog comes whole and in order")
def _(place: Place) -> bool:
    with place.bridge("bridge", LOGS) as bridge:
        bridge.drop()
        _said(place, place.waiting)
        again = place.service("bridge")
        until(lambda: len(again.payloads) >= place.waiting, 120)
        came = again.payloads
        again.drop()
        return [int(one[:8]) for one in came] == list(range(place.waiting))


@rule("a herd of displays comes in")
def _(place: Place) -> bool:
    names = [place.name() for _ in range(place.herd)]
    parts = [names[start : start + OF_A_PROCESS] for start in range(0, place.herd, OF_A_PROCESS)]
    with ProcessPoolExecutor(len(parts), multiprocessing.get_context("spawn")) as pool:
        return all(pool.map(_comes_in, repeat(place.displays_port), parts, repeat(place.password)))


def _comes_in(port: int, names: list[str], password: str) -> bool:
    """Whether all of these displays are in at the same time, and subscribed."""
    callers: list[Caller] = []

    def come(number: int) -> None:
        one = Caller(port, names[number], password)
        callers.append(one)
        one.subscribe(f"signage/{names[number]}/commands")

    at_once(len(names), come)
    all_in = sum(one.is_in for one in callers) == len(names)
    at_once(len(names), lambda number: callers[number].leave(expiry=0))
    return all_in


def _over_an_end(place: Place, end: Callable[[], None]) -> bool:
    """Whether what was answered before the end comes after it."""
    with place.bridge("bridge", LOGS) as bridge:
        bridge.drop()
        _said(place, 5_000)
        end()
        place.start()
        again = _back(place)
        until(lambda: len(again.payloads) >= 5_000, 30)
        came = {int(one[:8]) for one in again.payloads}
        again.drop()
        return came == set(range(5_000))


def _back(place: Place) -> Caller:
    """The bridge, as soon as the broker lets it in: some take connections before they know anybody."""
    found: list[Caller] = []

    def comes() -> bool:
        with suppress(OSError):
            found.append(place.service("bridge"))
        return bool(found) and found[-1].is_in

    until(comes, 60)
    return found[-1]


@rule("a restart in order keeps all")
def _(place: Place) -> bool:
    return _over_an_end(place, place.stop)


@rule("kill -9 loses nothing that was answered", tolerated=True)
def _(place: Place) -> bool:
    return _over_an_end(place, place.kill)
