"""The counter file: the id of this installation, and how often it has booted.

`install_id` is random and generated with the file. So a re-imaged display begins a new history, and its messages do not
look old. `boot_seq` is increased on the disk before the first message of a boot. Message numbers then begin at 1 again,
and (install_id, boot_seq, kind, seq) is never used twice.
"""

import json
import uuid
from pathlib import Path
from typing import Final

from displays.client import durable
from displays.client.state import Boot

MOST_BOOTS: Final = 2**31  # a boot each second for longer than any display lasts


def next_boot(path: Path, boot_id: str) -> Boot:
    """Count a boot in the file at `path`. A missing or damaged file begins a new installation."""
    install_id, boot_seq = _read(path)
    boot = Boot(install_id, boot_seq + 1, boot_id)
    content = json.dumps({"install_id": boot.install_id, "boot_seq": boot.boot_seq})
    durable.replace_file(path, content.encode())
    return boot


def _read(path: Path) -> tuple[str, int]:
    try:
        body = json.loads(path.read_bytes())
        install_id, boots = str(uuid.UUID(body["install_id"])), body["boot_seq"]
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return str(uuid.uuid4()), 0
    if type(boots) is not int or not 0 <= boots < MOST_BOOTS:
        return str(uuid.uuid4()), 0
    return install_id, boots
