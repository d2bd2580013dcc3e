"""A display that numbers from 1 again recovers by itself, and loses no log line that was reported as committed."""

import itertools
import time
import uuid as uuids
from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bridge.conftest import stamp
from tests.bridge.test_memory import Fleet, Said, client, fleet, health, heartbeat, log

__all__ = ["client", "fleet"]
INSTALL: Final = "installation-a"


def later(fleet: Fleet, client: str, seconds: int) -> None:
    """Let `seconds` pass, by moving the stored times into the past."""
    fleet.do(
        """
        WITH ago AS (SELECT make_interval(secs => :s) AS ago),
        heartbeats AS (
            UPDATE client_heartbeats SET last_heartbeat_at = last_heartbeat_at - ago FROM ago WHERE client_uuid = :u),
        health AS (UPDATE client_health SET received_at = received_at - ago FROM ago WHERE client_uuid = :u)
        UPDATE log_marks SET doubted_at = doubted_at - ago FROM ago WHERE client_uuid = :u
        """,
        s=seconds,
        u=client,
    )


def told(fleet: Fleet, *said: Said) -> dict[int, int]:
    """Boot -> number that is reported as committed to the display."""
    return {boot_seq: seq for (_, _, boot_seq), seq in fleet.write(*said).committed.items()}


def messages(fleet: Fleet, client: str) -> list[str]:
    rows = fleet.rows("SELECT message FROM client_logs WHERE client_uuid = :u ORDER BY id", u=client)
    return [row["message"] for row in rows]


def second(client: str, seq: int, **fields: Any) -> Said:
    """A line of the second life."""
    return log(client, seq, message=f"second {seq}", **fields)


# --- liveness, boot id, commands ---


def test_a_power_cut_that_took_the_boots_number_back_is_seen_at_the_first_heartbeat(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1), health(client, 1))
    fleet.write(heartbeat(client, 300), health(client, 60))

    outcome = fleet.write(heartbeat(client, 1, boot_id="after"))
    fleet.write(heartbeat(client, 2, boot_id="after"), health(client, 1, hostname="again"))

    now = fleet.one(client)
    assert (now["boot_id"], now["seq"], now["hostname"]) == ("after", 2, "again")
    assert now["counter_went_back_at"] is not None
    assert outcome.went_back == {client}


@pytest.mark.parametrize("boot_id", ["after", None])
def test_an_older_image_is_believed_once_nothing_older_can_be_on_its_way(
    fleet: Fleet, client: str, boot_id: str | None
) -> None:
    fleet.write(heartbeat(client, 300, boot_id=boot_id and "before", **boot(17)))

    fleet.write(heartbeat(client, 1, boot_id=boot_id, **boot(6)))
    assert (fleet.one(client)["seq"], fleet.one(client)["counter_went_back_at"]) == (300, None)

    later(fleet, client, 91)
    fleet.write(heartbeat(client, 4, boot_id=boot_id, **boot(6)))
    fleet.write(heartbeat(client, 5, boot_id=boot_id, **boot(6)))
    assert (fleet.one(client)["seq"], fleet.one(client)["boot_id"]) == (5, boot_id)
    assert fleet.one(client)["counter_went_back_at"] is not None


@pytest.mark.parametrize("leapt", ["boot_seq", "seq"])
def test_a_counter_that_leapt_as_high_as_can_be_and_came_back_heals_too(fleet: Fleet, client: str, leapt: str) -> None:
    usual = [heartbeat(client, 41), health(client, 11), log(client, 1)]
    highest = {**boot(1), leapt: 2**63 - 1}
    wild = [kind(client, highest.get("seq", 42), **boot(highest["boot_seq"])) for kind in (heartbeat, health, log)]

    fleet.write(*usual)
    fleet.write(*wild)
    fleet.write(heartbeat(client, 43), health(client, 12, hostname="again"), log(client, 2))
    later(fleet, client, 331)
    fleet.write(heartbeat(client, 44), health(client, 13, hostname="again"), log(client, 3))
    fleet.write(heartbeat(client, 45))

    now = fleet.one(client)
    assert (now["seq"], now["hostname"]) == (45, "again")
    assert len(messages(fleet, client)) == 4
    assert told(fleet, log(client, 4))[1] == 4


