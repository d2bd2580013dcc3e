"""What recovery does about an unhealthy client, and the reason in words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from shared.recovery import rules, words_rules
from shared.recovery.breakers import rules as breakers
from shared.recovery.breakers.rules import Silence
from shared.recovery.evidence import rules as evidence
from shared.recovery.evidence.rules import Fleet, RecoveryFacts
from shared.recovery.rules import Verdict
from shared.vocabulary import (
    MENDED_BY_A_START,
    CommandAction,
    Presence,
    ProcessStatus,
    RecoveryBasis,
    RecoveryState,
    ScreenHealthStatus,
)
from shared.words.reader import english
from shared.words.sentences import as_given

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NOTHING: dict[str, Any] = {
    **dict.fromkeys(RecoveryFacts.__struct_fields__),
    **dict.fromkeys(("step", "restarts", "reboots", "refused_restarts", "refused_reboots"), 0),
    **dict.fromkeys(("lockout_is_ours", "refused_elsewhere", "shut_down"), False),
    "uuid": "a display",
    "status": "running",
    "process_status": ProcessStatus.RUNNING,
    "presence": Presence.ONLINE,
    "screen_health": ScreenHealthStatus.OK,
}
WELL = RecoveryFacts(**NOTHING)
CRASHED = replace(
    WELL,
    process_status=ProcessStatus.CRASHED,
    process_status_since=NOW - timedelta(minutes=2),
    last_heartbeat_at=NOW - timedelta(seconds=10),
)
HEARD = Fleet(
    enabled=True, bridge_silent=False, listening_since=NOW - timedelta(hours=9), stale_seconds=180, breakers={}
)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def verdict(client: RecoveryFacts, **fleet: Any) -> Verdict:
    return rules.recovery_state(client, NOW, replace(HEARD, **fleet))


SILENT = {"last_heartbeat_at": ago(241)}
FAILED = {"process_status": ProcessStatus.RUNNING, "service_failed_unit": "x.service", "service_failed_at": ago(60)}
DONE = {"lockout_is_ours": True, "tried_action": "restart_app", "tried_state": "succeeded"}
CABLE: dict[str, Any] = {
    "process_status": ProcessStatus.RUNNING,
    "screen_health": ScreenHealthStatus.DISCONNECTED,
    "screen_failed_since": ago(90),
    "screen_failed_at": ago(60),
}
TOLD_TWICE = {"health_previous_at": ago(90), "health_received_at": ago(60)}
BLACK = {**CABLE, **TOLD_TWICE, "screen_health": ScreenHealthStatus.BLACK}
CASES: list[tuple[dict[str, Any], RecoveryState, str]] = [
    ({}, RecoveryState.DUE, "crashed for two minutes, heard a moment ago"),
    ({"process_status_since": ago(20)}, RecoveryState.DUE, "20 s are enough"),
    ({"open_action": "restart_app"}, RecoveryState.IN_FLIGHT, "a command is open, whoever sent it"),
    ({"lockout_until": NOW + timedelta(seconds=1)}, RecoveryState.LOCKED, "a restart ran lately"),
    ({"lockout_until": NOW}, RecoveryState.DUE, "the lockout is over"),
    (
        {"lockout_until": NOW + timedelta(seconds=1), **DONE},
        RecoveryState.VERIFYING,
        "recovery's own restart was done",
    ),
    ({"capabilities": ["reboot_host"]}, RecoveryState.NOT_RECOVERED, "it cannot restart its player"),
    ({"capabilities": ["restart_app"]}, RecoveryState.DUE, "it can"),
    ({"capabilities": ["restart_app"], "step": 2}, RecoveryState.NOT_RECOVERED, "it cannot be rebooted"),
    ({"unheard_at": ago(10)}, RecoveryState.UNREACHABLE, "not connected, and no heartbeat since"),
    ({"unheard_at": ago(11)}, RecoveryState.DUE, "a heartbeat since"),
    ({"presence": Presence.OFFLINE, "presence_at": ago(5)}, RecoveryState.UNREACHABLE, "gone after its heartbeat"),
    ({"presence": Presence.OFFLINE, "presence_at": ago(15)}, RecoveryState.DUE, "the heartbeat is the truth"),
    ({"step": 4}, RecoveryState.SUSPENDED, "everything was tried"),
    ({"refused_reboots": 3, "refused_reason": "busy"}, RecoveryState.DUE, "a refusal is no rung"),
    ({"refused_reboots": 3, "refused_restarts": 1}, RecoveryState.SUSPENDED, "it is not asked without end"),
    ({"last_heartbeat_at": NOW - timedelta(days=1)}, RecoveryState.DUE, "silent for a day"),
    ({"last_heartbeat_at": NOW - timedelta(days=1, seconds=1)}, RecoveryState.NOT_RECOVERED, "and a second"),
    ({"open_action": "reboot_host", "open_created_at": ago(720)}, RecoveryState.IN_FLIGHT, "as long as one of ours"),
    (
        {"open_action": "reboot_host", "open_created_at": ago(721)},
        RecoveryState.LOCKED,
        "a person's, with hours to live",
    ),
    ({"shut_down": True, "step": 4}, RecoveryState.HELD, "what a person did comes first"),
    ({"open_action": "reboot_host", "shut_down": True}, RecoveryState.IN_FLIGHT, "what is on its way is not held"),
    (SILENT, RecoveryState.DUE, "silent while we listened"),
    ({**SILENT, "process_status": ProcessStatus.RUNNING}, RecoveryState.DUE, "whatever its player was"),
    ({"last_heartbeat_at": ago(180)}, RecoveryState.DUE, "at the threshold it is still heard, and crashed"),
    (
        {"last_heartbeat_at": ago(180), "process_status": ProcessStatus.RUNNING},
        RecoveryState.VERIFYING,
        "at the threshold it is still heard, and well",
    ),
    ({"last_heartbeat_at": None}, RecoveryState.NOT_RECOVERED, "No heartbeat"),
    ({**SILENT, "presence": Presence.OFFLINE}, RecoveryState.UNREACHABLE, "silent and not connected"),
    ({**SILENT, "presence": Presence.UNKNOWN}, RecoveryState.DUE, "silent, and nobody knows whether it is connected"),
    ({**SILENT, "unheard_at": ago(100)}, RecoveryState.UNREACHABLE, "silent, and not connected at the last command"),
    (
        {**SILENT, "unheard_at": ago(200), "presence_at": ago(150)},
        RecoveryState.DUE,
        "not connected then, but it has connected since",
    ),
    (FAILED, RecoveryState.DUE, "a service failed"),
    (
        {**FAILED, "health_received_at": ago(30), "health_says_none": True},
        RecoveryState.VERIFYING,
        "the failure is not said any more",
    ),
    (BLACK, RecoveryState.DUE, "black, by reports in a row"),
    *[({**BLACK, "screen_health": screen}, RecoveryState.DUE, screen.value) for screen in MENDED_BY_A_START],
    ({**BLACK, "screen_health": ScreenHealthStatus.WRONG_PAGE}, RecoveryState.NOT_RECOVERED, "another page"),
    ({**BLACK, "health_previous_at": None}, RecoveryState.VERIFYING, "black, by old reports"),
    ({**BLACK, "process_status": ProcessStatus.STARTING}, RecoveryState.VERIFYING, "black, and the player is starting"),
    ({**BLACK, **SILENT}, RecoveryState.DUE, "black and silent is silent"),
    ({**BLACK, "unheard_at": ago(5)}, RecoveryState.UNREACHABLE, "black, and the display is not connected"),
    ({**BLACK, "lockout_until": NOW + timedelta(seconds=1)}, RecoveryState.LOCKED, "black, and restarted lately"),
    ({**BLACK, "shut_down": True}, RecoveryState.HELD, "black, and a person wants it left alone"),
    ({**BLACK, "capabilities": ["reboot_host"]}, RecoveryState.NOT_RECOVERED, "black, and it restarts no player"),
    (CABLE, RecoveryState.NOT_RECOVERED, "no command puts a cable back"),
    (
        {**CABLE, "screen_health": ScreenHealthStatus.OFF},
        RecoveryState.NOT_RECOVERED,
        "no command switches a screen on",
    ),
    ({**FAILED, "unheard_at": ago(5)}, RecoveryState.UNREACHABLE, "a service failed, and the display is not connected"),
]


@pytest.mark.parametrize(("facts", "state", "note"), CASES, ids=[note for _, _, note in CASES])
def test_the_state_follows_from_the_facts(facts: dict[str, Any], state: RecoveryState, note: str) -> None:
    answer = verdict(replace(CRASHED, **facts))

    assert answer.state is state
    assert answer.acts is (state is RecoveryState.DUE)
    assert english(answer.why).endswith(".")


def test_a_locked_client_says_until_when() -> None:
    until = NOW + timedelta(minutes=7)

    assert verdict(replace(CRASHED, lockout_until=until)).until == until


LADDER: list[tuple[dict[str, Any], int, CommandAction]] = [
    ({}, 0, CommandAction.RESTART_APP),
    ({}, 1, CommandAction.RESTART_APP),
    ({}, 2, CommandAction.REBOOT_HOST),
    ({}, 3, CommandAction.REBOOT_HOST),
    (FAILED, 1, CommandAction.RESTART_APP),
    (FAILED, 2, CommandAction.REBOOT_HOST),
    (SILENT, 0, CommandAction.REBOOT_HOST),
    (SILENT, 3, CommandAction.REBOOT_HOST),
]


@pytest.mark.parametrize(("facts", "step", "action"), LADDER)
def test_evidence_and_rung_decide_the_action(facts: dict[str, Any], step: int, action: CommandAction) -> None:
    answer = verdict(replace(CRASHED, **{**facts, "step": step}))

    assert (answer.state, answer.action) == (RecoveryState.DUE, action)


CAME_ONLINE = {"last_heartbeat_at": ago(3600), "presence_at": ago(119)}
SELDOM = {"last_heartbeat_at": ago(1199), "interval_seconds": 300}
WAITS: list[tuple[dict[str, Any], str]] = [
    ({"process_status_since": ago(19)}, "the display's own watchdog goes first."),
    ({"last_heartbeat_at": ago(239)}, "to see whether many others did too."),
    (SELDOM, "to see whether many others did too."),
    (CAME_ONLINE, "its first heartbeat."),
    ({**BLACK, "screen_failed_at": ago(59)}, "to see whether many others fail too."),
]


@pytest.mark.parametrize(("facts", "words"), WAITS)
def test_recovery_waits_a_second_more_and_then_acts(facts: dict[str, Any], words: str) -> None:
    client, then = replace(CRASHED, **facts), NOW + timedelta(seconds=1)

    answer = verdict(client)

    assert (answer.state, answer.acts, answer.until) == (RecoveryState.DUE, False, then)
    assert english(answer.why).endswith(words)
    assert rules.recovery_state(client, then, HEARD).acts


@pytest.mark.parametrize("presence", [{"presence": Presence.UNKNOWN}, {"presence_at": ago(-3600)}])
def test_only_a_connection_of_the_past_makes_recovery_wait(presence: dict[str, Any]) -> None:
    assert verdict(replace(CRASHED, **{**CAME_ONLINE, **presence})).acts  # a clock was set back, or nobody knows


def test_a_suspended_client_says_what_was_tried_how_often_and_that_nothing_helped() -> None:
    client = replace(CRASHED, step=4, restarts=2, reboots=2, tried_since=ago(45 * 60))

    answer = verdict(client)

    assert english(answer.why) == (
        "2 restarts and 2 reboots did not help, the first of them 45 minutes ago:"
        " nothing is sent any more until a person acts and resumes recovery."
    )
    assert (answer.until, answer.action) == (None, None)


@pytest.mark.parametrize(
    ("restarts", "reboots", "words"),
    [
        (0, 0, "Nothing has helped"),
        (1, 0, "1 restart did not help"),
        (2, 1, "2 restarts and 1 reboot did not help"),
        (0, 4, "4 reboots did not help"),
    ],
)
def test_what_was_tried_is_counted_in_words(restarts: int, reboots: int, words: str) -> None:
    answer = verdict(replace(CRASHED, step=4, restarts=restarts, reboots=reboots))

    assert english(answer.why).startswith(f"{words}:")


def test_a_heartbeat_from_before_we_listened_is_no_evidence_of_a_crash() -> None:
    answer = verdict(CRASHED, listening_since=ago(5))

    assert (answer.state, answer.acts, answer.until) == (
        RecoveryState.BLOCKED_BRIDGE,
        False,
        NOW + timedelta(seconds=175),
    )


@pytest.mark.parametrize(("listened", "acts"), [(20, False), (180, False), (239, False), (240, True)])
def test_silence_counts_from_when_we_began_to_listen(listened: int, acts: bool) -> None:
    client = replace(CRASHED, last_heartbeat_at=ago(3600))

    assert verdict(client, listening_since=ago(listened)).acts is acts


def test_a_long_interval_of_its_own_makes_a_display_silent_later() -> None:
    client = replace(CRASHED, last_heartbeat_at=ago(500), interval_seconds=300)

    assert evidence.evidence(client, NOW, HEARD) is RecoveryBasis.CRASHED


OPEN = as_given(text="612 of 1,000 are silent.")


@pytest.mark.parametrize(
    ("facts", "site", "breakers", "state"),
    [
        (SILENT, None, [None], RecoveryState.BLOCKED_BREAKER),
        (SILENT, "Basel", [None], RecoveryState.BLOCKED_BREAKER),
        (SILENT, "Basel", ["Basel"], RecoveryState.BLOCKED_BREAKER),
        (SILENT, "Bern", ["Basel"], RecoveryState.DUE),
        (SILENT, None, ["Basel"], RecoveryState.DUE),
        ({}, "Basel", [None, "Basel"], RecoveryState.DUE),  # the crash is reported
        (FAILED, "Basel", [None], RecoveryState.DUE),
        ({**SILENT, "presence": Presence.OFFLINE}, None, [None], RecoveryState.UNREACHABLE),
    ],
)
def test_a_breaker_holds_back_what_is_done_to_the_silent_only(
    facts: dict[str, Any], site: str | None, breakers: list[str | None], state: RecoveryState
) -> None:
    of_silence = {(RecoveryBasis.STALE, site): OPEN for site in breakers}
    answer = verdict(replace(CRASHED, **facts, site=site), breakers=of_silence)

    assert answer.state is state
    assert (answer.why == OPEN) is (state is RecoveryState.BLOCKED_BREAKER)


def test_whoever_is_part_of_an_incident_is_told_its_cause() -> None:
    answer = verdict(CRASHED, incidents={CRASHED.uuid: as_given(text="Basel lost its network.")})

    assert english(answer.why).endswith(" It is part of an incident: Basel lost its network.")
    assert answer.acts


def test_switched_off_says_so_before_anything_else() -> None:
    client = replace(CRASHED, open_action="restart_app", shut_down=True)

    answer = verdict(client, enabled=False, bridge_silent=True)

    assert answer.state is RecoveryState.OFF
    assert "CRASH_RECOVERY_ENABLED" in english(answer.why)


@pytest.mark.parametrize("facts", [{}, {"last_heartbeat_at": ago(600)}, {"lockout_until": NOW + timedelta(1)}])
def test_while_the_bridge_is_silent_nothing_is_done_to_anybody(facts: dict[str, Any]) -> None:
    answer = verdict(replace(CRASHED, **facts), bridge_silent=True)

    assert (answer.state, answer.acts) == (RecoveryState.BLOCKED_BRIDGE, False)


@pytest.mark.parametrize(
    ("status", "process_status", "service_fails", "unwell"),
    [
        ("running", "running", False, False),
        ("late", "running", False, False),
        ("stopped", "stopped", False, False),
        ("crashed", "crashed", False, True),
        ("unknown", "crashed", False, True),  # the bridge is silent; the last report was `crashed`
        ("stale", "running", False, True),
        ("running", "running", True, True),
    ],
)
def test_who_is_unwell(status: str, process_status: str, service_fails: bool, unwell: bool) -> None:
    assert evidence.is_unwell(status, process_status, service_fails, None) is unwell
    assert evidence.is_unwell(status, process_status, service_fails, NOW)  # a screen fails


TRIED = {"service_failed_at": ago(900), "tried_state": "succeeded", "tried_finished_at": ago(600)}
FAILURES: list[tuple[dict[str, Any], bool, str]] = [
    ({}, False, "nothing failed"),
    ({"service_failed_at": ago(60)}, True, "it failed, and nothing was said since"),
    (
        {"service_failed_at": ago(60), "health_received_at": ago(30), "health_says_none": True},
        False,
        "the display says that nothing fails any more",
    ),
    (
        {"service_failed_at": ago(60), "health_received_at": ago(70), "health_says_none": True},
        True,
        "that was before it failed",
    ),
    (TRIED, False, "a restart was done since, and the display has not said so again"),
    ({**TRIED, "tried_state": "expired"}, True, "the restart was never done"),
    ({**TRIED, "tried_finished_at": ago(901)}, True, "it failed after the restart"),
    ({**TRIED, "health_received_at": ago(500), "health_repeats": True}, True, "the display said so after the restart"),
    ({**TRIED, "health_received_at": ago(700), "health_repeats": True}, False, "it said so before the restart only"),
    ({**TRIED, "health_received_at": ago(500)}, False, "a plain report that says nothing of services"),
]


@pytest.mark.parametrize(("facts", "stands", "note"), FAILURES, ids=[note for _, _, note in FAILURES])
def test_whether_a_failure_stands_is_known_by_the_displays_word_not_by_the_mark(
    facts: dict[str, Any], stands: bool, note: str
) -> None:
    assert replace(WELL, **facts).failure_stands is stands


RUNNING = replace(CRASHED, process_status=ProcessStatus.RUNNING)


@pytest.mark.parametrize(
    ("client", "healthy_since", "recovered"),
    [
        (RUNNING, None, False),
        (replace(RUNNING, process_status_since=ago(7200)), ago(1799), False),
        (replace(RUNNING, process_status_since=ago(7200)), ago(1800), True),
        (replace(RUNNING, process_status_since=ago(1799)), ago(7200), False),  # it crashed between two ticks
        (replace(RUNNING, process_status_since=None), ago(1800), True),
    ],
)
def test_the_ladder_begins_anew_after_half_an_hour_of_health(
    client: RecoveryFacts, healthy_since: datetime | None, recovered: bool
) -> None:
    assert evidence.has_recovered(client, NOW, healthy_since) is recovered


@pytest.mark.parametrize(
    ("facts", "healthy"),
    [
        ({}, True),
        ({"process_status": ProcessStatus.UNKNOWN}, True),
        ({"process_status": ProcessStatus.STARTING}, False),
        ({"process_status": ProcessStatus.STOPPED}, False),
        ({"process_status": ProcessStatus.CRASHED}, False),
        ({"service_failed_at": ago(60)}, False),
        (SILENT, False),
    ],
)
def test_healthy_is_only_what_is_known_to_be(facts: dict[str, Any], healthy: bool) -> None:
    assert evidence.is_healthy(replace(RUNNING, **facts), NOW, HEARD) is healthy
    assert not evidence.is_healthy(replace(RUNNING, **facts), NOW, replace(HEARD, bridge_silent=True))


# --- breakers ---


@pytest.mark.parametrize(
    ("seen", "stale", "recent", "opens", "stays"),
    [
        (1000, 0, 0, False, False),
        (1000, 199, 199, False, False),  # not a fifth
        (1000, 200, 200, True, True),
        (1000, 200, 199, False, True),
        (1000, 499, 0, False, True),  # not a half, and not at once
        (1000, 500, 0, True, True),
        (10, 4, 4, False, False),  # fewer than five
        (9, 5, 0, True, True),
        (20, 5, 5, True, True),
        (0, 0, 0, False, False),
    ],
)
def test_when_a_breaker_opens_and_how_long_it_stays(
    seen: int, stale: int, recent: int, opens: bool, stays: bool
) -> None:
    silence = Silence(seen, stale, recent)

    assert (breakers.opens(silence), not breakers.is_low(silence)) == (opens, stays)


@pytest.mark.parametrize(
    ("seen", "stale", "let_alone", "stays"),
    [
        (3, 3, 9, True),  # nine of twelve were excluded, and none came back
        (4, 2, 8, True),
        (4, 1, 8, False),  # most of the counted clients came back
        (3, 0, 9, False),
        (0, 0, 12, False),
        (3, 3, 1, False),  # fewer than five are silent in all
        (30, 5, 9, False),  # not a fifth
    ],
)
def test_who_is_excluded_while_a_breaker_is_open_has_not_come_back(
    seen: int, stale: int, let_alone: int, stays: bool
) -> None:
    assert breakers.is_low(Silence(seen, stale, 0, let_alone)) is not stays


@pytest.mark.parametrize(
    ("late", "seen", "waits"),
    [(4, 10, False), (5, 26, False), (5, 25, True), (19, 20, True), (0, 0, False)],
)
def test_while_many_are_late_silence_is_looked_at_first(late: int, seen: int, waits: bool) -> None:
    why = breakers.why_wait(late, seen)

    assert (why is not None) is waits
    assert verdict(replace(CRASHED, last_heartbeat_at=ago(241)), late=why).acts is not waits
    assert verdict(CRASHED, late=why).acts  # a reported crash needs no breaker


def test_an_open_breaker_closes_when_few_enough_were_silent_for_a_while() -> None:
    few = Silence(100, 3, 0, interval_seconds=30)
    assert not breakers.closes(NOW, None, few)
    assert not breakers.closes(NOW, NOW, few)
    assert not breakers.closes(NOW, NOW - timedelta(seconds=44), few)
    assert breakers.closes(NOW, NOW - timedelta(seconds=45), few)


DAY = timedelta(hours=24)


@pytest.mark.parametrize(
    ("listening_since", "heard_until", "since"),
    [
        (NOW - 3 * DAY, None, NOW - DAY),
        (NOW - DAY / 2, NOW - 2 * DAY, NOW - 2.5 * DAY),  # the bridge was deaf for a day and a half
        (None, NOW - DAY, NOW - 2 * DAY),  # still deaf
        (None, None, NOW - DAY),  # no client was ever heard
    ],
)
def test_a_day_in_which_we_did_not_listen_is_no_day(
    listening_since: datetime | None, heard_until: datetime | None, since: datetime
) -> None:
    assert breakers.seen_since(NOW, listening_since, heard_until) == since


def test_reports_that_come_again_before_the_heartbeats_are_not_called_unheard() -> None:
    back = {"listening_since": ago(60)}
    gone = replace(CRASHED, last_heartbeat_at=ago(600))

    assert "has not been heard since" in english(verdict(gone, **back).why)
    talks = verdict(replace(gone, sign_at=ago(10)), **back)
    assert (talks.state, talks.mute) == (RecoveryState.BLOCKED_BRIDGE, False)
    assert talks.why == words_rules.reports_come_again()


DARK = replace(CRASHED, **BLACK)


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_a_black_screen_goes_up_the_ladder_of_a_crash(step: int) -> None:
    assert verdict(replace(DARK, step=step)).action is rules.LADDER[step]


def test_a_crash_is_acted_on_before_the_screen_that_it_turned_black() -> None:
    assert verdict(replace(DARK, process_status=ProcessStatus.CRASHED)).basis is RecoveryBasis.CRASHED


@pytest.mark.parametrize(("site", "blocked"), [(None, "Rome"), ("Rome", "Rome"), ("Oslo", "Rome"), ("Oslo", None)])
def test_while_too_many_screens_fail_none_there_is_acted_on(site: str | None, blocked: str | None) -> None:
    screens, silence = RecoveryBasis.SCREEN_FAILED, RecoveryBasis.STALE
    answer = verdict(replace(DARK, site=site), breakers={(screens, blocked): OPEN})
    of_silence = verdict(replace(DARK, site=site), breakers={(silence, blocked): OPEN})
    crashed = verdict(replace(CRASHED, site=site), breakers={(screens, blocked): OPEN})

    is_meant = blocked is None or site == blocked
    assert (answer.state is RecoveryState.BLOCKED_BREAKER) is is_meant
    assert answer.acts is not is_meant
    assert of_silence.acts
    assert crashed.acts


def test_what_is_said_of_a_screen_that_no_command_mends() -> None:
    cable, off, page = (
        english(verdict(replace(CRASHED, **{**CABLE, "screen_health": ScreenHealthStatus(word)})).why)
        for word in ("disconnected", "off", "wrong_page")
    )

    assert cable == (
        "The screen is disconnected. No command mends that: somebody has to look at its cable and its power."
    )
    assert off == (
        "The screen is off, and nobody planned that."
        " No command is sent: somebody has to switch it on, or plan the time in which it is off."
    )
    assert page == (
        "The screen shows another page than expected."
        " No command is sent: somebody has to look at what the player was given to show, or change what is expected."
    )


@pytest.mark.parametrize("screen", ScreenHealthStatus)
def test_a_display_whose_screen_a_start_may_mend_is_not_well(screen: ScreenHealthStatus) -> None:
    fails = replace(CRASHED, process_status=ProcessStatus.RUNNING, screen_health=screen, screen_failed_since=NOW)

    assert evidence.is_healthy(fails, NOW, HEARD) is (screen not in MENDED_BY_A_START)
