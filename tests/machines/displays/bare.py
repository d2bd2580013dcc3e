"""A machine for the agent: a bare Debian with a player, whose apt reaches no server.

Without a network of its own it shares that of this machine, so that it reaches a stack on loopback.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from tests import debian, nspawn
from tests.nspawn import Machine

PLAYER: Final = """\
[Unit]
Description=A player that writes to its log whatever somebody appends to /run/kiosk
StartLimitIntervalSec=0

[Service]
ExecStart=/bin/sh -c ': >>/run/kiosk; exec tail -n 0 -f /run/kiosk'
Restart=on-failure
RestartSec=1

[Install]
WantedBy=multi-user.target
"""
BOOT_ID_IS_A_MOUNT: Final = """\
# Only in this container: its boot id is a mount over the host's, which these two options hide.
[Service]
ProtectControlGroups=no
ProtectKernelTunables=no
"""


CLOSED: Final = 'Acquire::http::Proxy "http://127.0.0.1:9";\nAcquire::https::Proxy "http://127.0.0.1:9";\n'


def machine(folder: Path, release: str = debian.RELEASE, network: str = "") -> AbstractContextManager[Machine]:
    """A machine that runs for as long as the block lasts; nothing of it is left."""
    return nspawn.machine(folder, debian.root(release), _fill, network)


def _fill(root: Path) -> None:
    (root / "etc/apt/apt.conf.d/99closed").write_text(CLOSED)
    units = root / "etc/systemd/system"
    (units / "kiosk.service").write_text(PLAYER)
    (units / "multi-user.target.wants").mkdir(exist_ok=True)
    (units / "multi-user.target.wants/kiosk.service").symlink_to("../kiosk.service")
    (units / "signage-display.service.d").mkdir()
    (units / "signage-display.service.d/container.conf").write_text(BOOT_ID_IS_A_MOUNT)
