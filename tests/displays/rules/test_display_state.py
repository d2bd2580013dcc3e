"""The pure part of a display: its answers, its numbers, and actions that it never repeats."""

import json
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from displays.client import contract
from displays.client.contract import BadMessage, Command, LogLevelOrder, LogsCommitted
from displays.client.link import backoff_seconds
from displays.client.outbox import KEPT_MESSAGES, Outbox
from displays.client.spool import Pace
from displays.client.state import JOURNAL_SIZE, Act, Boot, DisplayState, Effect, JournalEntry, Send, Write
from shared.vocabulary import (
    BAD_SCREENS,
    COMMAND_RANKS,
    POWER_ACTIONS,
    CommandAction,
    CommandState,
    LogLevel,
    ScreenHealthStatus,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BOOT = Boot("installation-a", 1, "boot-1")


def a_state(boot: Boot = BOOT, app: str = "app-1", journal: list[JournalEntry] | None = None) -> DisplayState:
    return DisplayState(boot, app, journal or [])


def a_command(identity: str = "c1", action: str = "restart_app", **changes: Any) -> Command:
    return Command(
        **{"id": identity, "action": action, "if_boot_id": None, "if_app_instance": None, "version": 1} | changes
    )


def acks(effects: list[Effect]) -> list[tuple[str, str, str | None]]:
    return [
        (effect.body["id"], effect.body["state"], effect.body["reason"])
        for effect in effects
        if isinstance(effect, Send) and effect.kind is contract.ACKS
    ]


def entries(effects: list[Effect]) -> list[JournalEntry]:
    return [effect.entry for effect in effects if isinstance(effect, Write)]


def acts(effects: list[Effect]) -> list[str]:
    return [effect.command_id for effect in effects if isinstance(effect, Act)]


def test_the_words_are_those_of_the_service() -> None:
    assert set(contract.ALL_ACTIONS) == set(CommandAction)
    assert contract.ACTIONS == POWER_ACTIONS
    assert {*contract.BAD_SCREENS, ScreenHealthStatus.WRONG_PAGE} == set(BAD_SCREENS)  # the service judges that one
    assert list(contract.LEVELS) == list(LogLevel)


def test_a_command_is_journalled_before_it_is_acknowledged_and_before_it_is_done() -> None:
    state = a_state()

    effects = state.on_command(a_command(), NOW)

    assert [type(effect) for effect in effects] == [Write, Send, Write, Send, Act]
    assert [entry.state for entry in entries(effects)] == ["received", "running"]
    assert acks(effects) == [("c1", "received", None), ("c1", "running", None)]
    assert effects[-1] == Act("restart_app", "c1")


def test_the_outcome_is_told_once() -> None:
    state = a_state()
    state.on_command(a_command(), NOW)

    first = state.finished("c1", NOW)
    second = state.finished("c1", NOW, failure="late")

    assert acks(first) == [("c1", "succeeded", None)]
    assert second == []


def test_a_failure_is_told_with_its_reason() -> None:
    state = a_state()
    state.on_command(a_command(), NOW)

    assert acks(state.finished("c1", NOW, failure="app_did_not_start")) == [("c1", "failed", "app_did_not_start")]


@pytest.mark.parametrize("finish", [False, True], ids=["while it runs", "when it is over"])
def test_a_repeated_command_is_acknowledged_as_it_stands_and_not_done_again(finish: bool) -> None:
    state = a_state()
    state.on_command(a_command(), NOW)
    if finish:
        state.finished("c1", NOW)

    effects = state.on_command(a_command(), NOW)

    assert acks(effects) == [("c1", "succeeded" if finish else "running", None)]
    assert acts(effects) == []
    assert entries(effects) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"if_boot_id": "boot-0"}, "precondition_failed"),
        ({"if_app_instance": "app-0"}, "precondition_failed"),
        ({"if_boot_id": "boot-1", "if_app_instance": "app-0"}, "precondition_failed"),
        ({"action": "format_disk"}, "unknown_action"),
        ({"version": 2}, "unsupported_version"),
    ],
)
def test_a_command_that_must_not_run_is_rejected_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    effects = a_state().on_command(a_command(**changes), NOW)

    assert acks(effects) == [("c1", "rejected", reason)]
    assert acts(effects) == []


