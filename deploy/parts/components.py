"""The components, as deploy/components.yaml describes them: each key is explained there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec


class Component(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row."""

    what: str
    program: str = ""
    ports: Mapping[str, int] = {}
    role: str = ""
    user: str = ""
    secrets: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    after: tuple[str, ...] = ("migrations",)
    once: bool = False
    loopback: bool = False
    memory: int = 1
    open_files: int = 0
    only: str = ""

    @property
    def all_secrets(self) -> list[str]:
        """The names of all secrets that it reads, each a file of a box."""
        role = [f"database_url_{self.role}"] if self.role else []
        user = [f"mqtt_{self.user}_password"] if self.user else []
        return [*role, *user, *self.secrets]


COMPONENTS: Final = msgspec.yaml.decode(
    Path(__file__).parents[1].joinpath("components.yaml").read_bytes(), type=dict[str, Component]
)
OF_A_BOX: Final = {name: component for name, component in COMPONENTS.items() if component.only != "run"}
PORTS: Final = {name: port for component in COMPONENTS.values() for name, port in component.ports.items()}
