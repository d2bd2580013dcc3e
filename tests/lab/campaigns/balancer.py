"""A TCP balancer: each connection goes to a server that accepts, taken by chance.

python -m tests.lab.campaigns.balancer PORT SERVER_PORT...
"""

import asyncio
import contextlib
import random
import sys
from collections.abc import Sequence

from deploy.parts.layout import LOOPBACK

READ_BYTES = 65_536


async def serve(port: int, servers: Sequence[int]) -> None:
    """Balance connections to `port` of loopback between these ports, until the task ends."""

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for server in random.sample(servers, len(servers)):
            with contextlib.suppress(OSError):
                there = await asyncio.open_connection(LOOPBACK, server)
                await _both_ways((reader, writer), there)
                break
        writer.close()

    door = await asyncio.start_server(one, LOOPBACK, port, backlog=1_000)
    async with door:
        await door.serve_forever()


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _both_ways(here: Ends, there: Ends) -> None:
    """Carry bytes until one end closes; then both are closed."""
    carrying = [asyncio.create_task(_carry(here[0], there[1])), asyncio.create_task(_carry(there[0], here[1]))]
    try:
        await asyncio.wait(carrying, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in carrying:
            each.cancel()
        there[1].close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(READ_BYTES):
            writer.write(data)
            await writer.drain()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), [int(port) for port in sys.argv[2:]]))
