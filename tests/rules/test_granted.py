"""A broker that grants too little: the lacks in words, and whether the bridge can work with them."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bridge.granted import Granted, Lack, lacks_of_subscriptions


def granted(**properties: Any) -> Granted:
    return Granted.of(cast("Any", SimpleNamespace(**properties)))


@pytest.mark.parametrize(
    ("properties", "words", "stops"),
    [
        ({"MaximumQoS": 0}, "Maximum QoS", True),
        ({"WildcardSubscriptionAvailable": 0}, "Wildcard Subscription Available", True),
        ({"MaximumPacketSize": 1_500}, "some commands cannot be sent", True),
        ({"MaximumPacketSize": 16_384}, "long log lines do not pass", False),
        ({"RetainAvailable": 0}, "Retain Available", False),
        ({"ReceiveMaximum": 10}, "it takes 10 messages at a time", False),
        ({"SessionExpiryInterval": 300}, "it keeps our sessions for 300 s", False),
        ({"AssignedClientIdentifier": "x"}, "Assigned Client Identifier", False),
    ],
)
def test_each_lack_is_named(properties: dict[str, Any], words: str, stops: bool) -> None:
    [lack] = granted(**properties).lacks()

    assert words in lack.words
    assert lack.stops is stops


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"ReceiveMaximum": 16_000, "MaximumPacketSize": 262_144, "TopicAliasMaximum": 10},  # the shipped Mosquitto
        {"MaximumQoS": 1, "SharedSubscriptionAvailable": 0},  # RabbitMQ
    ],
)
def test_brokers_that_grant_what_is_needed_lack_nothing(properties: dict[str, Any]) -> None:
    assert granted(**properties).lacks() == []


def test_to_a_broker_without_qos_1_nothing_is_published() -> None:
    assert granted(MaximumQoS=0, ReceiveMaximum=100).may_send == 0
    assert granted(MaximumQoS=1, ReceiveMaximum=100).may_send == 100


def test_a_subscription_with_qos_0_is_named() -> None:
    [lack] = lacks_of_subscriptions(["a", "b", "c"], [1, 0, 0x87])

    assert lack == Lack("it grants QoS 0 for b: messages are lost", stops=True)