def test_an_installation_that_returns_is_believed_with_its_health(fleet: Fleet, client: str) -> None:
    spare = {"install_id": "spare"}
    fleet.write(heartbeat(client, 300), health(client, 60))
    fleet.write(heartbeat(client, 1, boot_id="spare", **spare), health(client, 1, hostname="spare", **spare))

    fleet.write(heartbeat(client, 1, boot_id="back", **boot(2)), health(client, 1, **boot(2)))
    assert fleet.one(client)["boot_id"] == "spare"

    later(fleet, client, 91)
    fleet.write(heartbeat(client, 2, boot_id="back", **boot(2)), health(client, 2, **boot(2)))
    assert (fleet.one(client)["boot_id"], fleet.one(client)["hostname"]) == ("back", "lobby")
    assert fleet.one(client)["counter_went_back_at"] is None


def test_health_alone_is_believed_after_its_own_time(fleet: Fleet, client: str) -> None:
    fleet.write(health(client, 60))

    fleet.write(health(client, 1, hostname="again"))
    later(fleet, client, 300)
    fleet.write(health(client, 2, hostname="again"))
    assert fleet.one(client)["hostname"] == "lobby"

    later(fleet, client, 31)
    fleet.write(health(client, 3, hostname="again"))
    assert fleet.one(client)["hostname"] == "again"


def test_a_heartbeat_that_is_delivered_again_after_an_outage_is_no_sign_of_life(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 300))
    later(fleet, client, 600)
    before = fleet.one(client)

    fleet.write(heartbeat(client, 300))

    assert fleet.one(client)["last_heartbeat_at"] == before["last_heartbeat_at"]
    assert fleet.one(client)["counter_went_back_at"] is None


def boot(boot_seq: int) -> dict[str, Any]:
    return {"boot_seq": boot_seq}


# --- log lines ---


@pytest.mark.parametrize("first", ["lines", "heartbeat", "at once"])
def test_lines_of_the_second_life_are_stored_before_they_are_told(fleet: Fleet, client: str, first: str) -> None:
    fleet.write(heartbeat(client, 300), *(log(client, seq) for seq in range(1, 51)))
    lines, beat = [second(client, seq) for seq in range(1, 61)], heartbeat(client, 1, boot_id="after")

    batches = {"lines": [lines, [beat]], "heartbeat": [[beat], lines], "at once": [[*lines, beat]]}[first]
    early = [told(fleet, *batch) for batch in batches]
    again = told(fleet, *lines, heartbeat(client, 2, boot_id="after"))

    assert all(answer in ({}, {1: 60}) for answer in early)
    assert again == {1: 60}
    assert {f"second {seq}" for seq in range(1, 61)} <= set(messages(fleet, client))


def test_what_only_comes_again_is_told_with_the_next_heartbeat_and_stored_once(fleet: Fleet, client: str) -> None:
    lines = [log(client, seq) for seq in range(1, 51)]
    fleet.write(heartbeat(client, 1), *lines)

    assert told(fleet, *lines) == {}
    assert told(fleet, heartbeat(client, 2)) == {1: 50}
    assert told(fleet, log(client, 51)) == {1: 51}
    assert len(messages(fleet, client)) == 51


def test_a_display_that_sends_no_heartbeats_is_told_at_once(fleet: Fleet, client: str) -> None:
    lines = [log(client, seq) for seq in range(1, 6)]

    assert [told(fleet, *lines), told(fleet, *lines)] == [{1: 5}, {1: 5}]


def test_a_display_whose_heartbeats_do_not_get_through_is_told_after_five_minutes(fleet: Fleet, client: str) -> None:
    lines = [log(client, seq) for seq in range(1, 6)]
    fleet.write(heartbeat(client, 1), *lines)

    assert told(fleet, *lines) == {}
    later(fleet, client, 301)
    assert told(fleet, *lines) == {1: 5}


