"""`python -m deploy.parts.ticker`: Cloud Scheduler on one machine, until SIGTERM.

Every TICK_SECONDS (60; less for tests) it posts to SCHEDULER_TICK_URL with an identity token of
SCHEDULER_SERVICE_ACCOUNT, the first time at once. It retries each second, until the next tick is due, in two cases: no
server listens, or before the first success the function cannot reach the keys or the database. Other failed ticks are
not retried: the next tick does their work. Further environment:
OIDC_ISSUER, LOCAL_STATE_DIR (`.local`, the signing key is in its `secrets/`), TASK_QUEUE_KEYS_PORT (8124).
"""

import logging
import os
import re
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from apscheduler.events import EVENT_SCHEDULER_STARTED
from apscheduler.schedulers.blocking import BlockingScheduler
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from deploy.parts import deadline_http, identity, layout
from shared import config, structured_log
from shared.errors import ConfigurationError

TIMEOUT_SHARE = 0.9  # of the period, so that a stuck tick is over before the next is due
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
STOP_GRACE_SECONDS = 3.0
AGAIN_SECONDS = 1.0
CLOCK_SECONDS = 5.0  # between two checks whether the time of day was set back
TICK = "tick"  # the schedule's one job
NOT_YET = (401, 503)  # the function has no keys, or no database


@dataclass(frozen=True)
class Ticker:
    """Calls the scheduler_tick function, with its address, its period and the caller's identity."""

    url: str
    period: timedelta
    email: str
    issuer: str
    key: RSAPrivateKey
    _idle: threading.Event = field(default_factory=threading.Event)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _ticked: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._idle.set()

    def tick(self) -> None:
        """Call once, and log status and duration. Raises nothing, so that the schedule goes on."""
        self._idle.clear()
        began = time.monotonic()
        try:
            status, reason = self._call()
        finally:
            self._idle.set()
        succeeded = status is not None and 200 <= status <= 299
        if succeeded:
            self._ticked.set()
        structured_log.event(
            "tick",
            "ticked" if succeeded else "a tick failed",
            logging.INFO if succeeded else logging.ERROR,
            status=status,
            reason=reason,
            duration_ms=round((time.monotonic() - began) * 1000),
        )

    def _call(self) -> tuple[int | None, str]:
        """Returns the HTTP status, or None and why there was no answer."""
        headers = {
            "Authorization": f"Bearer {identity.mint(self.key, self.url, self.email, self.issuer)}",
            "User-Agent": "Google-Cloud-Scheduler",
            "X-CloudScheduler": "true",
            "X-CloudScheduler-ScheduleTime": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        until = time.monotonic() + (self.period * TIMEOUT_SHARE).total_seconds()
        while True:
            left = timedelta(seconds=max(0.0, until - time.monotonic()))
            try:
                found: tuple[int | None, str] = deadline_http.request("POST", self.url, headers, b"", left).status, ""
                is_over = self._ticked.is_set() or found[0] not in NOT_YET
            except deadline_http.NoReply as error:
                found = None, str(error)
                is_over = not isinstance(error, deadline_http.Refused)
            if is_over or left.total_seconds() <= AGAIN_SECONDS or self._stopping.wait(AGAIN_SECONDS):
                return found

    def stop(self) -> None:
        """End the retries."""
        self._stopping.set()

    def is_stopping(self, seconds: float) -> bool:
        """Wait up to `seconds`. Returns whether it was stopped."""
        return self._stopping.wait(seconds)

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait up to `seconds` for the end of the present tick. Returns whether no tick runs."""
        return self._idle.wait(seconds)


def schedule(ticker: Ticker) -> BlockingScheduler:
    """The schedule, not started: a tick at once, then every period. Ticks never overlap; missed ones run once."""
    scheduler = BlockingScheduler(timezone=UTC)
    scheduler.add_job(
        ticker.tick,
        "interval",
        id=TICK,
        seconds=ticker.period.total_seconds(),
        next_run_time=datetime.now(UTC),
        coalesce=True,
        max_instances=1,
        misfire_grace_time=None,
    )
    return scheduler


def keep_in_time(scheduler: BlockingScheduler, ticker: Ticker) -> None:
    """Make a tick due now when the next one is further away than a period. Runs until the ticker stops.

    The scheduler uses the time of day: if the clock were set back by a day, it would not tick for a day.
    """
    while not ticker.is_stopping(min(CLOCK_SECONDS, ticker.period.total_seconds())):
        job, now = scheduler.get_job(TICK), datetime.now(UTC)
        if job is not None and job.next_run_time - now > ticker.period + timedelta(seconds=1):
            structured_log.event("clock_set_back", "the time of day was set back; the next tick is due")
            job.modify(next_run_time=now)


def read_ticker() -> Ticker:
    """The ticker for these environment variables. Raises ConfigurationError, BadSetting or OSError."""
    product = config.load(required=("SCHEDULER_SERVICE_ACCOUNT",))
    return Ticker(
        url=product["SCHEDULER_TICK_URL"],
        period=_period(),
        email=product["SCHEDULER_SERVICE_ACCOUNT"],
        issuer=identity.issuer(os.environ),
        key=identity.load_or_create_key(identity.key_path(os.environ)),
    )


def _period() -> timedelta:
    text = os.environ.get("TICK_SECONDS") or "60"
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text):
        raise layout.BadSetting(f"TICK_SECONDS: {text[:200]!r} is no whole number from 1 to 9999.")
    return timedelta(seconds=int(text))


def _await_stop(scheduler: BlockingScheduler) -> None:
    """Shut the scheduler down at a signal, in a thread: a signal handler must not take the scheduler's locks."""

    def wait() -> None:
        signal.sigwait(STOP_SIGNALS)
        scheduler.shutdown(wait=False)

    threading.Thread(target=wait, name="signals", daemon=True).start()


def main() -> int:
    """Tick until SIGTERM or SIGINT; 1 when it cannot start."""
    structured_log.configure("ticker")
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        ticker = read_ticker()
    except (ConfigurationError, layout.BadSetting, ValueError, OSError, TypeError):
        structured_log.failure("ticker_failed", "the ticker cannot run")
        return 1
    scheduler = schedule(ticker)
    threading.Thread(target=keep_in_time, args=(scheduler, ticker), name="clock", daemon=True).start()
    scheduler.add_listener(lambda _event: _await_stop(scheduler), EVENT_SCHEDULER_STARTED)
    scheduler.start()
    ticker.stop()
    if not ticker.wait_until_idle(STOP_GRACE_SECONDS):
        # The function completes the present tick. A normal exit would wait for its thread here.
        structured_log.event("tick_left", "stopped during a tick")
        sys.stderr.flush()
        os._exit(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
