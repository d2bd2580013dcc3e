"""The most connections that components may hold fit into the limit of Postgres, in the cloud and on a box.

tests/api/test_connection_storm.py opens all of them at once on a real Postgres.
"""

import re
from dataclasses import replace
from typing import Final

import pytest
import yaml

from deploy.local import postgres
from deploy.parts.layout import REPOSITORY
from deploy.parts.task_queue.__main__ import CALL_THREADS
from shared.config import BY_NAME
from shared.postgres import door
from tests.deploy.connections import Sizes, defaults, documented, is_let_pass, most_of, wanted
from tests.deploy.terraform import COMPONENTS, root

POOL: Final = BY_NAME["DATABASE_POOL_SIZE"].default
DATABASE: Final = "google_sql_database_instance"
RESERVED: Final = 3  # Postgres' own superuser_reserved_connections
TICK: Final = (REPOSITORY / "functions" / "scheduler_tick" / "main.py").read_text(encoding="utf-8")
FEWEST_OF_THE_TICK: Final = int(re.findall(r"^FEWEST_CONNECTIONS: Final = (\d+)", TICK, re.MULTILINE)[0])


SMALL: Final = replace(defaults(), api_max_instances=2, conversions_at_once=1, database_max_connections=100)
SHAPES: Final = {"as shipped": defaults(), "a hundred instances": documented(), "a small database": SMALL}


@pytest.mark.parametrize("sizes", SHAPES.values(), ids=SHAPES)
def test_the_sum_in_terraform_has_room_for_every_instance_twice(sizes: Sizes) -> None:
    """The test computes it from the modules and the code; Terraform has a handwritten sum."""
    pools = {"api": sizes.api_database_pool_size, "scheduler_tick": max(POOL, FEWEST_OF_THE_TICK)}
    at_once = sum(most_of(component, sizes) * pools.get(component, POOL) for component in COMPONENTS)
    broker_accounts, migrations = POOL, 1

    assert 2 * at_once + broker_accounts + migrations + RESERVED < wanted(sizes)
    assert is_let_pass(sizes)


def test_a_hundred_instances_with_the_pool_of_six_are_refused() -> None:
    assert not is_let_pass(replace(defaults(), api_max_instances=100))
    assert not is_let_pass(replace(defaults(), api_database_pool_size=10))
    assert documented().api_max_instances == 100


def test_the_pool_that_is_reckoned_with_is_the_one_that_each_component_is_told() -> None:
    modules, locals_ = root().blocks("module"), root().locals

    assert locals_["pool_size"] == POOL
    told = {name: "DATABASE_POOL_SIZE" in root().setting_names(modules[name]["environment"]) for name in COMPONENTS}
    assert told == {name: name == "api" for name in COMPONENTS}
    assert "DATABASE_POOL_SIZE = tostring(var.api_database_pool_size)" in modules["api"]["environment"]
    refused = root().blocks("variable")["settings"]["validation"][0]["condition"]
    assert refused == '${!contains(keys(var.settings), "DATABASE_POOL_SIZE")}'
    assert flags_of("this")["max_connections"] == "${tostring(var.database_max_connections)}"


def flags_of(name: str) -> dict[str, str]:
    """The flags of one of the two databases; both use one map."""
    [dynamic] = root().typed("resource")[DATABASE, name]["settings"][0]["dynamic"]
    body = dynamic["database_flags"]
    assert body["content"][0]["name"] == "${database_flags.key}"
    assert body["content"][0]["value"] == "${database_flags.value}"
    common = {key.strip('"'): value for key, value in root().locals["database_flags"].items() if key != "__is_block__"}
    more = re.fullmatch(r"\$\{(?:merge\()?local\.database_flags(?:, \{(\w+) = \"(\w+)\"\}\))?\}", body["for_each"])
    assert more is not None, body["for_each"]
    return {**common, **({more[1]: more[2]} if more[1] else {})}


def test_a_box_has_room_for_all_of_its_services() -> None:
    """Each service runs once. Migrations end before the others start, except in an upgrade."""
    services = 5 * POOL  # api, convert_worker, scheduler_tick, bridge, broker_accounts
    most = services + CALL_THREADS + 2
    compose = yaml.safe_load((REPOSITORY / "deploy" / "docker" / "compose.yaml").read_text(encoding="utf-8"))
    given = [
        int(found)
        for found in re.findall(r"max_connections=(\d+)", " ".join(compose["services"]["postgres"]["command"]))
    ]
    local = [int(found) for found in re.findall(r"max_connections=(\d+)", " ".join(postgres.SETTINGS))]

    assert services + CALL_THREADS == 41
    assert given == [100]
    assert local == [200]
    assert most + RESERVED < min(given + local)


def test_each_wait_for_the_database_ends_before_whoever_waits_for_it_gives_up() -> None:
    """The timeouts grow: lock, statement, socket, request, in the cloud and at the gateway."""
    requests = [root().blocks("module")[name]["timeout_seconds"] for name in ("api", "scheduler_tick")] + [
        BY_NAME["CONVERSION_DEADLINE_SECONDS"].default + 60
    ]

    assert door.LOCK_TIMEOUT_MS < door.STATEMENT_TIMEOUT_MS < 1000 * door.SOCKET_TIMEOUT_SECONDS
    assert min(requests) > door.POOL_TIMEOUT_SECONDS + door.SOCKET_TIMEOUT_SECONDS
