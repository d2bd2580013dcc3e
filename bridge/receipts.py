"""How far logs are stored, told to the displays that wait for it (`logs_committed`)."""

import itertools
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec

from bridge.lanes import Lanes
from bridge.outcomes import is_over
from shared.client_logs.rules import Boot

EXPIRY_SECONDS: Final = 300


class Receipts:
    """Marks that are committed and not told yet. Of a boot that waits only the newest counts."""

    def __init__(self, topic_of: Callable[[str], str]) -> None:
        """`topic_of` a client's uuid is where its display listens."""
        self._topic_of = topic_of
        self._untold: dict[Boot, int] = {}

    def committed(self, marks: Mapping[Boot, int]) -> None:
        """Everything up to these numbers is stored for good."""
        self._untold |= marks

    def forget_all(self) -> None:
        """The database may have lost them: displays resend, and are told what is stored then."""
        self._untold = {}

    def forget(self, ended: Collection[Boot]) -> None:
        """The displays of these boots may number them, and the later ones of their installations, from 1 again."""
        if ended:
            gone = [boot for boot in self._untold if any(is_over(boot, one) for one in ended)]
            for boot in gone:
                del self._untold[boot]

    def tell(self, broker: Lanes) -> None:
        """As many as the broker takes now. A display that misses one sends again and is told then."""
        if self._untold:
            told = broker.bulk.tell(map(self._message, self._untold.items()), EXPIRY_SECONDS)
            for boot in list(itertools.islice(self._untold, told)):
                del self._untold[boot]

    def _message(self, mark: tuple[Boot, int]) -> tuple[str, bytes]:
        (uuid, install_id, boot_seq), seq = mark
        return self._topic_of(uuid), msgspec.json.encode({"install_id": install_id, "boot_seq": boot_seq, "seq": seq})