def test_a_precondition_that_holds_lets_the_command_run() -> None:
    effects = a_state().on_command(a_command(if_boot_id="boot-1", if_app_instance="app-1"), NOW)

    assert acts(effects) == ["c1"]


def test_an_action_beyond_its_capabilities_is_rejected() -> None:
    state = DisplayState(BOOT, "app-1", capabilities=["restart_app"])

    assert acks(state.on_command(a_command(action="reboot_host"), NOW)) == [("c1", "rejected", "not_capable")]
    assert state.health({}, NOW)["capabilities"] == ["restart_app"]


def test_a_display_is_asked_for_a_picture_only_if_it_declares_that() -> None:
    able = [*contract.ACTIONS, "screenshot"]
    state = DisplayState(BOOT, "app-1", capabilities=able)
    asked = a_command(action="screenshot")

    effects = state.on_command(asked, NOW)
    after = DisplayState(replace(BOOT, boot_seq=2, boot_id="boot-2"), "app-2", entries(effects), able)

    assert acks(a_state().on_command(asked, NOW)) == [("c1", "rejected", "not_capable")]
    assert acts(effects) == ["c1"]
    assert state.health({}, NOW)["capabilities"] == able
    assert acks(after.booted(NOW)) == [("c1", "failed", "interrupted")]
    assert acts(after.on_command(asked, NOW)) == []


@pytest.mark.parametrize("first", ["screenshot", "restart_app"])
def test_a_screenshot_and_another_command_run_together(first: str) -> None:
    state = DisplayState(BOOT, "app-1", capabilities=[*contract.ACTIONS, "screenshot"])
    second = "restart_app" if first == "screenshot" else "screenshot"
    state.on_command(a_command("c1", first), NOW)

    assert acts(state.on_command(a_command("c2", second), NOW)) == ["c2"]

    assert acks(state.on_command(a_command("c3", first), NOW)) == [("c3", "rejected", "busy")]
    assert acks(state.finished("c1", NOW)) == [("c1", "succeeded", None)]
    assert acks(state.finished("c2", NOW)) == [("c2", "succeeded", None)]


def test_a_second_command_is_rejected_while_the_first_runs() -> None:
    state = a_state()
    state.on_command(a_command("c1"), NOW)

    assert acks(state.on_command(a_command("c2"), NOW)) == [("c2", "rejected", "busy")]


def test_a_rejected_command_stays_rejected_when_it_comes_again() -> None:
    state = a_state()
    state.on_command(a_command(if_app_instance="app-0"), NOW)
    state.app_started("app-0")

    assert acks(state.on_command(a_command(if_app_instance="app-0"), NOW)) == [
        ("c1", "rejected", "precondition_failed")
    ]


@pytest.mark.parametrize(
    ("action", "journalled", "new_boot", "expected"),
    [
        ("reboot_host", "running", True, ("c1", "succeeded", None)),
        ("reboot_host", "received", True, ("c1", "succeeded", None)),  # the effect has happened
        ("restart_app", "received", True, ("c1", "succeeded", None)),
        ("shutdown_host", "running", True, ("c1", "succeeded", None)),
        ("shutdown_host", "received", True, ("c1", "failed", "interrupted")),
        ("reboot_host", "running", False, ("c1", "failed", "interrupted")),  # the agent died, not the host
        ("shutdown_host", "running", False, ("c1", "failed", "interrupted")),
    ],
)
def test_what_a_crash_cut_short_is_settled_by_its_effect_and_never_repeated(
    action: str, journalled: str, new_boot: bool, expected: tuple[str, str, str | None]
) -> None:
    before = a_state()
    written = entries(before.on_command(a_command(action=action), NOW))
    survived = [entry for entry in written if entry.state == "received" or journalled == "running"]
    boot = Boot("installation-a", 2, "boot-2" if new_boot else "boot-1")

    after = a_state(boot, "app-2", survived)
    effects = after.booted(NOW)

    assert acks(effects) == [expected]
    assert acts(effects) == []
    assert acts(after.on_command(a_command(action=action), NOW)) == []


def test_a_screenshot_that_begins_before_an_old_command_is_settled_goes_on() -> None:
    before = a_state()
    before.on_command(a_command("old"), NOW)
    after = a_state(Boot("installation-a", 2, "boot-1"), journal=list(before.journal.values()))
    after.capabilities = ("restart_app", "screenshot")
    left = set(after.journal)
    assert acts(after.on_command(a_command("new", action="screenshot"), NOW))

    settled = acks(after.booted(NOW, left))

    assert settled == [("old", "failed", "interrupted")]
    assert after.journal["new"].state == "running"


