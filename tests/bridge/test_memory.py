"""The bridge's memory saves writes: with and without it the same rows are stored, whatever changes meanwhile."""

import json
import time
import uuid as uuids
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import Connection, Engine

from bridge.inbox import Arrival, Inbox, PutAside, Taken
from bridge.leader import LeadershipLost
from bridge.status import Counters
from bridge.storing import BatchOutcome, LeaderMemory
from bridge.writes import Writer
from shared.clients.repeats import store
from shared.commands.operations import timings
from shared.config import load
from shared.leadership import operations as leadership
from tests.bridge.conftest import eventually, stamp
from tests.stores.query_plans import plan_of

INBOX: Final = Inbox("signage", "signage/service/canary")
Said = tuple[str, str, dict[str, Any]]
"""Client, last levels of the topic, body."""


class Fleet:
    """Writes batches like a leading bridge, by default with its memory."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.memory = LeaderMemory()
        self.epoch: int | None = None
        eventually(self._leads)  # when the session of the previous test has ended
        self.writer = Writer(
            epoch=self.epoch or 0,
            instance="test",
            auto_register=True,
            timings=timings(load({"DATABASE_URL": "postgresql://nobody@nowhere/none"})),
            memory=self.memory,
        )

    def _leads(self) -> bool:
        with self.connection.begin():
            self.epoch = leadership.lead(self.connection, "test")
        return self.epoch is not None

    def write(
        self, *said: Said, memory: LeaderMemory | None = None, recalls: bool = True, heard: float | None = None
    ) -> BatchOutcome:
        writer = replace(self.writer, memory=memory or self.memory)
        writer.memory.may_recall = recalls
        return writer.write(self.connection, self.batch(*said, heard=heard), Counters(), len(said))

    @staticmethod
    def batch(*said: Said, heard: float | None = None) -> list[Taken | PutAside]:
        """The messages, heard just now or at this time of the monotonic clock."""
        return [
            INBOX.read(Arrival(f"signage/{uuid}/{topic}", json.dumps(body).encode(), 1, heard or time.monotonic()))
            for uuid, topic, body in said
        ]

    def forget(self) -> None:
        """Forget everything, like a bridge that has just begun to lead."""
        self.memory.reports.forget([*self.memory.reports.clients, *self.memory.reports.heartbeats])
        for memory in (self.memory.installs, self.memory.acks):
            memory.clear()

    def do(self, statement: str, **parameters: Any) -> None:
        """Run a statement of another process."""
        with self.connection.engine.begin() as other:
            other.execute(sa.text(statement), parameters)

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        with self.connection.begin():
            return [dict(row) for row in self.connection.execute(sa.text(statement), parameters).mappings()]

    def one(self, uuid: str) -> dict[str, Any]:
        """The stored rows of a client."""
        (row,) = self.rows(
            "SELECT c.*, h.last_heartbeat_at, h.seq, h.boot_id, h.app_instance, r.seq AS health_seq, r.body,"
            " r.cpu_percent FROM clients AS c LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid"
            " LEFT JOIN client_health AS r ON r.client_uuid = c.uuid WHERE c.uuid = :u",
            u=uuid,
        )
        return row


@pytest.fixture
def fleet(engine: Engine) -> Iterator[Fleet]:
    with engine.connect() as connection:
        yield Fleet(connection)
        connection.invalidate()  # with the leader lock


@pytest.fixture
def client() -> str:
    return str(uuids.uuid4())


def heartbeat(client: str, seq: int, **fields: Any) -> Said:
    body = {"process_status": "running", "boot_id": "b", "app_instance": "a", "interval_seconds": 20}
    return client, "heartbeat", {**body, **stamp(seq), **fields}


def health(client: str, seq: int, **fields: Any) -> Said:
    return client, "health", {"hostname": "lobby", "cpu_percent": float(seq), **stamp(seq), **fields}


def log(client: str, seq: int, **fields: Any) -> Said:
    return client, "logs/info", {"message": f"line {seq}", **stamp(seq), **fields}


def test_a_repeated_report_moves_its_time_and_number_and_is_no_change_of_its_client(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1), health(client, 1))
    fleet.write()  # the client that the first one changed is forgotten
    fleet.write(heartbeat(client, 2), health(client, 2))
    before = fleet.one(client)

    fleet.write(heartbeat(client, 3), heartbeat(client, 4), health(client, 3))
    after = fleet.one(client)

    assert fleet.memory.reports.heartbeats[client][1] == 4
    assert (after["seq"], after["health_seq"], after["cpu_percent"]) == (4, 3, 3.0)
    assert after["body"] == health(client, 3)[2]
    assert after["last_heartbeat_at"] > before["last_heartbeat_at"]
    assert after["changed_xid"] == before["changed_xid"]


def test_a_client_that_somebody_else_changed_is_looked_at_again(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1))
    fleet.write(heartbeat(client, 2))
    fleet.write(heartbeat(client, 3))
    fleet.do("UPDATE clients SET status = 'late' WHERE uuid = :u", u=client)

    fleet.write(heartbeat(client, 4))

    assert fleet.one(client)["status"] == "running"
    changes = fleet.rows("SELECT to_status FROM client_state_changes WHERE client_uuid = :u ORDER BY id", u=client)
    assert [change["to_status"] for change in changes] == ["running", "running"]


def test_a_change_that_was_under_way_at_the_last_look_is_not_missed(fleet: Fleet, client: str, engine: Engine) -> None:
    fleet.write(heartbeat(client, 1))
    fleet.write(heartbeat(client, 2))
    with engine.connect() as other, other.begin() as transaction:
        other.execute(sa.text("UPDATE clients SET hostname = 'new' WHERE uuid = :u"), {"u": client})
        fleet.write(health(str(uuids.uuid4()), 1))
        other.execute(sa.text("UPDATE clients SET status = 'stale' WHERE uuid = :u"), {"u": client})
        transaction.commit()

    fleet.write(heartbeat(client, 3))

    assert fleet.one(client)["status"] == "running"


def test_a_deleted_client_is_forgotten_with_its_next_message(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1), log(client, 1))
    fleet.write(heartbeat(client, 2), log(client, 2))
    fleet.do("UPDATE clients SET deleted_at = now() WHERE uuid = :u", u=client)

    outcome = fleet.write(heartbeat(client, 3), log(client, 3))

    assert [refused.reason.value for refused in outcome.refused] == ["unknown_client", "unknown_client"]
    assert fleet.one(client)["seq"] == 2


def test_a_row_that_is_not_what_is_remembered_goes_the_long_way(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1), health(client, 1))
    fleet.write(heartbeat(client, 2), health(client, 2))
    fleet.write(heartbeat(client, 3), health(client, 3))
    fleet.do("UPDATE client_heartbeats SET boot_seq = 0, boot_id = 'x' WHERE client_uuid = :u", u=client)
    fleet.do("DELETE FROM client_health WHERE client_uuid = :u", u=client)

    fleet.write(heartbeat(client, 4), health(client, 4))

    stored = fleet.one(client)
    assert (stored["seq"], stored["boot_id"], stored["health_seq"]) == (4, "b", 4)


def test_a_late_report_is_not_remembered_as_the_newest(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 5, app_instance="new"))
    fleet.forget()
    fleet.write(heartbeat(client, 4, app_instance="old"))

    fleet.write(heartbeat(client, 6, app_instance="old"))

    assert fleet.one(client)["app_instance"] == "old"
    assert fleet.one(client)["seq"] == 6


def test_a_bridge_that_begins_to_lead_knows_what_is_stored(fleet: Fleet, client: str) -> None:
    told = {
        "recent_acks": [],
        "broker_connection": {"reconnect_count": 2, "last_disconnect_at": "2026-01-01T00:00:00Z"},
    }
    fleet.write(heartbeat(client, 1), health(client, 1, screen_health="ok", capabilities=["restart_app"], **told))
    before = fleet.one(client)
    memory = LeaderMemory()

    fleet.write(heartbeat(client, 2), memory=memory)

    known = memory.reports.heartbeats[client], memory.reports.health[client]
    assert known == ((fleet.memory.reports.heartbeats[client][0], 2), fleet.memory.reports.health[client])
    assert fleet.one(client)["changed_xid"] == before["changed_xid"]


def test_a_bad_screen_is_written_whole_until_it_is_a_failure(fleet: Fleet, client: str) -> None:
    """Each report comes half a minute after the previous one."""
    failed = []
    for seq, screen in enumerate(["ok", "ok", "black", "black", "black", "black", "ok"], 1):
        fleet.do("UPDATE client_health SET received_at = received_at - interval '30 s'")
        fleet.do(
            "UPDATE clients SET screen_health_since = screen_health_since - interval '30 s'"
            " WHERE screen_health_since IS NOT NULL"
        )
        fleet.write(heartbeat(client, seq), health(client, seq, screen_health=screen))
        failed.append(fleet.one(client)["screen_failed_at"] is not None)

    assert failed == [False, False, False, True, True, True, False]


def test_the_report_before_is_known_also_of_reports_that_repeat(fleet: Fleet, client: str) -> None:
    for seq in range(1, 5):
        fleet.do("UPDATE client_health SET received_at = received_at - interval '30 s'")
        fleet.write(heartbeat(client, seq), health(client, seq, screen_health="ok"))

    gap = "SELECT extract(epoch FROM received_at - previous_at) FROM client_health WHERE client_uuid = :u"
    assert 30 <= fleet.connection.execute(sa.text(gap), {"u": client}).scalar_one() < 60


def test_who_numbers_nothing_is_recalled_once(fleet: Fleet, client: str) -> None:
    plain = (client, "heartbeat", {"process_status": "running"})
    fleet.write(plain)
    asked: list[str] = []
    sa.event.listen(fleet.connection, "before_cursor_execute", lambda *call: asked.append(call[2]))

    for _ in range(3):
        fleet.write(plain)

    assert len([statement for statement in asked if "json_build_array" in statement]) == 1


def test_a_client_that_is_shown_as_late_is_not_taken_for_unchanged(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1))
    fleet.do("UPDATE clients SET status = 'late' WHERE uuid = :u", u=client)

    fleet.write(heartbeat(client, 2), memory=LeaderMemory())

    assert fleet.one(client)["status"] == "running"


def test_what_was_recalled_in_a_batch_that_failed_is_forgotten_when_it_changes(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1))
    memory = LeaderMemory()
    with pytest.raises(LeadershipLost):
        replace(fleet.writer, memory=memory, epoch=-1).write(
            fleet.connection, fleet.batch(heartbeat(client, 2)), Counters(), 1
        )
    fleet.do("UPDATE clients SET status = 'late' WHERE uuid = :u", u=client)

    fleet.write(heartbeat(client, 2), memory=memory)

    assert fleet.one(client)["status"] == "running"


def test_a_client_of_two_installations_is_not_taken_for_what_it_was_before_both(fleet: Fleet, client: str) -> None:
    fleet.write(heartbeat(client, 1, install_id="old"), heartbeat(client, 1))
    fleet.write(heartbeat(client, 2, app_instance="a"))
    fleet.write(heartbeat(client, 3, app_instance="b"), heartbeat(client, 9, install_id="old"))

    fleet.write(heartbeat(client, 4, app_instance="a"))

    assert fleet.one(client)["app_instance"] == "a"


def test_when_many_clients_changed_none_is_missed(fleet: Fleet) -> None:
    many = [str(uuids.uuid4()) for _ in range(2 * store.FEW + 1)]
    for seq in (1, 2, 3):
        fleet.write(*(heartbeat(one, seq) for one in many))
    fleet.do("UPDATE clients SET status = 'late' WHERE uuid = ANY(:uuids)", uuids=many)

    fleet.write(*(heartbeat(one, 4) for one in many))

    late = fleet.rows("SELECT uuid FROM clients WHERE status = 'late' AND uuid = ANY(:uuids)", uuids=many)
    assert late == []


def test_few_changed_clients_are_found_by_the_index_without_statistics(fleet: Fleet) -> None:
    fleet.do(
        "INSERT INTO clients (uuid, registered_by) SELECT gen_random_uuid()::text, 'first_message'"
        " FROM generate_series(1, 20000)"
    )
    cursor = store.changes(fleet.connection, None).cursor

    plan = plan_of(fleet.connection, lambda connection: store.changes(connection, cursor, store.FEW))

    assert any(node.get("Index Name") == "ix_clients_changed_xid" for node in plan)


# --- with and without ---

REPORT: Final = st.tuples(
    st.sampled_from(["heartbeat", "health", "logs/info"]),
    st.integers(0, 1),  # number of the client
    st.integers(1, 6),  # seq
    st.integers(1, 2),  # boot_seq
    st.sampled_from(["i", "i", "i", "j", None]),  # installation; None: without a stamp
    st.sampled_from(["a", "a", "b"]),  # content
)
ELSEWHERE: Final = st.sampled_from(["UPDATE clients SET status = 'late', hostname = 'x' WHERE uuid = :u", None])
STORED: Final = (
    "SELECT process_status::text, status, hostname, service_failed_unit FROM clients WHERE uuid = :u",
    "SELECT screen_health, capabilities, mqtt_reconnect_count, mqtt_last_disconnect_at FROM clients WHERE uuid = :u",
    "SELECT boot_id, app_instance, install_id, boot_seq, seq FROM client_heartbeats WHERE client_uuid = :u",
    "SELECT install_id, boot_seq, seq, cpu_percent, body FROM client_health WHERE client_uuid = :u",
    "SELECT install_id, ordinal FROM client_installs WHERE client_uuid = :u ORDER BY ordinal",
    "SELECT message, level::text FROM client_logs WHERE client_uuid = :u ORDER BY id",
    "SELECT install_id, boot_seq, seq FROM log_marks WHERE client_uuid = :u ORDER BY 1, 2",
    "SELECT install_id, boot_seq, seq FROM log_keys WHERE client_uuid = :u ORDER BY 1, 2, 3",
    "SELECT sum(debug + info + warning + error + critical) FROM client_log_hours WHERE client_uuid = :u",
    "SELECT from_status, to_status FROM client_state_changes WHERE client_uuid = :u ORDER BY id",
)


SAYS_MORE: Final[dict[str, Any]] = {
    "screen_health": "black",
    "capabilities": ["restart_app"],
    "broker_connection": {"reconnect_count": 1, "last_disconnect_at": None},
}


def said(client: str, report: tuple[str, int, int, int, str | None, str]) -> Said:
    topic, _, seq, boot_seq, install, word = report
    numbers = {} if install is None else {"install_id": install, "boot_seq": boot_seq, "seq": seq}
    bodies: dict[str, dict[str, Any]] = {
        "heartbeat": {"process_status": "running" if word == "a" else "crashed", "app_instance": word, "boot_id": "b"},
        "health": {"hostname": word, "cpu_percent": float(seq), "service_failed": {"unit": "p"} if seq == 6 else None}
        | (SAYS_MORE if word == "b" else {}),
        "logs/info": {"message": f"{word} {seq}"},
    }
    return client, topic, {**bodies[topic], **numbers}


def stored(fleet: Fleet, client: str) -> dict[str, list[Any]]:
    """Query -> its rows of this client."""
    with fleet.connection.begin():
        return {one: [tuple(row) for row in fleet.connection.execute(sa.text(one), {"u": client})] for one in STORED}


@settings(max_examples=40)
@given(st.lists(st.tuples(st.lists(REPORT, min_size=1, max_size=5), ELSEWHERE), min_size=1, max_size=6))
def test_with_and_without_memory_the_same_is_stored(
    fleet: Fleet, batches: Sequence[tuple[list[tuple[str, int, int, int, str | None, str]], str | None]]
) -> None:
    """Compare a bridge that leads, bridges that lead for one batch each, and one without any memory."""
    remembering, beginning, without = [[str(uuids.uuid4()) for _ in range(2)] for _ in range(3)]

    for reports, elsewhere in batches:
        ways = (remembering, fleet.memory, True), (beginning, LeaderMemory(), True), (without, LeaderMemory(), False)
        for clients, memory, recalls in ways:
            fleet.write(*(said(clients[report[1]], report) for report in reports), memory=memory, recalls=recalls)
            if elsewhere:
                fleet.do(elsewhere, u=clients[0])

    for kept, recalled, plain in zip(remembering, beginning, without, strict=True):
        expected = stored(fleet, plain)
        assert stored(fleet, kept) == expected
        assert stored(fleet, recalled) == expected
