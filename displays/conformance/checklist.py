"""All rules in the order of docs/protocol.md, and the printed checklist."""

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from displays.conformance import (
    judge_carriage,
    judge_commands,
    judge_logs,
    judge_messages,
    judge_screen,
    judge_session,
)
from displays.conformance.record import Record
from displays.conformance.verdict import Outcome, Rule, Tried, Verdict

RULES: Final[tuple[Rule, ...]] = (
    *judge_session.RULES,
    *judge_carriage.RULES,
    *judge_messages.RULES,
    *judge_commands.RULES,
    *judge_screen.RULES,
    *judge_logs.RULES,
)
WIDTH: Final = 110


@dataclass(frozen=True, slots=True)
class Line:
    """A rule and its verdict."""

    rule: Rule
    verdict: Verdict


def judge(record: Record, tried: Tried) -> list[Line]:
    """The verdict of every rule on the record."""
    return [Line(rule, rule.judge(record, tried)) for rule in RULES]


def failed(lines: Sequence[Line]) -> list[str]:
    """The names of the failed rules."""
    return [line.rule.name for line in lines if line.verdict.outcome is Outcome.FAIL]


def unseen(lines: Sequence[Line], given: Collection[str]) -> list[str]:
    """The names of the rules that were asked for, and not seen. `given` fulfils what rules need."""
    return [
        line.rule.name
        for line in lines
        if line.verdict.outcome is Outcome.NOT_SEEN and set(line.rule.needs) <= set(given)
    ]


def printed(lines: Sequence[Line]) -> Iterator[str]:
    """The lines for people: each rule with the contract's sentence below it, and the totals."""
    for line in lines:
        detail = f": {line.verdict.detail}" if line.verdict.detail else ""
        yield f"{line.verdict.outcome:<9} {line.rule.requirement}{detail}   [{line.rule.name}]"
        yield textwrap.fill(line.rule.sentence, WIDTH, initial_indent=" " * 12, subsequent_indent=" " * 12)
    count = {outcome: sum(line.verdict.outcome is outcome for line in lines) for outcome in Outcome}
    yield "\n" + ", ".join(f"{number} {outcome.lower()}" for outcome, number in count.items())