def test_the_journal_remembers_the_last_256_ids() -> None:
    state = a_state()
    for number in range(JOURNAL_SIZE + 1):
        state.on_command(a_command(f"c{number}", action="unknown"), NOW)

    assert len(state.journal) == JOURNAL_SIZE
    assert "c0" not in state.journal
    assert "c1" in state.journal


def test_when_the_disk_refuses_the_journal_the_command_can_come_again() -> None:
    state = a_state()
    state.on_command(a_command(), NOW)

    state.journal_is([])

    assert acts(state.on_command(a_command(), NOW)) == ["c1"]


@pytest.mark.parametrize(
    ("command", "number", "answer"),
    [
        ({}, 0, [("c1", "rejected", "no_journal")]),
        ({}, 1, [("c1", "failed", "no_journal")]),
        ({"action": "unknown"}, 0, [("c1", "rejected", "no_journal")]),
    ],
    ids=["received", "running", "refused anyway"],
)
def test_what_the_disk_did_not_take_before_the_action_is_refused_by_memory(
    command: dict[str, Any], number: int, answer: list[tuple[str, str, str]]
) -> None:
    state = a_state()
    written = entries(state.on_command(a_command(**command), NOW))
    state.journal_is(written[:number])

    effects = state.unwritten(written[number], NOW)

    assert (acks(effects), entries(effects), acts(effects)) == (answer, [], [])
    assert acts(state.on_command(a_command(), NOW)) == [], "it comes again, and the answer is the same"
    assert acts(state.on_command(a_command("c2"), NOW)) == ["c2"], "and nothing is in the way of another"


def test_an_outcome_that_the_disk_did_not_take_is_told_and_blocks_nothing() -> None:
    state = a_state()
    written = entries(state.on_command(a_command(), NOW))
    [outcome] = entries(state.finished("c1", NOW))
    state.journal_is(written)  # the disk has only that it runs

    effects = state.unwritten(outcome, NOW)

    assert [told[:2] for told in acks(effects)] == [("c1", "succeeded")]
    assert acts(state.on_command(a_command("c2"), NOW)) == ["c2"]


SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (timedelta(), [{"what": "hours", "reason": "unknown_zone"}]),
        (HOUR - SECOND, [{"what": "hours", "reason": "unknown_zone"}]),
        (HOUR, []),
        (-SECOND, []),
    ],
    ids=["now", "within the hour", "nobody repeats it", "the clock was set back"],
)
def test_a_refused_order_is_told_until_it_is_taken_or_nobody_repeats_it(
    after: timedelta, told: list[dict[str, str]]
) -> None:
    state = a_state()
    state.order_refused("hours", "unknown_zone", NOW)
    state.order_refused("logs_committed", "not_understood", NOW)
    state.order_refused("log_level", "unknown_level", NOW)
    state.order_taken("log_level")

    assert state.health({}, NOW + after)["refused"] == told


def test_every_kind_of_message_is_numbered_from_one_without_a_gap() -> None:
    state = a_state()

    numbers = [state.heartbeat(NOW)["seq"] for _ in range(3)]
    health = state.health({}, NOW)["seq"]
    logs = [state.log("hello", "player", {}, NOW)["seq"] for _ in range(2)]

    assert (numbers, health, logs) == ([1, 2, 3], 1, [1, 2])


def test_a_new_boot_starts_the_numbers_again_under_a_higher_boot_number() -> None:
    a_state().heartbeat(NOW)

    body = a_state(Boot("installation-a", 2, "boot-2")).heartbeat(NOW)

    assert (body["install_id"], body["boot_seq"], body["seq"]) == ("installation-a", 2, 1)


def test_heartbeat_and_health_repeat_what_could_have_been_lost() -> None:
    state = a_state()
    failed = state.service_failed("player.service", "exit-code", 3, NOW)
    state.on_command(a_command(), NOW)
    state.finished("c1", NOW)
    for number in range(2, 12):
        state.on_command(a_command(f"c{number}", action="unknown"), NOW)

    heartbeat = state.heartbeat(NOW)
    health = state.health({"cpu_percent": 12}, NOW)

    assert heartbeat["last_command"] == {"id": "c11", "state": "rejected"}
    assert [ack["id"] for ack in health["recent_acks"]] == [f"c{number}" for number in range(4, 12)]
    assert health["service_failed"]["unit"] == "player.service"
    assert health["service_failed"]["seq"] == failed["seq"]
    assert health["cpu_percent"] == 12


