"""What the agent makes of the helper's answer, and of none."""

import asyncio
from pathlib import Path

import pytest

from displays.agent.asking import NotDone, Unanswered, ask

REFUSAL = "refused: there is no verb 'halt'"


def request(folder: Path, answer: bytes, read: bool = True) -> None:
    """Ask a helper that answers so and ends the connection; without `read` it ends before it has read the request."""

    async def helper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if read:
            await reader.readline()
        writer.write(answer)
        writer.close()

    async def run() -> None:
        async with await asyncio.start_unix_server(helper, folder / "door"):
            await ask(folder / "door", "reboot")

    asyncio.run(run())


def test_a_done_request_raises_nothing(tmp_path: Path) -> None:
    request(tmp_path, b"ok\n")


@pytest.mark.parametrize("read", [True, False])
def test_a_helper_that_ends_before_it_answers_may_have_done_it(tmp_path: Path, read: bool) -> None:
    with pytest.raises(Unanswered):
        request(tmp_path, b"", read)


def test_a_refusal_and_a_missing_helper_are_certainly_not_done(tmp_path: Path) -> None:
    with pytest.raises(NotDone, match=REFUSAL) as refused:
        request(tmp_path, REFUSAL.encode() + b"\n")
    with pytest.raises(NotDone, match="cannot be reached") as missing:
        asyncio.run(ask(tmp_path / "nobody", "reboot"))

    assert Unanswered not in {refused.type, missing.type}
