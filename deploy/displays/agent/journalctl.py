"""Read journald by journalctl: a process with memory of its own that knows each version of journald's format."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Sequence
from typing import Final

LINE_BYTES: Final = 128 * 1024
FIELDS: Final = "MESSAGE,PRIORITY,SYSLOG_IDENTIFIER,_SYSTEMD_UNIT,UNIT"
ONE: Final = ("--lines=1", "--output=json", "--output-fields=PRIORITY")


async def entries_from(cursor: str, units: Sequence[str]) -> AsyncGenerator[bytes, None]:
    """Yield the entries of these units as JSON, from the cursor on and then as they are written, until journalctl ends.

    The entry at the cursor comes first. If it was removed, the oldest entry after it comes first.
    """
    where = (f"--cursor={cursor}", "--no-tail") if cursor else ("--no-tail",)
    chosen = [f"--unit={unit}" for unit in units]
    process = await _journalctl("--follow", "--all", "--output=json", f"--output-fields={FIELDS}", *where, *chosen)
    output = process.stdout
    try:
        while output is not None:
            try:
                yield await output.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError as error:
                # The entry is too large for any message. Skip this part; the rest of the line is no JSON.
                await output.readexactly(error.consumed)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def newest_cursor() -> str:
    """The cursor of the newest entry; empty when there is no entry."""
    return cursor_in(await _said(*ONE))


async def exists(cursor: str) -> bool:
    """Whether the entry at this cursor is still in the journal."""
    return cursor_in(await _said(f"--cursor={cursor}", *ONE)) == cursor


def cursor_in(text: bytes) -> str:
    """The cursor of an entry in journalctl's JSON."""
    after = text.partition(b'"__CURSOR":"')[2] or text.partition(b'"__CURSOR" : "')[2]
    return after.partition(b'"')[0].decode("ascii", "replace")


async def _said(*arguments: str) -> bytes:
    process = await _journalctl(*arguments)
    said, _ = await process.communicate()
    return said


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
