"""Rules about a client's connection, subscriptions, presence and reconnection: sections 2 and 6."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from displays.conformance.record import Connection, Record, is_online
from displays.conformance.verdict import Rule, Tried, Verdict, judged

DOWNWARD: Final = ("commands", "logs_committed", "log_level")
SESSION_EXPIRY_SECONDS: Final = 30
WILL_DELAY_SECONDS: Final = 20
SHORTEST_PAUSE_SECONDS: Final = 0.2  # half of 0.5 s, with a tolerance


def _each(record: Record, wrong: "list[tuple[bool, str]]", what: str) -> Verdict:
    return judged((why for is_wrong, why in wrong if is_wrong), record.connections, what)


def login(record: Record, tried: Tried) -> Verdict:
    told = [one.connect for one in record.connections]
    wrong = [
        ({one.client_id, one.username} != {tried.uuid}, f"client id {one.client_id!r}, username {one.username!r}")
        for one in told
    ]
    return _each(record, wrong, "")


def own_login(record: Record, _tried: Tried) -> Verdict:
    """No other device took the session over; a newer connection of the same client may."""
    wrong = [
        (
            one.taken_over_at is not None and not _came_again(record, one, one.taken_over_at),
            "another device connected with this login (0x8E), so the other rules may have judged both devices",
        )
        for one in record.connections
    ]
    return _each(record, wrong, "")


def _came_again(record: Record, connection: Connection, before: float) -> bool:
    return any(connection.number < one.number and one.at <= before for one in record.connections)


def clean_start(record: Record, _tried: Tried) -> Verdict:
    return _each(record, [(one.connect.clean_start, "clean start was true") for one in record.connections], "false")


def session_expiry(record: Record, _tried: Tried) -> Verdict:
    told = [one.connect.session_expiry_seconds for one in record.connections]
    return _each(record, [(one != SESSION_EXPIRY_SECONDS, f"it asked for {one} s") for one in told], "30 s")


def will(record: Record, tried: Tried) -> Verdict:
    return judged((why for one in record.connections if (why := _wrong_will(one, tried))), record.connections, "")


def _wrong_will(connection: Connection, tried: Tried) -> str:
    left = connection.connect.will
    if left is None:
        return "it left no will"
    said = _document(left.payload)
    found = (left.topic, left.qos, left.retain, left.delay_seconds, said.get("state"))
    wanted = (tried.prefix + "presence", 1, True, WILL_DELAY_SECONDS, "offline")
    names = ("topic", "QoS", "retained", "delay", "state")
    wrong = [f"{name} is {one!r}" for name, one, right in zip(names, found, wanted, strict=True) if one != right]
    return "; ".join(wrong)


def subscriptions(record: Record, tried: Tried) -> Verdict:
    def wrong() -> Iterator[str]:
        for connection in _came_up(record):
            asked = {one.topic: one.qos for _, one in connection.filters}
            for name in DOWNWARD:
                if asked.get(tried.prefix + name) != 1:
                    yield f"{name}: {'not subscribed' if tried.prefix + name not in asked else 'not with QoS 1'}"

    return judged(wrong(), _came_up(record), "commands, logs_committed, log_level")


def retain_as_published(record: Record, tried: Tried) -> Verdict:
    asked = [
        one for connection in record.connections for _, one in connection.filters if one.topic.startswith(tried.prefix)
    ]
    wrong = (
        one.topic.removeprefix(tried.prefix) + " was subscribed without it"
        for one in asked
        if not one.retain_as_published
    )
    return judged(wrong, asked, "")


def online_after_suback(record: Record, _tried: Tried) -> Verdict:
    def wrong() -> Iterator[str]:
        for connection in _came_up(record):
            said = record.online_at(connection.number)
            if connection.subscribed_at is None or (said is not None and said < connection.subscribed_at):
                yield "it published online before the broker had answered its subscription"

    return judged(wrong(), _came_up(record), "")


def presence_session(record: Record, _tried: Tried) -> Verdict:
    """`session` exists, is new for each connection, and the same in online, will and offline."""
    words: dict[int, set[str]] = {}
    for one in record.of("presence"):
        words.setdefault(one.connection, set()).add(str(one.body.get("session") or ""))
    for connection in record.connections:
        if connection.connect.will and connection.number in words:
            word = _document(connection.connect.will.payload).get("session")
            words[connection.number].add(str(word or ""))

    def wrong() -> Iterator[str]:
        for found in words.values():
            if "" in found:
                yield "a presence or a will carries no session"
            elif len(found) > 1:
                yield f"one connection used several sessions: {', '.join(sorted(found))}"
        first = [min(found) for found in words.values()]
        if len(set(first)) < len(first):
            yield f"two connections used the same session {first[-1]!r}"

    return judged(wrong(), len(words) > 1, f"{len(words)} connections, each with its own")


def leaving(record: Record, _tried: Tried) -> Verdict:
    left = [one for one in record.connections if one.left_at is not None]

    def wrong() -> Iterator[str]:
        for one in left:
            assert one.left_at is not None  # noqa: S101 - for the type checker
            if one.left_expiry_seconds != 0:
                yield f"its DISCONNECT asked for a session expiry of {one.left_expiry_seconds} s"
            elif one.offline_taken_at is None or one.offline_taken_at > one.left_at:
                yield "it disconnected before the broker had taken its presence offline"

    return judged(wrong(), left, "", "it never disconnected on purpose; stop it while the check runs, or use --reboot")


def back_off(record: Record, tried: Tried) -> Verdict:
    if tried.cut_at is None:
        return judged((), seen=False, what="")
    moments = [tried.cut_at, *(at for at in record.attempts if at > tried.cut_at)][: tried.refused + 2]
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    short = (f"it reconnected after {pause:.2f} s" for pause in pauses if pause < SHORTEST_PAUSE_SECONDS)
    return judged(short, pauses, "pauses of " + ", ".join(f"{pause:.1f} s" for pause in pauses))


def came_back(record: Record, tried: Tried) -> Verdict:
    cut_at = tried.cut_at
    if cut_at is None:
        return judged((), seen=False, what="")
    back = [one.at for one in record.of("presence", since=cut_at) if is_online(one)]
    return judged(() if back else ("it did not reconnect",), back, f"{back[0] - cut_at:.1f} s" if back else "")


def own_topics(record: Record, _tried: Tried) -> Verdict:
    refused = [why for connection in record.connections for why in connection.refused]
    foreign = [f"it published to {one.topic}" for one in record.said if one.name is None]
    return judged([*refused, *foreign], record.said, "")


def _came_up(record: Record) -> list[Connection]:
    """The connections on which the client sent presence online."""
    return [one for one in record.connections if record.online_at(one.number) is not None]


def _document(payload: bytes) -> dict[str, object]:
    try:
        found = json.loads(payload)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


RULES: Final = (
    Rule(
        "own_login",
        "nobody else uses its login",
        "A login is for one device.",
        own_login,
    ),
    Rule("login", "client id and username are the uuid", "| username, client id | the uuid, both |", login),
    Rule(
        "clean_start",
        "it resumes its session",
        "| clean start | false | a short loss of the network loses no command |",
        clean_start,
    ),
    Rule(
        "session_expiry",
        "its session lives 30 s",
        "| session expiry | 30 s | and a display that vanished stops being a subscriber |",
        session_expiry,
    ),
    Rule(
        "will",
        "its will says offline",
        "| will | `presence`, see section 6, QoS 1, retained, will delay 20 s | a reconnect within 20 s is not news |",
        will,
    ),
    Rule(
        "subscriptions",
        "it subscribes to the three downward topics",
        "subscribe to `signage/<uuid>/commands`, `…/logs_committed` and `…/log_level` with QoS 1",
        subscriptions,
    ),
    Rule(
        "retain_as_published",
        "it can distinguish retained messages",
        "Ask for *retain as published* in the subscription",
        retain_as_published,
    ),
    Rule(
        "online_after_suback",
        "it is subscribed before it publishes online",
        "wait for the SUBACK; publish `presence` online.",
        online_after_suback,
    ),
    Rule(
        "presence_session",
        "each connection has its own random session",
        "`session` is a random word of your own, new for each connection and the same in the `online`, in the will and"
        " in the farewell of that connection.",
        presence_session,
    ),
    Rule(
        "own_topics",
        "it publishes its own upward topics only",
        "Your login may publish only the upward topics of its own uuid and read only its own downward ones.",
        own_topics,
    ),
    Rule("came_back", "it reconnects after a loss", "After a loss, come back with a jittered back-off", came_back),
    Rule(
        "back_off",
        "it pauses before it reconnects",
        "(0.5 s doubling to 30 s, each shortened by up to half at random)",
        back_off,
    ),
    Rule(
        "leaving",
        "it publishes offline before it disconnects on purpose",
        "When you leave on purpose (stop, reboot, shutdown), publish `presence` offline, wait for its PUBACK, and"
        " DISCONNECT with a session expiry of 0.",
        leaving,
        ("reboot",),
    ),
)
