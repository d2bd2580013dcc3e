"""One program of the product, and how it is started, probed and stopped."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import Probe


@dataclass(frozen=True)
class Service:
    """One program that is kept running."""

    name: str
    command: tuple[str, ...]
    ready: Probe
    environment: Mapping[str, str] | None = None  # the whole environment; None: inherited
    address: str = ""  # shown to people when it is ready
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 5.0  # then its whole process group is killed
    ready_seconds: float = 180.0
    user: str | None = None  # the user that it runs as when root starts it; see guardian.launch
    settle_seconds: float = 0.0  # it must also live for so long, if `ready` alone is not enough
    pid_file: Path | None = None
    folder: Path = REPOSITORY