def test_a_first_line_that_is_newer_than_all_before_proves_a_second_life(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1), *(log(client, seq, ts=1_770_000_000 + seq) for seq in range(1, 51)))

    lines = [second(client, seq, ts=1_770_000_100 + seq) for seq in range(1, 4)]
    outcome = fleet.write(*lines)

    assert outcome.committed == {(client, INSTALL, 1): 3}
    assert outcome.went_back == {client}
    assert messages(fleet, client)[-3:] == ["second 1", "second 2", "second 3"]
    assert told(fleet, heartbeat(client, 1, boot_id="after")) == {}
    assert told(fleet, second(client, 4)) == {1: 4}


def test_a_doubt_outlives_the_bridge(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 300), *(log(client, seq) for seq in range(1, 51)))
    assert told(fleet, *(second(client, seq) for seq in range(1, 51))) == {}

    fleet.forget()
    assert told(fleet, *(second(client, seq) for seq in range(51, 61))) == {}


def test_a_counter_that_is_kept_while_the_boots_number_is_not_goes_on(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 300), *(log(client, seq) for seq in range(1, 51)))
    fleet.write(heartbeat(client, 301, boot_id="after"))

    assert told(fleet, log(client, 51)) == {1: 51}
    assert fleet.one(client)["counter_went_back_at"] is None


def test_failures_of_the_second_life_are_no_repeats_of_the_first(fleet: Fleet, client: str) -> None:
    failed = {"unit": "player", "restarts": 3}
    fleet.write(heartbeat(client, 300), (client, "service_failed", {**failed, **stamp(1)}))
    fleet.do(
        "UPDATE clients SET service_failed_cleared_unit = service_failed_unit, service_failed_unit = NULL,"
        " service_failed_at = NULL, service_failed_cleared_stamp = service_failed_stamp WHERE uuid = :u",
        u=client,
    )

    fleet.write(heartbeat(client, 1, boot_id="after"))
    fleet.write((client, "service_failed", {**failed, **stamp(1)}))

    assert fleet.one(client)["service_failed_unit"] == "player"


# --- two devices with one login ---


def seen_shared(fleet: Fleet, client: str) -> bool:
    return fleet.one(client)["shared_login_seen_at"] is not None


def seen_in_turn(fleet: Fleet, beats: Sequence[Said]) -> list[bool]:
    """Write each alone, ten seconds after the one before: a busy bridge errs by parts of a second.

    Returns whether two devices were seen after each of them.
    """
    seen, began = [], time.monotonic() - 10 * len(beats)
    for number, beat in enumerate(beats):
        fleet.write(beat, heard=began + 10 * number)
        seen.append(seen_shared(fleet, beat[0]))
    return seen


@pytest.mark.parametrize("copied", [True, False])
def test_two_devices_with_one_login_are_seen_when_the_first_one_comes_back(
    fleet: Fleet, client: str, copied: bool
) -> None:
    """A copied card has the first one's installation; a second enrolment has its own."""
    other = {"boot_id": "second", "app_instance": "second", **({} if copied else {"install_id": "installation-b"})}
    beats = [beat for seq in (1, 2, 3) for beat in (heartbeat(client, seq), heartbeat(client, seq + 6, **other))]

    seen = seen_in_turn(fleet, beats)

    assert (seen[1], seen[-1]) == (False, True)


def test_neither_reboots_nor_a_new_image_nor_one_late_heartbeat_are_two_devices(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1))
    for boot_seq in range(2, 6):
        fleet.write(heartbeat(client, 1, boot_id=f"b{boot_seq}", boot_seq=boot_seq))
    fleet.write(heartbeat(client, 2, boot_id="b4", boot_seq=4))  # the library sent it again
    fleet.write(heartbeat(client, 2, boot_id="b5", boot_seq=5))
    fleet.write(heartbeat(client, 1, boot_id="imaged", install_id="new"))
    fleet.write(heartbeat(client, 2, boot_id="imaged", install_id="new"))

    assert not seen_shared(fleet, client)


