"""Rules about commands: section 5."""

from collections.abc import Iterator
from typing import Any, Final

from displays.conformance.record import OUTCOMES, Record, is_online
from displays.conformance.verdict import Outcome, Rule, Tried, Verdict, judged

NEEDS_COMMANDS: Final = "only with --commands"
LIFE_SECONDS: Final = 1.0  # lifetime of the command that may have to wait
SLACK_SECONDS: Final = 0.5  # tolerance between the client's clock and this one


def unknown_action(record: Record, tried: Tried) -> Verdict:
    return _refused(record, tried, tried.unknown_id, tried.unknown_at, "unknown_action", tried.repeated_at)


def precondition(record: Record, tried: Tried) -> Verdict:
    return _refused(record, tried, tried.precondition_id, tried.precondition_at, "precondition_failed")


def version(record: Record, tried: Tried) -> Verdict:
    return _refused(record, tried, tried.version_id, tried.version_at, "unsupported_version")


def _refused(
    record: Record, tried: Tried, command_id: str, at: float | None, reason: str, before: float | None = None
) -> Verdict:
    """The command got one ACK, `rejected` with this reason. `before`: when it was delivered again."""
    if at is None:
        return Verdict(Outcome.NOT_SEEN, NEEDS_COMMANDS)
    answers = record.acks(command_id, before=before or float("inf"))
    if not answers:
        return Verdict(Outcome.FAIL, f"no answer within {tried.answer_seconds:.0f} s")
    told = [_told(one) for one in answers]
    wrong = [f"it answered {', '.join(told)}"] if told != [f"rejected: {reason}"] else []
    return judged(wrong, told, told[0])


def repeat(record: Record, tried: Tried) -> Verdict:
    """The client answers a repeated refused command with the state in its journal."""
    if tried.repeated_at is None:
        return Verdict(Outcome.NOT_SEEN)
    first = record.acks(tried.unknown_id, before=tried.repeated_at)
    again = [one.body for one in record.of("acks", since=tried.repeated_at) if one.body.get("id") == tried.unknown_id]
    if not first:
        return Verdict(Outcome.NOT_SEEN, "it did not answer the first time")
    if not again:
        return Verdict(Outcome.FAIL, f"no answer to the repetition within {tried.answer_seconds:.0f} s")
    same = {one.get("state") for one in again} == {first[-1].get("state")}
    return judged(() if same else (f"it answered {_told(again[0])} this time",), seen=True, what=_told(again[0]))


def retained(record: Record, tried: Tried) -> Verdict:
    if tried.retained_at is None:
        return Verdict(Outcome.NOT_SEEN)
    told = [_told(one) for one in record.acks(tried.retained_id)]
    broken = (f"it answered {told[0]}",) if told else ()
    return judged(broken, _is_alive_after(record, tried), "", "it did not answer the command after it")


def garbage(record: Record, tried: Tried) -> Verdict:
    """After invalid bytes on each downward topic the client stays connected and answers the next command."""
    if tried.garbage_at is None:
        return Verdict(Outcome.NOT_SEEN)
    until = tried.after_garbage_at or float("inf")
    lost = [one for one in record.connections if one.ended_at and tried.garbage_at <= one.ended_at <= until]
    if lost:
        return Verdict(Outcome.FAIL, "it lost its connection")
    if record.answered_at(tried.unknown_id, tried.unknown_at or 0.0) is None:
        return Verdict(Outcome.NOT_SEEN, "it did not answer the command before it")
    alive = _is_alive_after(record, tried)
    return judged(() if alive else ("it did not answer the command after it",), alive, "")


def _is_alive_after(record: Record, tried: Tried) -> bool:
    """Whether the client answered the command after retained messages and garbage."""
    at = tried.after_garbage_at
    return at is not None and record.answered_at(tried.unknown_id, at) is not None


def late(record: Record, tried: Tried) -> Verdict:
    """A command that lives one second: a client that reads it later answers `expired`."""
    if tried.late_at is None:
        return Verdict(Outcome.NOT_SEEN, NEEDS_COMMANDS)
    at = record.answered_at(tried.late_id, tried.late_at)
    if at is None:
        return Verdict(Outcome.FAIL, f"no answer within {tried.answer_seconds:.0f} s")
    took, first = at - tried.late_at, record.acks(tried.late_id)[0]
    in_time = took <= LIFE_SECONDS + SLACK_SECONDS
    if in_time and first.get("state") != "rejected":
        return Verdict(Outcome.NOT_SEEN, "it was begun in time, against its precondition")
    if not in_time and first.get("reason") != "expired":
        return Verdict(Outcome.FAIL, f"after {took:.1f} s it answered {_told(first)}")
    return Verdict(Outcome.PASS, f"after {took:.1f} s: {_told(first)}")


