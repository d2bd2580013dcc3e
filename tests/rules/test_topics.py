"""Building the topics of the contract. test_payloads.py tests reading them."""

import pytest

from shared.outside.topics import UPWARD, Topics

TOPICS = Topics("signage")
ONE = "00000000-0000-4000-8000-000000000001"

BUILT = [
    (TOPICS.commands(ONE), f"signage/{ONE}/commands"),
    (TOPICS.logs_committed(ONE), f"signage/{ONE}/logs_committed"),
    (TOPICS.log_level(ONE), f"signage/{ONE}/log_level"),
    (TOPICS.canary, "signage/service/canary"),
    *((TOPICS.of(kind, ONE), f"signage/{ONE}/{kind.value}") for kind in UPWARD),
]


@pytest.mark.parametrize(("built", "text"), BUILT, ids=lambda value: str(value)[-20:])
def test_a_topic_is_built(built: str, text: str) -> None:
    assert built == text


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
