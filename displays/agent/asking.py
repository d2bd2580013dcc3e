"""Send a request to the root helper."""

import asyncio
import contextlib
from pathlib import Path
from typing import Final

ANSWER_SECONDS: Final = 100.0


class NotDone(Exception):
    """The helper refused, failed or could not be reached; the message says which."""


class Unanswered(NotDone):
    """The helper was asked and gave no answer. It may have done what it was asked for."""


async def ask(helper: Path, question: str) -> None:
    """Let the helper carry out one verb. Raises NotDone, and Unanswered where the answer is lost."""
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_unix_connection(helper), 5.0)
    except (OSError, TimeoutError) as error:
        raise NotDone(f"the helper cannot be reached: {error or 'it does not answer'}") from None
    try:
        writer.write(question.encode("ascii") + b"\n")
        said = (await asyncio.wait_for(reader.readline(), ANSWER_SECONDS)).decode("ascii", "replace").strip()
    except (OSError, TimeoutError) as error:
        raise Unanswered(f"the helper does not answer: {error or 'too late'}") from None
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    if not said:
        raise Unanswered("the helper ended without an answer")
    if said != "ok":
        raise NotDone(said)
