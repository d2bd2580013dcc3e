"""Rules about numbered logs and the temporary log level: sections 7 and 8."""

from collections.abc import Iterator
from typing import Any, Final

from displays.conformance.record import Record, Said, is_online
from displays.conformance.verdict import Outcome, Rule, Tried, Verdict, judged

LEVELS: Final = ("debug", "info", "warning", "error", "critical")
NO_LOG: Final = "it logged nothing meanwhile; make it log something"


def numbered(record: Record, _tried: Tried) -> Verdict:
    """Each new log message has the next number of its boot."""

    def wrong() -> Iterator[str]:
        highest: dict[Any, int] = {}
        for one in record.of("logs"):
            number = one.body.get("seq")
            if not isinstance(number, int):
                yield "a log without a number"
                continue
            before = highest.setdefault(one.boot, number - 1)
            if number > before + 1:
                yield f"{number} after {before}"
            highest[one.boot] = max(before, number)

    return judged(wrong(), record.of("logs"), f"{len(record.of('logs'))} messages", NO_LOG)


def fields(record: Record, _tried: Tried) -> Verdict:
    def wrong() -> Iterator[str]:
        for one in record.of("logs"):
            message, level = one.body.get("message"), (one.name or "").partition("/")[2]
            if level not in LEVELS:
                yield f"level {level!r}"
            elif not isinstance(message, str) or len(message) > 8192:
                yield "message is no text of at most 8,192 characters"

    return judged(wrong(), record.of("logs"), "", NO_LOG)


def resent(record: Record, tried: Tried) -> Verdict:
    """After the cut all uncommitted logs come again, in order and unchanged."""
    if tried.cut_at is None:
        return Verdict(Outcome.NOT_SEEN)
    if not any(is_online(one) for one in record.of("presence", since=tried.cut_at)):
        return Verdict(Outcome.NOT_SEEN, "it did not reconnect")
    waiting = uncommitted(record, tried.cut_at)
    again = [(one.name, one.payload) for one in record.of("logs", since=tried.cut_at)]
    wanted = [(one.name, one.payload) for one in waiting]
    came = [one for one in again if one in wanted]
    missing = len([one for one in wanted if one not in came])

    def wrong() -> Iterator[str]:
        if missing:
            yield f"{missing} of {len(wanted)} were not sent again unchanged"
        elif list(dict.fromkeys(came)) != wanted:
            yield "they were sent in another order"

    return judged(wrong(), wanted, f"{len(wanted)} messages", NO_LOG)


def uncommitted(record: Record, before: float) -> list[Said]:
    """The logs sent before `before`, without repeats, in order. None is committed: the tap holds back the marks."""
    found: dict[tuple[str | None, bytes], Said] = {}
    for one in record.of("logs"):
        if one.at < before:
            found.setdefault((one.name, one.payload), one)
    return list(found.values())


def level_honoured(record: Record, tried: Tried) -> Verdict:
    if tried.level_at is None or tried.level_seen_from is None:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("log_level", ""))
    told = _levels(record, tried.level_seen_from, tried.level_short_at)
    broken = [f"health says {told[0]!r}, {tried.level!r} was ordered"] if told and told[0] != tried.level else []
    return judged(broken, told, str(tried.level), "no health report while it was in force")


def level_ends(record: Record, tried: Tried) -> Verdict:
    if tried.level_over_from is None or level_honoured(record, tried).outcome is not Outcome.PASS:
        return Verdict(Outcome.NOT_SEEN, "the ordered level was never in force")
    told = _levels(record, tried.level_over_from, None)
    broken = [f"health still says {tried.level!r}"] if told and told[-1] == tried.level else []
    return judged(broken, told, f"{told[-1] if told else ''} again", "no health report after the order ended")


def level_retained(record: Record, tried: Tried) -> Verdict:
    if not tried.retained_level or tried.level_at is None:
        return Verdict(Outcome.NOT_SEEN)
    told = _levels(record, tried.level_at, None)
    broken = [f"health says {tried.retained_level!r}"] if tried.retained_level in told else []
    return judged(broken, told, "", "no health report after the retained order")


def _levels(record: Record, since: float, before: float | None) -> list[Any]:
    """The log levels in health reports of that time."""
    end = float("inf") if before is None else before
    return [one.body.get("log_level") for one in record.of("health", since=since) if one.at < end]


RULES: Final = (
    Rule("numbered", "logs are numbered without a gap", "Logs must be numbered without a gap", numbered),
    Rule("log_fields", "logs have a level and a message", "`message` holds at most 8,192 characters", fields),
    Rule(
        "resent",
        "logs that are not committed are sent again after a loss",
        "After a reconnect, and after 30 s without progress, send all that is left again, in order and unchanged.",
        resent,
    ),
    Rule(
        "log_level",
        "an ordered log level is in force",
        "Health reports the level in force.",
        level_honoured,
    ),
    Rule(
        "log_level_ends",
        "an ordered log level ends by itself",
        "is in force for the next `until` seconds and ends by itself",
        level_ends,
    ),
    Rule("log_level_retained", "a retained log level is ignored", "Ignore it when it is retained.", level_retained),
)
