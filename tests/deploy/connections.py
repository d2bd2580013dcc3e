"""The most connections to Postgres that the components may hold, from deploy/gcp and docs/deploying.md."""

import re
from dataclasses import dataclass, replace
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests.deploy.terraform import root

DOCUMENT: Final = REPOSITORY / "docs" / "deploying.md"


@dataclass(frozen=True)
class Sizes:
    """The sizes that an operator chooses."""

    api_max_instances: int
    api_database_pool_size: int
    database_max_connections: int
    conversions_at_once: int


def defaults() -> Sizes:
    """The defaults in Terraform."""
    variables = root().blocks("variable")
    return Sizes(**{name: variables[name]["default"] for name in Sizes.__dataclass_fields__})


def documented() -> Sizes:
    """The sizes for a hundred instances in docs/deploying.md."""
    block = re.search(r"```hcl\n(api_max_instances.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    return replace(defaults(), **{name: int(value) for name, value in re.findall(r"(\w+)\s*= (\d+)", block[1])})


def reckoned(expression: str, sizes: Sizes) -> int:
    """Evaluate an arithmetic expression of deploy/gcp, with its locals."""

    def value(found: re.Match[str]) -> str:
        kind, name = found.groups()
        return str(getattr(sizes, name) if kind == "var" else reckoned(str(root().locals[name]), sizes))

    plain = re.sub(r"\b(var|local)\.(\w+)", value, expression.removeprefix("${").removesuffix("}"))
    assert re.fullmatch(r"[\d\s+*()]+", plain), expression
    return int(eval(plain))


def wanted(sizes: Sizes) -> int:
    """The connections for these instances, by Terraform's sum."""
    return reckoned("local.connections_wanted", sizes)


def is_let_pass(sizes: Sizes) -> bool:
    """Whether the database's precondition holds."""
    database = root().typed("resource")["google_sql_database_instance", "this"]
    condition = database["lifecycle"][0]["precondition"][0]["condition"]
    assert condition == "${local.connections_wanted <= var.database_max_connections}"
    return wanted(sizes) <= sizes.database_max_connections


def most_of(component: str, sizes: Sizes) -> int:
    """The most instances of a component."""
    call = root().blocks("module")[component]
    said = call["max_instances"]
    return said if isinstance(said, int) else reckoned(said, sizes)