def test_recent_acks_carry_the_stamp_with_which_they_were_told() -> None:
    state = a_state()
    told = state.on_command(a_command(if_boot_id="other"), NOW)
    ack = next(effect.body for effect in told if isinstance(effect, Send))

    repeated = state.health({}, NOW)["recent_acks"][0]

    assert {name: ack[name] for name in repeated} == repeated


def test_a_fresh_player_has_no_failed_unit() -> None:
    state = a_state()
    state.service_failed("player.service", "exit-code", 1, NOW)

    state.app_started("app-2")

    assert state.health({}, NOW)["service_failed"] is None
    assert state.heartbeat(NOW)["app_instance"] == "app-2"


def test_a_temporary_log_level_ends_by_itself() -> None:
    state = a_state()
    assert not state.is_logged("debug", NOW)

    state.on_log_level(LogLevelOrder("debug", 60), NOW)

    assert state.is_logged("debug", NOW + timedelta(seconds=59))
    assert state.health({}, NOW)["log_level"] == "debug"
    assert not state.is_logged("debug", NOW + timedelta(seconds=60))
    assert state.log_level(NOW + timedelta(seconds=60)) == contract.DEFAULT_LEVEL


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"action": "restart_app"}',
        b'{"id": 7, "action": "restart_app"}',
        b'{"id": "", "action": "restart_app"}',
        b'{"id": "c1", "action": "restart_app", "v": "1"}',
        b'{"id": "c1", "action": "restart_app", "if_boot_id": 3}',
        b"[" * 1000,
        b'{"id": "c1", "action": "restart_app", "pad": "' + b"x" * 1024 + b'"}',
    ],
)
def test_a_command_that_cannot_be_understood_is_refused_by_name(payload: bytes) -> None:
    with pytest.raises(BadMessage):
        contract.parse_command(payload)


def test_unknown_fields_of_a_command_are_ignored() -> None:
    command = contract.parse_command(b'{"id": "c1", "action": "restart_app", "expires_at": "x", "new": {}}')

    assert command == a_command()


@pytest.mark.parametrize("payload", [b'{"level": "loud", "until": 60}', b'{"level": "debug", "until": true}'])
def test_a_log_level_that_does_not_exist_is_refused(payload: bytes) -> None:
    with pytest.raises(BadMessage):
        contract.parse_log_level(payload)


@given(st.text(max_size=20_000), st.dictionaries(st.text(max_size=10), st.text(max_size=9_000), max_size=3))
def test_a_log_message_always_fits_its_topic(message: str, context: dict[str, str]) -> None:
    body = a_state().log(message, "player", context, NOW)

    assert len(contract.encode(body)) <= contract.LOGS.max_bytes
    assert body.get("truncated", False) == (body["message"] != message or body["context"] != context)


def test_a_message_of_four_byte_characters_is_cut_to_the_bytes_of_its_topic() -> None:
    body = a_state().log("\N{SNOWMAN}" * 9_000, "player", {}, NOW)

    assert 2_000 < len(body["message"]) < contract.MESSAGE_MAX_CHARS
    assert body["truncated"] is True


def test_the_outbox_keeps_what_nobody_got_and_forgets_what_was_taken_or_refused() -> None:
    outbox = Outbox()
    for mid, code in [(1, 0x00), (2, 0x10), (3, 0x87)]:
        outbox.keep(contract.ACKS, str(mid).encode()).mid = mid
        outbox.answered(mid, code)

    assert [kept.payload for kept in outbox.unsent()] == [b"2"]


def test_the_outbox_sends_again_in_order_after_a_loss_and_is_bounded() -> None:
    outbox = Outbox()
    for number in range(KEPT_MESSAGES + 1):
        outbox.keep(contract.ACKS, str(number).encode()).mid = number
    assert outbox.unsent() == []

    outbox.connection_lost()

    assert [int(kept.payload) for kept in outbox.unsent()] == list(range(1, KEPT_MESSAGES + 1))


def test_the_pace_stays_within_the_services_budget() -> None:
    pace, now, sent = Pace(), 100.0, 0
    while now < 110.0:
        wait = pace.wait_seconds(now)
        now += wait
        sent += not wait

    assert sent <= 500 + 50 * 10  # the service's burst and rate
    assert sent >= 40 * 10


