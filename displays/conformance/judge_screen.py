"""Rules about the screen that is switched: by commands, and by the opening hours that the display keeps."""

from collections.abc import Iterator
from typing import Final

from displays.conformance.judge_messages import SCREEN_HEALTH
from displays.conformance.record import Record
from displays.conformance.verdict import Outcome, Rule, Tried, Verdict, judged

LIT: Final = {word: word != "off" for word in SCREEN_HEALTH if word != "disconnected"}
"""screen_health -> whether the screen is on: who cannot see the picture still sees that the screen is off."""


def screens_after(record: Record, since: float) -> list[bool]:
    """Whether the screen is on, in each health report since then that says so."""
    words = [one.body.get("screen_health") for one in record.of("health", since=since)]
    return [LIT[word] for word in words if isinstance(word, str) and word in LIT]


def hours_after(record: Record, since: float | None) -> list[object]:
    """The hours that health reports since then name."""
    named = [one.body.get("hours_version") for one in record.of("health", since=since or 0.0)]
    return [version for version in named if version is not None]


def keeps_none_after(record: Record, since: float) -> bool:
    """Whether a health report since then says that it keeps no hours."""
    return any(one.body.get("hours_version") is None for one in record.of("health", since=since))


def screen_off(record: Record, tried: Tried) -> Verdict:
    return _switched(record, tried, "screen_off", wanted=False)


def screen_on(record: Record, tried: Tried) -> Verdict:
    return _switched(record, tried, "screen_on", wanted=True)


def _switched(record: Record, tried: Tried, action: str, *, wanted: bool) -> Verdict:
    """The steps are acknowledged and the screen shows it; a client that does not declare it refuses."""
    command_id = tried.screen_ids.get(action, "")
    if not command_id:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get(action, "only with --commands"))
    states = [str(one.get("state")) for one in record.acks(command_id)]
    if action not in tried.switches_screen:
        broken = () if states == ["rejected"] else (f"it declares no {action} and answered {', '.join(states)}",)
        return judged(broken, states, "refused: it declares none")
    if not screens_after(record, 0.0):
        return Verdict(Outcome.NOT_SEEN, "its health reports say nothing of its screen")
    return judged(_wrong(record, states, tried.screen_at[action], wanted=wanted), seen=True, what=", ".join(states))


def _wrong(record: Record, states: list[str], asked: float, *, wanted: bool) -> Iterator[str]:
    if states != ["received", "running", "succeeded"]:
        yield f"it answered {', '.join(states) or 'nothing'}"
    reports = [one.body for one in record.of("health", since=asked)]
    shown = [one for one in reports if LIT.get(str(one.get("screen_health"))) is wanted]
    if not shown:
        yield f"no health report says that the screen is {'on' if wanted else 'off'}"
    elif not wanted and shown[0].get("screen_off_by") != "command":
        yield f"screen_off_by is {shown[0].get('screen_off_by')!r} while it is off by a command"


def hours(record: Record, tried: Tried) -> Verdict:
    """The health report after a message with hours names them."""
    if tried.hours_at is None:
        return Verdict(Outcome.NOT_SEEN, "only with --commands, and of a client that declares screen_on and screen_off")
    named = hours_after(record, tried.hours_at)
    if not named:
        return Verdict(Outcome.FAIL, f"no health report within {tried.answer_seconds:.0f} s names the hours")
    broken = () if named[0] == tried.hours_version else (f"hours_version is {named[0]!r}",)
    return judged(broken, named, str(named[0]))


RULES: Final = (
    Rule(
        "screen_off",
        "screen_off switches the screen off, or is refused where it is not declared",
        "`screen_on`, `screen_off`: ACK `received`, `running`; switch the screen; send a health report; ACK"
        " `succeeded`.",
        screen_off,
        ("commands",),
    ),
    Rule(
        "screen_on",
        "screen_on switches the screen on, or is refused where it is not declared",
        "The report is the proof",
        screen_on,
        ("commands",),
    ),
    Rule(
        "hours",
        "opening hours are kept, and health names them",
        "Write them to the disk, and name their version in health",
        hours,
        ("commands", "screen"),
    ),
)