def test_a_boot_of_the_other_device_proves_no_reboot(fleet: Fleet, client: str) -> None:
    """Only once both devices are known: the first change looks like a reboot."""
    seen_in_turn(fleet, [heartbeat(client, seq, boot_id=boot_id) for seq in (1, 2) for boot_id in ("one", "two")])
    fleet.do(
        "INSERT INTO client_commands (id, client_uuid, action, state, source, requested_by, if_boot_id, created_at,"
        " expires_at, sent_at) VALUES (gen_random_uuid(), :u, 'reboot_host', 'sent', 'operator', 'user:a', 'two',"
        " now(), now() + interval '1 minute', now())",
        u=client,
    )

    fleet.write(heartbeat(client, 3, boot_id="one"))

    [command] = fleet.rows("SELECT state FROM client_commands WHERE client_uuid = :u", u=client)
    assert command["state"] == "sent"


# --- any order ---


class Device:
    """A display that keeps the contract, except that a power cut sets its counter back."""

    def __init__(self, client: str, clock: str) -> None:
        self.client = client
        self.clock = clock  # its clock: right, slow (each life begins at the same time), or none
        self.lives = itertools.count(1)
        self.moments = itertools.count(1_770_000_000)
        self.boot_seq = 17
        self.spool: list[tuple[int, int, Said]] = []
        self.sent: list[Said] = []
        self.dropped: list[str] = []
        self.cut(17)

    def cut(self, boot_seq: int) -> None:
        """Cut the power and boot again; unsent lines are lost."""
        self.life = next(self.lives)
        self.boot_seq, self.lines, self.beats, self.spool = boot_seq, 0, 0, []
        if self.clock == "slow":
            self.moments = itertools.count(1_770_000_000)

    def log(self) -> None:
        self.lines += 1
        time = {} if self.clock == "none" else {"ts": next(self.moments)}
        text = f"line {self.lines} of life {self.life}"
        said = log(self.client, self.lines, message=text, boot_seq=self.boot_seq, **time)
        self.spool.append((self.boot_seq, self.lines, said))
        self.sent.append(said)

    def resend(self) -> None:
        self.sent += [said for _, _, said in self.spool]

    def beat(self) -> None:
        self.beats += 1
        boot_id = f"boot of life {self.life}"
        self.sent.append(heartbeat(self.client, self.beats, boot_id=boot_id, boot_seq=self.boot_seq))

    def told(self, boot_seq: int, seq: int) -> None:
        if boot_seq != self.boot_seq or seq > self.lines:
            return  # of another life
        self.dropped += [said[2]["message"] for _, number, said in self.spool if number <= seq]
        self.spool = [one for one in self.spool if one[1] > seq]


STEPS: Final = st.lists(
    st.sampled_from(["log"] * 4 + ["beat", "resend", "flush", "flush", "cut", "image", "minute", "bridge"]), max_size=40
)


def play(fleet: Fleet, device: Device, steps: Sequence[str]) -> None:
    for step in steps:
        if step == "cut":
            device.cut(device.boot_seq)
        elif step == "image":
            device.cut(device.boot_seq - 1)
        elif step == "bridge":
            fleet.forget()
        elif step == "minute":
            device.beat()
            flush(fleet, device)
            later(fleet, device.client, 60)
        elif step == "flush":
            flush(fleet, device)
        else:
            getattr(device, step)()


def flush(fleet: Fleet, device: Device) -> None:
    """Deliver the sent lines as one batch, and the answer to the display."""
    said, device.sent = device.sent, []
    for (_, _, boot_seq), seq in fleet.write(*said).committed.items():
        device.told(boot_seq, seq)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, clock=st.sampled_from(["right", "slow", "none"]))
def test_in_any_order_no_line_is_lost_that_a_display_was_told_is_stored(
    fleet: Fleet, steps: Sequence[str], clock: str
) -> None:
    device = Device(str(uuids.uuid4()), clock)

    play(fleet, device, ["beat", "flush", *steps, *["log", "minute", "resend", "minute"] * 6])

    assert set(device.dropped) <= set(messages(fleet, device.client))
    assert not device.spool
    assert fleet.one(device.client)["boot_id"] == f"boot of life {device.life}"
