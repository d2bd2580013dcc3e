"""The topics of the contract: built and read by the same words."""

import pytest

from shared.outside.mqtt import TopicKind, TopicParts, Topics

TOPICS = Topics("signage")
ONE = "00000000-0000-4000-8000-000000000001"

KNOWN = [
    (TOPICS.heartbeat(ONE), f"signage/{ONE}/heartbeat", TopicParts(TopicKind.HEARTBEAT, ONE)),
    (TOPICS.health(ONE), f"signage/{ONE}/health", TopicParts(TopicKind.HEALTH, ONE)),
    (TOPICS.logs(ONE, "error"), f"signage/{ONE}/logs/error", TopicParts(TopicKind.LOGS, ONE, "error")),
    (TOPICS.service_failed(ONE), f"signage/{ONE}/service_failed", TopicParts(TopicKind.SERVICE_FAILED, ONE)),
    (TOPICS.presence(ONE), f"signage/{ONE}/presence", TopicParts(TopicKind.PRESENCE, ONE)),
    (TOPICS.acks(ONE), f"signage/{ONE}/acks", TopicParts(TopicKind.ACKS, ONE)),
    (TOPICS.commands(ONE), f"signage/{ONE}/commands", TopicParts(TopicKind.COMMANDS, ONE)),
    (TOPICS.logs_committed(ONE), f"signage/{ONE}/logs_committed", TopicParts(TopicKind.LOGS_COMMITTED, ONE)),
    (TOPICS.log_level(ONE), f"signage/{ONE}/log_level", TopicParts(TopicKind.LOG_LEVEL, ONE)),
    (TOPICS.canary, "signage/service/canary", TopicParts(TopicKind.CANARY)),
]


@pytest.mark.parametrize(("built", "text", "parts"), KNOWN, ids=lambda value: str(value)[-20:])
def test_a_topic_is_built_and_read_back(built: str, text: str, parts: TopicParts) -> None:
    assert built == text
    assert TOPICS.parse(text) == parts


def test_every_kind_has_a_topic() -> None:
    assert {parts.kind for _, _, parts in KNOWN} == set(TopicKind)


@pytest.mark.parametrize(
    "topic",
    [
        "",
        "signage",
        f"signage/{ONE}",
        f"other/{ONE}/heartbeat",  # another root
        f"signage/{ONE}/heartbeat/x",  # too deep
        f"signage/{ONE}/logs",  # no level
        f"signage/{ONE}/logs/a/b",
        f"signage/{ONE}/canary",  # only the service has one
        f"signage/{ONE}/nothing",
        "signage//heartbeat",  # an empty level
        "/signage/x/heartbeat",
    ],
)
def test_what_the_contract_does_not_know_is_none(topic: str) -> None:
    assert TOPICS.parse(topic) is None


def test_the_bridge_subscribes_to_upward_topics_and_the_canary_only() -> None:
    assert TOPICS.subscriptions() == (
        "signage/+/heartbeat",
        "signage/+/health",
        "signage/+/logs/+",
        "signage/+/service_failed",
        "signage/+/presence",
        "signage/+/acks",
        "signage/service/canary",
    )
