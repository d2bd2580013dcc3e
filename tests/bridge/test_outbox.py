"""Waiting commands are published when displays come online: any number, but never more than the broker takes."""

from datetime import timedelta

from sqlalchemy import Engine

from bridge.outbox import Outbox
from shared.outside.topics import Topics
from shared.vocabulary import CommandAction, PublishAnswer
from tests.bridge.conftest import Database
from tests.bridge.test_messages_reach_their_tables import issue
from tests.stores.commands_world import TIMINGS, new_client

TOPICS = Topics("signage")
DISPLAYS = 120
LATER = timedelta(hours=1)


class Broker:
    """A broker as the outbox sees it: it takes a number of publishes at a time, and gives set answers."""

    fault = None

    def __init__(self, takes: int, answer: PublishAnswer) -> None:
        self.answers: dict[int, int] = {}
        self.topics: list[str] = []
        self.most = 0
        self._takes = takes
        self._answer = answer
        self._unanswered: list[int] = []

    def room(self, kept_free: int = 0) -> int:
        return self._takes - kept_free - len(self._unanswered)

    def publish(self, topic: str, _payload: bytes, _expiry_seconds: int, *, watch: bool) -> int:
        assert watch
        self.topics.append(topic)
        self._unanswered.append(len(self.topics))
        self.most = max(self.most, len(self._unanswered))
        return len(self.topics)

    def answer(self) -> None:
        self.answers |= dict.fromkeys(self._unanswered, int(self._answer))
        self._unanswered = []


def work_off(outbox: Outbox, broker: Broker, engine: Engine) -> None:
    with engine.connect() as connection:
        while outbox.is_due:
            outbox.publish(connection, broker)  # type: ignore[arg-type]  # as far as the outbox knows one
            broker.answer()
            outbox.take_answers(broker)  # type: ignore[arg-type]  # as above
            if outbox.has_answers:
                outbox.record(connection)


def waiting(engine: Engine, database: Database) -> set[str]:
    """Displays that were offline at the publish of their command, which waits for them."""
    names = {new_client(engine) for _ in range(DISPLAYS)}
    for name in names:
        issue(engine, name, CommandAction.RESTART_APP)
    absent = (
        "UPDATE client_commands SET publish_answer = 16, next_publish_at = now() + :later WHERE client_uuid = ANY(:u)"
    )
    database.do(absent, later=LATER, u=list(names))
    return names


def test_all_that_come_online_at_once_are_served_and_not_only_the_first_fifty(
    engine: Engine, database: Database
) -> None:
    names, broker = waiting(engine, database), Broker(30, PublishAnswer.SUCCESS)
    outbox = Outbox(TOPICS, TIMINGS)

    outbox.came_online(names)
    work_off(outbox, broker, engine)

    assert sorted(broker.topics) == sorted(map(TOPICS.commands, names))
    assert broker.most == 29  # one place is left for the canary
    sent = "SELECT count(*) FROM client_commands WHERE state = 'sent' AND client_uuid = ANY(:u)"
    assert database.value(sent, u=list(names)) == DISPLAYS


def test_a_display_that_is_gone_again_is_not_tried_again_and_again(engine: Engine, database: Database) -> None:
    names, broker = waiting(engine, database), Broker(30, PublishAnswer.NO_SUBSCRIBER)
    outbox = Outbox(TOPICS, TIMINGS)

    outbox.came_online(names)
    work_off(outbox, broker, engine)

    assert sorted(broker.topics) == sorted(map(TOPICS.commands, names))


def test_where_the_broker_takes_nothing_nothing_is_claimed(engine: Engine, database: Database) -> None:
    names, broker = waiting(engine, database), Broker(1, PublishAnswer.SUCCESS)
    outbox = Outbox(TOPICS, TIMINGS)
    outbox.came_online(names)

    with engine.connect() as connection:
        outbox.publish(connection, broker)  # type: ignore[arg-type]  # as far as the outbox knows one

    assert broker.topics == []
    assert (
        database.value("SELECT max(publish_attempts) FROM client_commands WHERE client_uuid = ANY(:u)", u=list(names))
        == 0
    )
