"""Rules about the delivery, stamps and numbers of messages: sections 3 and 4."""

from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from displays.conformance.record import Body, Record, Said
from displays.conformance.verdict import Rule, Tried, Verdict, judged

EXPIRY_SECONDS: Final[dict[str, int | None]] = {
    "heartbeat": 30,
    "health": 300,
    "logs": None,
    "service_failed": None,
    "acks": 86_400,
    "presence": None,
}
MAX_BYTES: Final = {
    "heartbeat": 1024,
    "health": 8192,
    "logs": 16_384,
    "service_failed": 2048,
    "acks": 4096,
    "presence": 512,
}


def carriage(record: Record, _tried: Tried) -> Verdict:
    def wrong() -> Iterator[str]:
        for one in own(record):
            if one.qos != 1:
                yield f"{one.name} with QoS {one.qos}"
            elif not one.body and one.kind != "service_failed":
                yield f"{one.name}: no JSON object"

    return judged(wrong(), own(record), f"{len(own(record))} messages")


def retained(record: Record, _tried: Tried) -> Verdict:
    wrong = (
        f"{one.name} was {'' if one.retain else 'not '}retained"
        for one in own(record)
        if one.retain != (one.kind == "presence")
    )
    return judged(wrong, own(record), "")


def expiry(record: Record, _tried: Tried) -> Verdict:
    wrong = (
        f"{one.name} expires after {one.expiry_seconds} s; expected {EXPIRY_SECONDS[one.kind]}"
        for one in own(record)
        if one.expiry_seconds != EXPIRY_SECONDS[one.kind]
    )
    return judged(wrong, own(record), "")


def size(record: Record, _tried: Tried) -> Verdict:
    wrong = (f"{one.name}: {len(one.payload)} bytes" for one in own(record) if len(one.payload) > MAX_BYTES[one.kind])
    return judged(wrong, own(record), "")


def stamp(record: Record, _tried: Tried) -> Verdict:
    stamped = [one for one in own(record) if one.kind != "presence"]
    return judged((f"{one.name}: {why}" for one in stamped if (why := unstamped(one.body))), stamped, "")


def unstamped(body: Body) -> str:
    """What is wrong with a stamp; empty: nothing."""
    wrong = [name for name in ("install_id", "ts") if not (isinstance(body.get(name), str) and body[name])]
    wrong += [name for name in ("boot_seq", "seq") if not is_whole(body.get(name)) or body[name] < 1]
    return f"without a valid {', '.join(wrong)}" if wrong else ""


def sequence(record: Record, _tried: Tried) -> Verdict:
    """Each new message of a kind has a higher seq; an unchanged repeat keeps its seq. For logs see `judge_logs`."""

    def wrong() -> Iterator[str]:
        last: dict[tuple[Any, ...], int] = {}
        sent: set[tuple[str | None, bytes]] = set()
        for one in own(record):
            number, again = one.body.get("seq"), (one.name, one.payload)
            if one.kind in {"presence", "logs"} or not is_whole(number) or again in sent:
                continue
            sent.add(again)
            if number <= last.get((one.kind, *one.boot), 0):
                yield f"{one.kind}: {number} after {last[one.kind, *one.boot]}"
            last[one.kind, *one.boot] = number

    return judged(wrong(), len(record.of("heartbeat")) > 1, "")


def own(record: Record) -> list[Said]:
    """The client's messages on topics of the contract."""
    return [one for one in record.said if one.kind in EXPIRY_SECONDS]


def is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    return is_whole(value) or isinstance(value, float)


RULES: Final = (
    Rule("carriage", "everything is JSON with QoS 1", "All with QoS 1, JSON objects in UTF-8.", carriage),
    Rule(
        "retained",
        "presence is retained and nothing else",
        "| `presence` | at connect and at a clean end; also the will | **yes** | none | 512 B |",
        retained,
    ),
    Rule("expiry", "each message expires as it should", "Set the message expiry of the table", expiry),
    Rule("size", "nothing is too large", "A message above its limit is put aside and not used.", size),
    Rule("stamp", "every message is stamped", "Every upward message but `presence` carries four fields:", stamp),
    Rule(
        "sequence",
        "numbers rise, one counter for each kind",
        "`seq`: from 1 at each `boot_seq`, one counter per *kind* of message",
        sequence,
    ),
)
