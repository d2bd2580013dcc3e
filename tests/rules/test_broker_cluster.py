"""The settings of a cluster that we ship hold what `make campaign ONLY=cluster` proved with them."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

from deploy.parts.layout import REPOSITORY

SHIPPED: Final = REPOSITORY / "deploy/parts/rabbitmq"
SETTING: Final = re.compile(r"([a-z_]+(?:\.[a-z0-9_]+)*) = (\S.*)")
NODES: Final = "cluster_formation.classic_config.nodes."


def settings(*names: str) -> list[tuple[str, str]]:
    """The settings of these files, in their order. Fails at a line that is none."""
    lines = [line for name in names for line in (SHIPPED / name).read_text(encoding="utf-8").splitlines()]
    found = [SETTING.fullmatch(line) for line in lines if line and not line.startswith("#")]
    assert all(found)
    return [(one[1], one[2]) for one in found if one]


def definitions() -> Any:
    return json.loads((SHIPPED / "definitions.json").read_text(encoding="utf-8"))


def test_no_setting_of_the_cluster_hides_one_of_a_node() -> None:
    counted = Counter(name for name, _ in settings("rabbitmq.conf", "cluster.conf"))

    assert [name for name, count in counted.items() if count > 1] == []


def test_a_majority_of_three_nodes_holds_each_session() -> None:
    told = dict(settings("cluster.conf"))

    assert len({value for name, value in told.items() if name.startswith(NODES)}) == 3
    assert told["cluster_partition_handling"] == "pause_minority"
    assert told["mqtt.durable_queue_type"] == "quorum"


def test_the_definitions_let_no_session_drop_what_was_not_acknowledged() -> None:
    told, (vhost,), (policy,) = dict(settings("cluster.conf")), definitions()["vhosts"], definitions()["policies"]

    assert Path(told["definitions.local.path"]).name == "definitions.json"
    assert vhost == {"name": "/", "default_queue_type": "quorum"}
    assert policy["vhost"] == vhost["name"]
    assert policy["apply-to"] == "quorum_queues"
    assert re.match(policy["pattern"], "mqtt-subscription-bridgeqos1")
    assert policy["definition"] == {"delivery-limit": -1}