def steps(record: Record, tried: Tried) -> Verdict:
    """restart_app: received, running, succeeded, each once and in this order."""
    if not tried.restart_id:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("restart_app", NEEDS_COMMANDS))
    told = [_told(one) for one in record.acks(tried.restart_id, before=tried.restart_replayed_at or float("inf"))]
    if told != ["received", "running", "succeeded"]:
        return Verdict(Outcome.FAIL, f"it answered {', '.join(told) or 'nothing'}")
    return Verdict(Outcome.PASS, ", ".join(told))


def new_instance(record: Record, tried: Tried) -> Verdict:
    """After the restart a heartbeat carries another app_instance."""
    if not tried.restart_id:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("restart_app", NEEDS_COMMANDS))
    before, after = _instances(record, tried)
    if not before or not after:
        return Verdict(Outcome.NOT_SEEN, "no heartbeat before the restart, or none after it")
    return judged(() if after - before else ("the app_instance is still the same",), after, "")


def runs_once(record: Record, tried: Tried) -> Verdict:
    """The client answers a repeated restart_app with its outcome and does not restart again."""
    at = tried.restart_replayed_at
    if at is None:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("restart_app", NEEDS_COMMANDS))
    again = [_told(one.body) for one in record.of("acks", since=at) if one.body.get("id") == tried.restart_id]
    ran = [one for one in again if one.partition(":")[0] not in OUTCOMES]
    _, after = _instances(record, tried)
    reboots = 1 if tried.reboot_id else 0  # a boot starts the player, too
    if ran or len(after) > 1 + reboots:
        return Verdict(Outcome.FAIL, f"it ran again: {', '.join(ran) or 'another app_instance'}")
    if not again:
        return Verdict(Outcome.FAIL, f"no answer to the repetition within {tried.answer_seconds:.0f} s")
    stands = [_told(one) for one in record.acks(tried.restart_id, before=at)][-1]
    broken = [f"it answered {one}, but the state in its journal is {stands}" for one in again if one != stands]
    return judged(broken, again, f"answered {again[0]} again, and nothing else")


def _instances(record: Record, tried: Tried) -> tuple[set[Any], set[Any]]:
    """The app_instances in heartbeats before the restart and after its result."""
    given = next((one.at for one in record.heard if tried.restart_id.encode() in one.payload), 0.0)
    done = record.acks(tried.restart_id)
    done_at = next(
        (
            one.at
            for one in record.of("acks")
            if one.body.get("id") == tried.restart_id and one.body.get("state") in OUTCOMES
        ),
        None,
    )
    beats = record.of("heartbeat")
    before = {one.body.get("app_instance") for one in beats if one.at < given}
    after = {one.body.get("app_instance") for one in beats if done and done_at is not None and one.at >= done_at}
    return before, after


def screenshot(record: Record, tried: Tried) -> Verdict:
    """A client that declares `screenshot` sends a JPEG, another one refuses the command."""
    if not tried.picture_id:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("screenshot", NEEDS_COMMANDS))
    told = [_told(one) for one in record.acks(tried.picture_id)]
    answer = ", ".join(told) or "nothing"
    if not tried.sends_pictures:
        refused = told in (["rejected: not_capable"], ["rejected: unknown_action"])
        return judged(() if refused else (f"it does not declare it, and answered {answer}",), refused, answer)
    if told != ["received", "running", "succeeded"]:
        return Verdict(Outcome.FAIL, f"it answered {answer}")
    picture = tried.picture
    if picture is None:
        return Verdict(Outcome.FAIL, "it answered succeeded, and the service has no picture of it")
    return judged((), picture, f"{len(picture):,} bytes")


def reboot(record: Record, tried: Tried) -> Verdict:
    """reboot_host: received, running, offline with reason reboot; then online, succeeded, a new boot_id."""
    if not tried.reboot_id:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("reboot_host", "only with --reboot"))
    given = next((one.at for one in record.heard if tried.reboot_id.encode() in one.payload), float("inf"))

    def wrong() -> Iterator[str]:
        told = [_told(one) for one in record.acks(tried.reboot_id, before=tried.reboot_settled_at or float("inf"))]
        if told != ["received", "running", "succeeded"]:
            yield f"it answered {', '.join(told) or 'nothing'}"
        said = record.of("presence", since=given)
        if not any(one.body.get("reason") == "reboot" and not is_online(one) for one in said):
            yield "it published no presence offline with the reason reboot"
        beats = record.of("heartbeat")
        before = {one.body.get("boot_id") for one in beats if one.at < given}
        if not {one.body.get("boot_id") for one in beats if one.at > given} - before:
            yield "no heartbeat with another boot_id followed"

    return judged(wrong(), seen=True, what="received, running, offline, online, succeeded, a new boot_id")


