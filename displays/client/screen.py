"""Keep the screen as the plan wants it, and the plan on the disk."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from logging import WARNING
from pathlib import Path
from typing import Final

from displays.client import durable, hours
from displays.client.contract import HoursOrder
from displays.client.hours import Plan, Wish
from shared.structured_log import event, failure

LOOK_SECONDS: Final = 5.0
AGAIN_SECONDS: Final = 60.0  # after a switch, or a write, that did not work


class ScreenKeeper:
    """The plan of one display and its screen. Methods that switch run one after another."""

    def __init__(self, path: Path, switch: Callable[[bool], Awaitable[str | None]]) -> None:
        """`switch` switches the screen on or off, waits until it is so, and returns why it is not, or None."""
        self._path, self._switch = path, switch
        self.plan = _load(path)
        self.kept_version = self.plan.version  # of the hours on the disk
        self._written = b""
        self._refused, self._write_again_at = b"", 0.0  # what the disk did not take
        self.wish = Wish(is_on=None)
        self.trouble = ""  # why the screen could not be switched, for people
        self._is_on: bool | None = None  # as it was switched last since the start; None: not at all
        self._again_at = 0.0
        self._one_at_a_time = asyncio.Lock()

    @property
    def off_by(self) -> str | None:
        """Whose plan it is that the screen is off; None: nobody's."""
        return self.wish.by

    def heard(self, now: datetime, *, is_sure: bool) -> None:
        """Note that the service was heard."""
        self._keep(hours.heard(self.plan, now, is_sure=is_sure))

    def take(self, order: HoursOrder) -> None:
        """Keep other hours. Raises BadMessage."""
        self._keep(hours.with_hours(self.plan, order.version, order.hours))

    async def obey(self, now: datetime, *, is_on: bool, is_sure: bool) -> str | None:
        """Carry out an operator's order. Returns why it was not done, or None."""
        async with self._one_at_a_time:
            before = self.plan
            self.plan, self.wish = hours.at(hours.with_order(before, is_on=is_on), now, is_sure=is_sure)
            if self.wish.is_on is not is_on:  # the service was away for days: its order has just come, so it is back
                self.plan = replace(self.plan, contact_at=now)
                self.plan, self.wish = hours.at(self.plan, now, is_sure=is_sure)
            failed = await self._bring(is_on)
            if failed is not None:
                self._keep(replace(before, switched_off=self.plan.switched_off))
            return failed

    async def look(self, now: datetime, *, is_sure: bool) -> bool:
        """Switch the screen if it is due. Returns whether it was switched."""
        async with self._one_at_a_time:
            plan, wish = hours.at(self.plan, now, is_sure=is_sure)
            self._keep(plan)
            if wish != self.wish:
                self.wish, self._again_at = wish, 0.0
            if wish.is_on is None or not self._is_due(wish.is_on):
                return False
            event("screen_switch", "the screen is switched by plan", is_on=wish.is_on, why=wish.why)
            return await self._bring(wish.is_on) is None

    def _is_due(self, is_on: bool) -> bool:
        """A screen that nobody switched since the start is on, unless this display switched it off before."""
        present = self._is_on
        if present is None and is_on and not self.plan.switched_off:
            present = True
        return present is not is_on and time.monotonic() >= self._again_at

    async def _bring(self, is_on: bool) -> str | None:
        """Switch the screen. That it is off is on the disk before it is, so that a later start switches it on."""
        if not is_on:
            self._keep(replace(self.plan, switched_off=True))
        failed = await self._switch(is_on)
        if failed is not None:
            self.trouble, self._again_at = failed, time.monotonic() + AGAIN_SECONDS
            event("screen_not_switched", "the screen was not switched", WARNING, is_on=is_on, why=failed)
            return failed
        self.trouble, self._is_on = "", is_on
        self._keep(replace(self.plan, switched_off=not is_on))
        return None

    def _keep(self, plan: Plan) -> None:
        """Take over the plan, and write it if it differs from the one on the disk."""
        self.plan = plan
        body = json.dumps(hours.to_json(plan)).encode()
        if body == self._written or (body == self._refused and time.monotonic() < self._write_again_at):
            return
        try:
            durable.replace_file(self._path, body)
        except OSError:
            self._refused, self._write_again_at = body, time.monotonic() + AGAIN_SECONDS
            failure("plan_failed", "the plan of the screen could not be written")
        else:
            self._written, self.kept_version = body, plan.version


def _load(path: Path) -> Plan:
    """The plan on the disk; an empty one if it is damaged: the service sends its hours again."""
    try:
        return hours.from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Plan()