def test_the_back_off_grows_is_bounded_and_lets_a_new_login_in_within_two_seconds() -> None:
    rng = random.Random(1)
    waits = [backoff_seconds(attempt, rng) for attempt in range(1, 20)]

    assert sum(waits[:2]) < 2.0
    assert max(waits) <= 30.0
    assert waits[10] > waits[0]


# --- random events in any order ---


@dataclass
class Machine:
    """A display with a disk that can crash between any two effects; it carries out the state's effects."""

    disk: list[JournalEntry] = field(default_factory=list)
    boots: int = 0
    acted: Counter[str] = field(default_factory=Counter)
    told: dict[str, list[str]] = field(default_factory=dict)

    def boot(self) -> None:
        self.boots += 1
        self.numbers: list[int] = []
        boot = Boot("installation-a", self.boots, f"boot-{self.boots}")
        self.state = DisplayState(boot, f"app-{self.boots}", self.disk)
        self.carry_out(self.state.booted(NOW))

    def carry_out(self, effects: list[Effect], crash_before: int | None = None) -> None:
        for index, effect in enumerate(effects):
            if index == crash_before:
                self.boot()
                return
            self.carry_out_one(effect)

    def carry_out_one(self, effect: Effect) -> None:
        match effect:
            case Write(entry):
                self.disk.append(entry)
            case Send(_, body):
                self.numbers.append(body["seq"])
                self.told.setdefault(body["id"], []).append(body["state"])
            case Act(_, command_id):
                self.acted[command_id] += 1


STEPS = st.one_of(
    st.tuples(
        st.just("command"),
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from(contract.ACTIONS),
        st.sampled_from([None, "boot-1", "boot-2"]),
        st.one_of(st.none(), st.integers(0, 5)),
    ),
    st.tuples(st.just("finished"), st.sampled_from(["c1", "c2", "c3"]), st.booleans()),
    st.tuples(st.just("power cut")),
)


@given(st.lists(STEPS, max_size=25))
def test_no_command_is_done_twice_or_takes_back_what_was_told(steps: list[tuple[Any, ...]]) -> None:
    machine = Machine()
    machine.boot()

    for step in steps:
        match step:
            case ("command", identity, action, if_boot, crash_before):
                command = a_command(identity, action, if_boot_id=if_boot)
                machine.carry_out(machine.state.on_command(command, NOW), crash_before)
            case ("finished", identity, worked):
                machine.carry_out(machine.state.finished(identity, NOW, None if worked else "broken"))
            case _:
                machine.boot()
        assert machine.numbers == list(range(1, len(machine.numbers) + 1))

    assert all(times == 1 for times in machine.acted.values())
    for states in machine.told.values():
        ranks = [COMMAND_RANKS[CommandState(state)] for state in states]
        assert ranks == sorted(ranks)
        assert len({state for state in states if COMMAND_RANKS[CommandState(state)] == 90}) <= 1


TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_every_answer_carries_the_commands_trace_also_after_a_restart() -> None:
    state = a_state()
    told = state.on_command(a_command(traceparent=TRACEPARENT), NOW)

    later = a_state(replace(BOOT, boot_seq=2), "app-2", list(state.journal.values()))
    told += later.booted(NOW) + later.on_command(a_command(), NOW)

    traces = [effect.body["traceparent"] for effect in told if isinstance(effect, Send)]
    assert traces == [TRACEPARENT] * 4  # received, running, succeeded, and once more for the repeat


@pytest.mark.parametrize("given", [None, 7, ["x"], "x" * 129])
def test_what_is_no_trace_leaves_no_command_undone(given: Any) -> None:
    body = {"id": "c1", "action": "restart_app", "traceparent": given}

    assert contract.parse_command(json.dumps(body).encode()).traceparent is None


def test_a_mark_above_the_highest_number_given_is_of_another_life() -> None:
    state = a_state()
    state.log("one", "player", {}, NOW)
    boot = (BOOT.install_id, BOOT.boot_seq)

    assert state.is_mine(LogsCommitted(*boot, 1))
    assert not state.is_mine(LogsCommitted(*boot, 2))
    assert state.is_mine(LogsCommitted(BOOT.install_id, BOOT.boot_seq - 1, 50))  # of an earlier boot
