"""How the screen may look, as the service said last; on the disk, because a display may start without the network."""

import json
from pathlib import Path

from displays.client import contract, durable
from displays.client.contract import BadMessage, LookOrder
from shared.structured_log import failure


class LookKeeper:
    """The setting, and the name of the one that is on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.order = _load(path)
        self.kept_version = self.order.version

    def take(self, order: LookOrder) -> None:
        """Keep another setting. It holds, but is not named in health, where the disk does not take it."""
        self.order = order
        if order.version == self.kept_version:
            return
        words = {"version": order.version, "black": "allowed" if order.black_is_allowed else "never"}
        try:
            durable.replace_file(self._path, json.dumps(words).encode())
        except OSError:
            failure("look_failed", "the setting of the screen's look could not be written")
        else:
            self.kept_version = order.version


def _load(path: Path) -> LookOrder:
    """The setting on the disk; none if it is damaged: the service sends it again."""
    try:
        return contract.parse_look(path.read_bytes())
    except (OSError, BadMessage):
        return LookOrder(None, black_is_allowed=False)
