"""Rules about heartbeats, health reports, ACKs and service failures: section 4."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from displays.client.contract import BAD_SCREENS
from displays.conformance.judge_carriage import is_number, is_whole, unstamped
from displays.conformance.record import Body, Record, Said
from displays.conformance.verdict import Rule, Tried, Verdict, judged

PROCESS_STATUS: Final = ("starting", "running", "crashed", "stopped", "unknown")
SCREEN_HEALTH: Final = ("ok", *BAD_SCREENS, "off", "unknown")
ACK_STATES: Final = ("received", "running", "succeeded", "failed", "rejected")
LEVELS: Final = ("debug", "info", "warning", "error", "critical")
PERCENTAGES: Final = ("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius")
HEALTH_SECONDS: Final = 90.0  # "each minute or so"
RECENT: Final = 8


def heartbeat_interval(record: Record, _tried: Tried) -> Verdict:
    """Within a connection no pause is longer than 1.5 intervals and a second."""
    gaps = []
    for earlier, later in pairwise(record.of("heartbeat")):
        interval = earlier.body.get("interval_seconds")
        if earlier.connection == later.connection and is_number(interval):
            gaps.append((later.at - earlier.at, float(interval)))
    wrong = (f"{gap:.1f} s, but its interval is {interval:g} s" for gap, interval in gaps if gap > 1.5 * interval + 1)
    long = [gap for gap, interval in gaps if gap > interval / 2]
    return judged(wrong, long, f"{long[0]:.1f} s" if long else "", "no two heartbeats on one connection")


def heartbeat_fields(record: Record, _tried: Tried) -> Verdict:
    def wrong() -> Iterator[str]:
        for body in (one.body for one in record.of("heartbeat")):
            interval = body.get("interval_seconds")
            if body.get("process_status") not in PROCESS_STATUS:
                yield f"process_status is {body.get('process_status')!r}"
            elif not is_whole(interval) or not 5 <= interval <= 3600:
                yield f"interval_seconds is {interval!r}"

    return judged(wrong(), record.of("heartbeat"), "")


def identities(record: Record, _tried: Tried) -> Verdict:
    told = [*record.of("heartbeat"), *record.of("acks")]
    wrong = (
        f"{one.kind} without {name}"
        for one in told
        for name in ("boot_id", "app_instance")
        if not (isinstance(one.body.get(name), str) and one.body[name])
    )
    return judged(wrong, told, "")


def health_sent(record: Record, _tried: Tried) -> Verdict:
    told = record.of("health")

    def wrong() -> Iterator[str]:
        for connection in record.connections:
            online = record.online_at(connection.number)
            end = connection.ended_at or float("inf")
            mine = [one.at for one in told if one.connection == connection.number]
            if online is not None and not mine and (end - online > 10 if connection.ended_at else bool(told)):
                yield "it came online and sent no health report"
            if any(later - earlier > HEALTH_SECONDS for earlier, later in pairwise(mine)):
                yield f"more than {HEALTH_SECONDS:.0f} s passed between two reports"

    broken = wrong() if told or not record.of("heartbeat") else iter(["it sent none"])
    return judged(broken, told, f"{len(told)} reports")


def health_fields(record: Record, _tried: Tried) -> Verdict:
    told = record.of("health")
    return judged((why for one in told if (why := _wrong_health(one.body))), told, "")


def _wrong_health(body: Body) -> str:
    """What is wrong with a health report; empty: nothing."""
    failed, link = body.get("service_failed"), body.get("broker_connection")
    wrong = {
        f"log_level is {body.get('log_level')!r}": body.get("log_level") not in LEVELS,
        "service_failed is neither null nor a unit with its stamp": failed is not None
        and not (isinstance(failed, dict) and failed.get("unit") and not unstamped(failed)),
        "broker_connection.reconnect_count is not a number": not (
            isinstance(link, dict) and is_whole(link.get("reconnect_count"))
        ),
        "capabilities is not a list": "capabilities" in body and not isinstance(body["capabilities"], list),
        "a percentage or the temperature is not a number": any(
            body.get(name) is not None and not is_number(body[name]) for name in PERCENTAGES
        ),
    }
    return next((why for why, is_wrong in wrong.items() if is_wrong), "")


def screen_health(record: Record, _tried: Tried) -> Verdict:
    told = [one.body.get("screen_health") for one in record.of("health")]
    wrong = (f"it says {word!r}" for word in told if word not in SCREEN_HEALTH)
    return judged(wrong, told, str(told[-1]) if told else "")


def recent_acks(record: Record, _tried: Tried) -> Verdict:
    """Health reports after an ACK repeat the ACK with its stamp."""

    def wrong() -> Iterator[str]:
        for report, answered in _after_acks(record, "health"):
            told = report.body.get("recent_acks")
            if not isinstance(told, list) or len(told) > RECENT:
                yield "recent_acks is missing" if told is None else "recent_acks is not a list of at most 8"
            elif answered not in [one.get("id") for one in told if isinstance(one, dict)]:
                yield "the last command that it answered is missing"
            elif any(not one.get("state") or not one.get("seq") for one in told):
                yield "an entry has no state or no stamp"

    return judged(wrong(), _after_acks(record, "health"), "", "no report after an answered command")


def last_command(record: Record, _tried: Tried) -> Verdict:
    def wrong() -> Iterator[str]:
        for beat, answered in _after_acks(record, "heartbeat"):
            told = beat.body.get("last_command")
            if not isinstance(told, dict) or not told.get("state"):
                yield f"last_command is {told!r} after an answered command"
            elif told.get("id") != answered:
                yield "last_command is not the last command that it answered"

    return judged(wrong(), _after_acks(record, "heartbeat"), "", "no heartbeat after an answered command")


def _after_acks(record: Record, kind: str) -> list[tuple[Said, str]]:
    """Each message of a kind after an ACK, with the id of the newest acknowledged command before it."""
    found, known, newest = [], set(), ""
    for one in record.said:
        command_id = str(one.body.get("id"))
        if one.kind == "acks" and command_id not in known:
            known.add(command_id)
            newest = command_id
        elif one.kind == kind and newest:
            found.append((one, newest))
    return found


def not_repeated(record: Record, _tried: Tried) -> Verdict:
    told = [one.payload for kind in ("heartbeat", "health") for one in record.of(kind)]
    broken = ("an old one was sent again unchanged",) if len(set(told)) < len(told) else ()
    return judged(broken, len(record.connections) > 1, "", "the connection was never lost")


def ack_fields(record: Record, _tried: Tried) -> Verdict:
    def wrong() -> Iterator[str]:
        for body in (one.body for one in record.of("acks")):
            state, reason = body.get("state"), body.get("reason")
            if not isinstance(body.get("id"), str) or state not in ACK_STATES:
                yield f"id {body.get('id')!r}, state {state!r}"
            elif state in {"failed", "rejected"} and not (isinstance(reason, str) and reason):
                yield f"{state} without a reason"

    return judged(wrong(), record.of("acks"), "")


def service_failed(record: Record, _tried: Tried) -> Verdict:
    told = record.of("service_failed")
    wrong = (
        "its unit is not a text of 1 to 256 characters"
        for one in told
        if one.body and not (isinstance(one.body.get("unit"), str) and 1 <= len(one.body["unit"]) <= 256)
    )
    return judged(wrong, told, "", "no unit failed")


RULES: Final = (
    Rule(
        "identities",
        "heartbeats and ACKs carry boot_id and app_instance",
        "Two more identities go into heartbeats and ACKs",
        identities,
    ),
    Rule(
        "heartbeat_interval",
        "it sends heartbeats at its own interval",
        "| `heartbeat` | each interval (30 s), and at once when the player's state changes |",
        heartbeat_interval,
    ),
    Rule(
        "heartbeat_fields",
        "heartbeats carry status and interval",
        "`process_status` is `starting`, `running`, `crashed`",
        heartbeat_fields,
    ),
    Rule(
        "last_command",
        "heartbeats repeat the last command",
        "`last_command` is the last entry of your journal, or null.",
        last_command,
    ),
    Rule(
        "health_sent",
        "it reports its health each minute and after connecting",
        "| `health` | each minute or so, and after connecting |",
        health_sent,
    ),
    Rule(
        "health_fields",
        "health reports have valid fields",
        "A *field* that makes no sense is taken as null",
        health_fields,
    ),
    Rule(
        "screen_health",
        "health says what the screen shows, in a word of the contract",
        "`screen_health`: `ok`, `black`, `frozen`, `off`, `disconnected`, `unknown`, `white`",
        screen_health,
    ),
    Rule(
        "recent_acks",
        "health repeats the last ACKs",
        "`recent_acks` are the last 8, each with the stamp under which it was sent.",
        recent_acks,
    ),
    Rule(
        "not_repeated",
        "old heartbeats and reports are not sent again",
        "Do *not* repeat old heartbeats and health reports",
        not_repeated,
    ),
    Rule(
        "ack_fields",
        "ACKs carry a state, and a reason where one is due",
        "`state` is `received`, `running`, `succeeded`, `failed` or `rejected`; `reason` is a word for the last two.",
        ack_fields,
    ),
    Rule(
        "service_failed",
        "a failed service has a name",
        "`unit` has 1 to 256 characters.",
        service_failed,
        ("a failure",),
    ),
)
