"""The agent's log part as a process of its own: the real counter file, reader, spool and sender, without a broker.

Each message that it sends is a JSON line on its output; each line of its input is a mark, a log level or `"save"`.
"""

import asyncio
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

from displays.agent.journald_reader import JournaldReader
from displays.agent.journald_spool import JournaldSpool
from displays.agent.machine import kernel_boot_id
from displays.agent.settings import Places
from displays.client.contract import DEFAULT_LEVEL, LogsCommitted
from displays.client.installation import next_boot
from displays.client.log_sender import LogSender
from displays.client.spool import SpooledLog
from displays.client.state import Boot


def say(body: dict[str, Any]) -> None:
    """One line, in one write: a kill leaves all of it or nothing."""
    os.write(1, json.dumps(body).encode() + b"\n")


class Program:
    """From the start to the kill."""

    def __init__(self, state: Path, units: list[str]) -> None:
        kernel_boot = kernel_boot_id(Places())
        try:
            boot = next_boot(state / "installation.json", kernel_boot)
        except OSError:
            boot = Boot(str(uuid.uuid4()), 1, kernel_boot)
        self.level = DEFAULT_LEVEL
        self.spool = JournaldSpool(state / "logs.json")
        self.sender = LogSender(self.spool, lambda: True, self.send)
        self.reader = JournaldReader(self.spool, boot, units, lambda: self.level, lambda *_: self.sender.wake())
        say({"start": [boot.install_id, boot.boot_seq, boot.boot_id]})

    def send(self, message: SpooledLog) -> None:
        say({"level": message.level, "body": message.body})

    async def run(self) -> None:
        await self.reader.begin()
        say({"begun": True})
        orders = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        self.sender.start_again()
        works = [self.reader.run(), self.sender.send_in_order(), self.obey(orders)]
        await asyncio.gather(*works)

    async def obey(self, orders: asyncio.StreamReader) -> None:
        while line := await orders.readline():
            match json.loads(line):
                case {"mark": [str(install_id), int(boot_seq), int(seq)]}:
                    self.sender.committed(LogsCommitted(install_id, boot_seq, seq))
                case {"level": str(level)}:
                    self.level = level
                case "save":  # a minute has passed
                    self.spool.save()


if __name__ == "__main__":
    asyncio.run(Program(Path(sys.argv[1]), sys.argv[2:]).run())
