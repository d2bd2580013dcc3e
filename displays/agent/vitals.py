"""Read the machine's vitals from the kernel: load, memory, disk, temperature, address, clock, voltage."""

import ctypes
import os
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from displays.agent.settings import Places

VERSION_SECONDS: Final = 5.0
DISK_FULL_PERCENT: Final = 95
ROOM_BYTES: Final = 16 * 1024  # free on the disk, for the journal of commands
LISTENS: Final = "00010000"  # the flag __SO_ACCEPTCON in /proc/net/unix
CLOCK_NOT_IN_STEP: Final = 5  # TIME_ERROR of adjtimex


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """The processors' clock ticks since the boot."""

    busy: int
    all: int


def cpu_times(root: Path) -> CpuTimes | None:
    """Read the first line of /proc/stat; idle ticks and waits for the disk do not count as busy. None if unreadable."""
    words = _first_line(root / "proc/stat").split()[1:9]
    if len(words) < 5:
        return None
    ticks = [int(word) for word in words]
    return CpuTimes(sum(ticks) - ticks[3] - ticks[4], sum(ticks))


def cpu_percent(before: CpuTimes | None, now: CpuTimes | None) -> int | None:
    """The load of all processors between the two readings; None if one is missing."""
    if before is None or now is None or now.all <= before.all:
        return None
    return round(100 * (now.busy - before.busy) / (now.all - before.all))


def memory_percent(root: Path) -> int | None:
    """The share of the memory that is in use and cannot be freed; None if unknown."""
    found: dict[str, int] = {}
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        if rest.split():
            found[name] = int(rest.split()[0])
    if "MemAvailable" not in found or not found.get("MemTotal"):
        return None
    return round(100 * (1 - found["MemAvailable"] / found["MemTotal"]))


def disk_percent(folder: Path) -> int | None:
    """The share of this folder's disk that is in use; None if unknown."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    return round(100 * (1 - disk.f_bavail / disk.f_blocks)) if disk.f_blocks else None


def disk_takes(folder: Path) -> bool:
    """Whether the folder's disk is writable and has room for the journal. Nothing is written to it."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return not disk.f_flag & os.ST_RDONLY and disk.f_bavail * disk.f_frsize >= ROOM_BYTES


def temperature(root: Path) -> float | None:
    """The temperature of the hottest thermal zone, in degrees Celsius; None if unknown."""
    zones = [_text(path).strip() for path in root.glob("sys/class/thermal/thermal_zone*/temp")]
    degrees = [int(text) / 1000 for text in zones if text.lstrip("-").isdecimal()]
    sane = [one for one in degrees if -100 <= one <= 300]
    return max(sane, default=None)


def under_voltage(root: Path) -> bool | None:
    """Whether a Raspberry Pi had too little voltage at any time since its boot; the kernel keeps the flag set.

    None on a machine that does not measure it.
    """
    drivers = root.glob("sys/class/hwmon/hwmon*/name")
    named = [path.parent for path in drivers if _text(path).strip() == "rpi_volt"]
    flags = [_text(folder / "in0_lcrit_alarm").strip() for folder in named]
    return "1" in flags if "0" in flags or "1" in flags else None


def listens(root: Path, path: Path) -> bool:
    """Whether a program listens at this socket, by the kernel's list. True if the kernel shows none."""
    lines = _text(root / "proc/net/unix").splitlines()
    return not lines or any(line.split()[3] == LISTENS and line.endswith(f" {path}") for line in lines[1:])


def root_is_read_only(root: Path) -> bool:
    """Whether the root file system itself is read-only. (ProtectSystem always makes it so in the agent's view.)"""
    options = [""]
    for line in _text(root / "proc/self/mountinfo").splitlines():
        words = line.split()
        if len(words) > 9 and words[4] == "/":
            options = words[-1].split(",")
    return not {"ro", "emergency_ro"}.isdisjoint(options)  # the second: ext4 of newer kernels, after a fault


def clock_in_step() -> bool:
    """Whether the clock is synchronised, by the kernel's flag."""
    libc = ctypes.CDLL(None, use_errno=True)
    state = int(libc.adjtimex(ctypes.create_string_buffer(256)))  # larger than any struct timex; changes nothing
    return 0 <= state < CLOCK_NOT_IN_STEP


def clock_is_sure(root: Path) -> bool:
    """Whether the clock is in step, or was kept by a clock with a battery."""
    return clock_in_step() or (root / "sys/class/rtc/rtc0").exists()


def address() -> str | None:
    """The address from which the machine sends to the internet; None without a route. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return None


def system_name(root: Path) -> str | None:
    """PRETTY_NAME of /etc/os-release; None if unknown."""
    for line in _text(root / "etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')[:256] or None
    return None


def app_version(file: str, command: Sequence[str]) -> str | None:
    """The player's version: the first line of the owner's file, or of the output of the owner's command."""
    said = ""
    if file:
        said = _first_line(Path(file))
    elif command:
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=VERSION_SECONDS)
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        said = (done.stdout.splitlines() or [""])[0]
    return said.strip()[:256] or None


def troubles(root: Path, state: Path) -> dict[str, str]:
    """The machine's troubles: code -> description. `root` is "/" except in tests.

    A clock of 1970 needs no code of its own: at boot systemd sets it to a date of its own, and it is not in step.
    """
    disk, refusal = disk_percent(state), _first_line(Places(root).refusal)
    wrong = {
        "read_only_root": (root_is_read_only(root), "the root file system is read-only"),
        "disk_full": (disk is not None and disk >= DISK_FULL_PERCENT, f"the disk is {disk} % full"),
        "clock_not_in_step": (not clock_in_step(), "the clock is not synchronised and may be wrong"),
        "under_voltage": (under_voltage(root) is True, "the power supply has given too little voltage since the boot"),
        "helper_refused": (bool(refusal), f"since the boot the root helper has refused a request: {refusal}"),
    }
    return {word: meaning for word, (holds, meaning) in wrong.items() if holds}


def report(root: Path, state: Path) -> dict[str, Any]:
    """The fields of a health report that need no earlier reading."""
    return {
        "memory_percent": memory_percent(root),
        "disk_percent": disk_percent(state),
        "temperature_celsius": temperature(root),
        "under_voltage": under_voltage(root),
        "os": system_name(root),
        "ip": address(),
        "hostname": socket.gethostname()[:256] or None,
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _first_line(path: Path) -> str:
    return (_text(path).splitlines() or [""])[0]
