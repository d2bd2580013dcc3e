"""Read journald by journalctl: a process with memory of its own that knows each version of journald's format."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator
from typing import Final

LINE_BYTES: Final = 128 * 1024
FIELDS: Final = (
    "MESSAGE,PRIORITY,SYSLOG_IDENTIFIER,_SYSTEMD_UNIT,UNIT"
    ",_PID,_UID,_SYSTEMD_CGROUP,_SYSTEMD_SLICE,OBJECT_SYSTEMD_UNIT,COREDUMP_UNIT,MESSAGE_ID"  # what `is_of` looks at
)
BOOT: Final = re.compile(r"\s*-?\d+ ([0-9a-f]{32}) ")
ONE: Final = ("--lines=1", "--output=json", "--output-fields=PRIORITY")


async def entries_from(cursor: str, kernel_boot: str, *, follow: bool) -> AsyncGenerator[bytes, None]:
    """Yield the entries in one boot of the machine as JSON, and with `follow` new ones as they come.

    They are of every unit: of a file in which a power cut has torn one entry, journalctl shows nothing for that entry's
    unit, or for several units with it, and gives no error. Asked for no unit, it leaves out that entry only. journald
    of systemd 257 writes on in such a file.

    The entry at the cursor comes first. If it was removed, the oldest entry after it comes first. Without a cursor all
    entries come. With `--follow` journalctl itself shows only the present boot. Raises OSError when journalctl fails.
    """
    shown = ["--all", "--output=json", f"--output-fields={FIELDS}", *(["--follow", "--no-tail"] if follow else [])]
    process = await _journalctl(*shown, *_from(cursor), *_in(kernel_boot))
    output = process.stdout
    try:
        while output is not None:
            try:
                yield await output.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                break
            except asyncio.LimitOverrunError as error:
                # The entry is too large for any message. Skip this part; the rest of the line is no JSON.
                await output.readexactly(error.consumed)
        _check(await process.wait())
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()  # systemd 257 obeys SIGTERM only once it has written everything, and nobody reads on
        while output is not None and await output.read(LINE_BYTES):
            pass  # `wait` would hang as long as much that was written is not read
        await process.wait()


async def newest_cursor(kernel_boot: str) -> str:
    """The cursor of the newest entry of this boot of the machine, or of all boots ("").

    It is empty when there is no entry. Raises OSError when journalctl fails.
    """
    return cursor_in(await _said(*ONE, *_in(kernel_boot)))


async def first_cursor(kernel_boot: str) -> str:
    """The cursor of the oldest entry of this boot of the machine; empty without one. Raises OSError."""
    async with contextlib.aclosing(entries_from("", kernel_boot, follow=False)) as entries:
        async for text in entries:
            return cursor_in(text)
    return ""


async def exists(cursor: str, kernel_boot: str) -> bool:
    """Whether the entry at this cursor is still in the journal. Raises OSError when journalctl fails."""
    return cursor_in(await _said(*_from(cursor), *ONE, *_in(kernel_boot))) == cursor


async def boots() -> list[str]:
    """The boots of the machine in the journal, the oldest first. Raises OSError when journalctl fails."""
    lines = (await _said("--list-boots")).decode("ascii", "replace").splitlines()
    return [found[1] for line in lines if (found := BOOT.match(line))]


def cursor_in(text: bytes) -> str:
    """The cursor of an entry in journalctl's JSON."""
    after = text.partition(b'"__CURSOR":"')[2] or text.partition(b'"__CURSOR" : "')[2]
    return after.partition(b'"')[0].decode("ascii", "replace")


async def _said(*arguments: str) -> bytes:
    process = await _journalctl(*arguments)
    said, _ = await process.communicate()
    _check(await process.wait())
    return said


def _from(cursor: str) -> list[str]:
    return [f"--cursor={cursor}"] if cursor else []


def _in(kernel_boot: str) -> list[str]:
    return [f"_BOOT_ID={kernel_boot}"] if kernel_boot else []


def _check(returncode: int) -> None:
    if returncode != 0:
        raise OSError(f"journalctl ended with {returncode}")


async def _journalctl(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        "journalctl",
        "--quiet",
        "--no-pager",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LINE_BYTES,
    )