def boot_counted(record: Record, tried: Tried) -> Verdict:
    """After the reboot the same installation has a higher boot_seq."""
    if not tried.reboot_id:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("reboot_host", "only with --reboot"))
    beats = [one.body for one in record.of("heartbeat")]
    boots = [(one.get("install_id"), one.get("boot_seq")) for one in beats]
    kept = boots[0][0] == boots[-1][0] if boots else False
    raised = kept and isinstance(boots[-1][1], int) and boots[-1][1] > (boots[0][1] or 0)
    return judged(() if raised else (f"{boots[:1]} became {boots[-1:]}",), boots, "")


def journal_survives(record: Record, tried: Tried) -> Verdict:
    """The client answers a repeated reboot_host after the reboot and does not reboot again."""
    at = tried.reboot_settled_at
    if at is None:
        return Verdict(Outcome.NOT_SEEN, tried.why_not.get("reboot_host", "only with --reboot"))
    again = [_told(one.body) for one in record.of("acks", since=at) if one.body.get("id") == tried.reboot_id]
    if not again:
        return Verdict(Outcome.FAIL, f"no answer to the repetition within {tried.answer_seconds:.0f} s")
    return judged(() if set(again) == {"succeeded"} else (f"it answered {', '.join(again)}",), again, again[0])


def _told(ack: dict[str, Any]) -> str:
    return f"{ack.get('state')}: {ack['reason']}" if ack.get("reason") else str(ack.get("state"))


RULES: Final = (
    Rule(
        "unknown_action",
        "an action that it does not know is rejected",
        "| `unknown_action`, `not_capable` | you do not know it; you cannot do it |",
        unknown_action,
    ),
    Rule(
        "repeat",
        "a repeated command is answered from the journal",
        "**Is the id in the journal?** Then send an ACK with the state that stands there, and do nothing else.",
        repeat,
    ),
    Rule("retained_command", "a retained command is ignored", "**Ignore it if it is retained.**", retained),
    Rule("garbage", "garbage stops nothing", "Garbage on a downward topic stops nothing.", garbage),
    Rule(
        "precondition",
        "a command for another start of the player is rejected",
        "| `precondition_failed` | `if_boot_id` or `if_app_instance` is given and is not your current one |",
        precondition,
        ("commands",),
    ),
    Rule(
        "version", "a newer version is rejected", "| `unsupported_version` | `v` is above 1 |", version, ("commands",)
    ),
    Rule(
        "late",
        "an expired command is not begun",
        "count down the *message expiry interval* with which it arrived, on a monotonic clock; when it has run out,"
        " reject with `expired`.",
        late,
        ("commands",),
    ),
    Rule(
        "steps",
        "restart_app sends the ACK of each step once",
        "`restart_app`: ACK `received`, `running`; the player starts; ACK `succeeded`",
        steps,
        ("commands",),
    ),
    Rule(
        "new_instance",
        "after restart_app the player is a new instance",
        "and a heartbeat with the new `app_instance`.",
        new_instance,
        ("commands",),
    ),
    Rule(
        "runs_once",
        "a restart_app that is delivered twice runs once",
        "It must run **at most once**.",
        runs_once,
        ("commands",),
    ),
    Rule(
        "screenshot",
        "a picture of the screen comes, or is refused where it is not declared",
        "`screenshot`: ACK `received`, `running`; send the picture; ACK `succeeded`.",
        screenshot,
        ("commands", "token"),
    ),
    Rule(
        "reboot",
        "reboot_host reboots the machine, and the next boot proves it",
        "`reboot_host`: ACK `received`, `running`; presence offline with the reason `reboot`; DISCONNECT; reboot.",
        reboot,
        ("reboot",),
    ),
    Rule(
        "boot_counted",
        "a boot raises boot_seq",
        "`boot_seq`: counts the boots of that installation, from 1.",
        boot_counted,
        ("reboot",),
    ),
    Rule("journal_survives", "the journal survives a reboot", "It survives reboots.", journal_survives, ("reboot",)),
)
