"""What a broker asks over HTTP, and the answers by our rules.

In the words of RabbitMQ's `rabbitmq_auth_backend_http`: `user`: may this user sign in with this password and client id?
`vhost`, `resource`, `topic`: may they use this virtual host, this queue or exchange, this topic? What is not named here
is refused.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from deploy.parts.broker_rights import BrokerRights

VHOST: Final = "/"
TOPICS: Final = "amq.topic"  # the exchange through which RabbitMQ carries MQTT
WILLS: Final = "amq.default"  # the exchange through which it sends a will that waited
OF_A_SESSION: Final = re.compile(r"mqtt-(?:subscription-(?P<session>.+)qos[01]|will-(?P<will>.+))")  # names of queues
INSTANCE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
WITH_INSTANCES: Final = ("api", "scheduler")  # these services have several connections at once
TO_MQTT: Final = str.maketrans({".": "/", "/": ".", "*": "+"})
"""From AMQP's separators and wildcard to MQTT's."""


class NoQuestion(ValueError):
    """The body is no form, or holds a field twice."""


def fields_of(body: bytes) -> dict[str, str]:
    """The fields of a form. Raises NoQuestion."""
    try:
        text = body.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=32)
    except ValueError as error:
        raise NoQuestion from error
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NoQuestion
    return found


def is_own_client_id(user: str, client_id: str) -> bool:
    """Whether this user may have this client id: the user name; api and scheduler add an instance, as in `api-4f2a`.

    A foreign client id would throw its owner out.
    """
    if client_id == user:
        return True
    start, dash, instance = client_id.partition("-")
    return user in WITH_INSTANCES and start == user and bool(dash) and INSTANCE.fullmatch(instance) is not None


def may_use(kind: str, user: str, asked: Mapping[str, str], rights: BrokerRights) -> bool:
    """Whether the user, who may sign in, may do what `asked` says; `kind` is vhost, resource or topic."""
    if asked.get("vhost") != VHOST:
        return False
    match kind:
        case "vhost":
            return True
        case "resource":
            return _may_use_resource(user, asked)
        case "topic":
            return _may_use_topic(asked, rights)
        case _:
            return False


def _may_use_resource(user: str, asked: Mapping[str, str]) -> bool:
    """The queues of the user's own sessions, and the two exchanges; no user may declare an exchange."""
    name, permission = asked.get("name", ""), asked.get("permission")
    match asked.get("resource"):
        case "queue":
            found = OF_A_SESSION.fullmatch(name)
            return found is not None and is_own_client_id(user, found["session"] or found["will"])
        case "exchange" if name == TOPICS:
            return permission in {"read", "write"}
        case "exchange" if name == WILLS:
            return permission == "write"
        case _:
            return False


def _may_use_topic(asked: Mapping[str, str], rights: BrokerRights) -> bool:
    if asked.get("name") != TOPICS:
        return False
    topic = asked.get("routing_key", "").translate(TO_MQTT)
    match asked.get("permission"):
        case "write":
            return rights.may_publish(topic)
        case "read":
            return rights.may_subscribe(topic)
        case _:
            return False
