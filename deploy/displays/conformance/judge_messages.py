"""Rules about heartbeats, health reports, ACKs and service failures: section 4."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from deploy.displays.conformance.judge_carriage import is_number, is_whole, unstamped
from deploy.displays.conformance.record import Body, Record, Said
from deploy.displays.conformance.verdict import Outcome, Rule, Tried, Verdict, judged

PROCESS_STATUS: Final = ("starting", "running", "crashed", "stopped", "unknown")
SCREEN_HEALTH: Final = ("ok", "black", "frozen", "off", "disconnected", "unknown")
ACK_STATES: Final = ("received", "running", "succeeded", "failed", "rejected")
LEVELS: Final = ("debug", "info", "warning", "error", "critical")
PERCENTAGES: Final = ("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius")
HEALTH_SECONDS: Final = 90.0  # "each minute or so"; while it is calm, with each heartbeat
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
            longest = max(HEALTH_SECONDS, 1.5 * _longest_interval(record, connection.number) + 1)
            if any(later - earlier > longest for earlier, later in pairwise(mine)):
                yield f"more than {longest:.0f} s passed between two reports"

    broken = wrong() if told or not record.of("heartbeat") else iter(["it sent none"])
    return judged(broken, told, f"{len(told)} reports")


def _longest_interval(record: Record, connection: int) -> float:
    """The longest interval that heartbeats of this connection name."""
    named = [one.body.get("interval_seconds") for one in record.of("heartbeat") if one.connection == connection]
    return max((float(interval) for interval in named if is_number(interval)), default=0.0)


def intervals_after(record: Record, since: float | None) -> list[object]:
    """The intervals that heartbeats since then name."""
    return [one.body.get("interval_seconds") for one in record.of("heartbeat", since=since or 0.0)]


def interval(record: Record, tried: Tried) -> Verdict:
    """The next heartbeat names the interval that it was asked for, and none does so after a lost connection."""
    if tried.interval_at is None:
        return Verdict(Outcome.NOT_SEEN, "it does not declare heartbeat_interval")
    named = intervals_after(record, tried.interval_at)
    if not named:
        return Verdict(Outcome.FAIL, f"no heartbeat within {tried.answer_seconds:.0f} s answers the wish")
    follows = tried.interval in named[:2]  # one heartbeat may have been on its way
    if not follows and not _was_well(record, tried.interval_at):
        return Verdict(Outcome.NOT_SEEN, "it was not well, and kept its own interval")
    broken = [] if follows else [f"interval_seconds is {named[0]!r}"]
    if tried.cut_at is not None and _follows_unasked(record, tried.cut_at):
        broken.append("after a lost connection it still follows the wish")
    return judged(iter(broken), named, f"{tried.interval} s")


def _follows_unasked(record: Record, since: float) -> bool:
    """Whether a heartbeat since then names a longer interval than its own, before its connection brought a wish.

    The wish may be the service's: to a client that was well for minutes it sends its own after this check's.
    """
    own = record.of("heartbeat")[0].body.get("interval_seconds")
    wishes = [one for one in record.heard if one.name == "interval" and one.at >= since]

    def unasked(told: Said) -> bool:
        return not any(wish.connection == told.connection and wish.at <= told.at for wish in wishes)

    named = [one.body.get("interval_seconds") for one in record.of("heartbeat", since=since) if unasked(one)]
    return any(is_number(one) and one > (own if is_number(own) else 0) for one in named)


def _was_well(record: Record, at: float) -> bool:
    """Whether its reports before that moment tell of no fault."""
    beats, reports = ([one.body for one in record.of(kind) if one.at <= at] for kind in ("heartbeat", "health"))
    plays = bool(beats) and beats[-1].get("process_status") == "running"
    shows = bool(reports) and reports[-1].get("screen_health") not in {"black", "frozen", "disconnected"}
    return plays and shows and reports[-1].get("service_failed") is None


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
        "interval",
        "it follows the interval that the service asks for, until its connection is lost",
        "Send a heartbeat at once, and then in that interval",
        interval,
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
        "`screen_health`: `ok`, `black`, `frozen`, `off`, `disconnected`, `unknown`",
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
    Rule("service_failed", "a failed service has a name", "`unit` has 1 to 256 characters.", service_failed),
)
