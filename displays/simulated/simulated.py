"""`SimulatedDisplay`: one display driven from an ordinary thread, for tests and scripts.

    display = SimulatedDisplay(credentials, state_dir)       # off; a loop of its own in the background
    with display:                                            # connect() ... close()
        display.heartbeat("crashed")                         # returns after the PUBACK
        display.health(broker_connection={...})              # fields given here win
        display.log("error", "screen went dark", panel=2)    # numbered, spooled until committed
        display.service_failed("player.service")
        display.behave(answers_commands=False)               # from now on it ignores commands

`Behaviour(automatic=False)`, the default here, sends no heartbeats and no health by itself. It obeys commands unless
`answers_commands` is False. `Behaviour()` sends heartbeats and health by itself.

`connect` is a boot (new `boot_id`, next `boot_seq`), `disconnect` a clean end, `cut` a pulled plug;
`lose_network` and `find_network` do not change the boot. The state dir is the display's disk: the same dir is the same
installation. Many displays can share one `LoopThread`.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from displays.client.client import Answer
from displays.client.contract import Kind
from displays.client.credentials import Credentials
from displays.client.state import DisplayState
from displays.simulated.display import Behaviour, Display

T = TypeVar("T")
DELIVERY_SECONDS = 10.0


class LoopThread:
    """An event loop in a background thread, for any number of displays."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="displays", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], timeout_seconds: float = 30.0) -> T:
        """Run `work` on the loop and return its result. Raises TimeoutError."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_seconds)

    def call(self, function: Callable[[], T]) -> T:
        """Call `function` on the loop's thread and return its result."""

        async def work() -> T:
            return function()

        return self.run(work())

    def close(self) -> None:
        """End the loop and its thread; the displays on it must be off."""
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SimulatedDisplay:
    """A display with blocking methods: each returns after its effect. See the module's docstring."""

    def __init__(
        self,
        credentials: Credentials,
        state_dir: Path,
        behaviour: Behaviour | None = None,
        loop_thread: LoopThread | None = None,
    ) -> None:
        self._own_thread = loop_thread is None
        self._thread = loop_thread or LoopThread()
        behaviour = behaviour or Behaviour(automatic=False)
        self.display = self._thread.call(lambda: Display(credentials, state_dir, behaviour))

    # --- connection and power ---

    def connect(self, timeout_seconds: float = 60.0) -> Self:
        """Boot and wait until it is online. Raises TimeoutError."""
        self._thread.run(self.display.power_on())
        self.wait_until_up(timeout_seconds)
        return self

    def disconnect(self, reason: str = "stopped") -> None:
        """Stop cleanly, with presence `offline`."""
        self._thread.run(self.display.power_off(reason))

    def switch_off_and_on(self, timeout_seconds: float = 60.0) -> None:
        """Switch it on again before it is down, and wait until it is online. Raises TimeoutError."""

        async def both() -> None:
            await asyncio.gather(self.display.power_off("stopped"), self.display.power_on())

        self._thread.run(both())
        self.wait_until_up(timeout_seconds)

    def cut(self) -> None:
        """Stop like a pulled plug."""
        self._thread.run(self.display.cut_power())

    def lose_network(self) -> None:
        self._thread.run(self.display.lose_network())

    def find_network(self) -> None:
        self._thread.call(self.display.find_network)

    def drop_connection(self) -> None:
        """Cut the connection once; the client reconnects by itself."""
        self._thread.call(self.display.drop_connection)

    def close(self) -> None:
        """Stop cleanly, if it is on, and end the background thread."""
        self.disconnect()
        if self._own_thread:
            self._thread.close()

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- messages: each method returns the reason code of the PUBACK ---

    def heartbeat(self, process_status: str | None = None) -> int:
        return self._delivered(lambda: self.display.heartbeat(process_status))

    def health(self, **vitals: Any) -> int:
        return self._delivered(lambda: self.display.health(**vitals))

    def service_failed(self, unit: str, result: str = "exit-code", restarts: int = 0) -> int:
        return self._delivered(lambda: self.display.service_failed(unit, result, restarts))

    def publish_raw(self, kind: Kind, body: dict[str, Any], level: str = "") -> int:
        """Send `body` unchanged, without a stamp."""
        return self._delivered(lambda: self.display.publish_raw(kind, body, level))

    def log(self, level: str, message: str, logger: str = "player", **context: Any) -> bool:
        """Number and spool a log message; False when it is below the log level or the spool is full."""
        return self._thread.call(lambda: self.display.log(level, message, logger, **context))

    # --- behaviour and state ---

    def behave(self, **changes: Any) -> None:
        """Change its behaviour from now on, for instance `behave(answers_commands=False)`."""

        def change() -> None:
            self.display.behaviour = replace(self.display.behaviour, **changes)

        self._thread.call(change)

    def call(self, function: Callable[[], T]) -> T:
        """Call `function` on the loop's thread, where `self.display` may be used. Returns its result."""
        return self._thread.call(function)

    @property
    def state(self) -> DisplayState:
        """The display's state: boot, app_instance, journal, process_status. Do not change it."""
        return self.display.state

    @property
    def spooled(self) -> int:
        """How many log messages wait for `logs_committed`."""
        return self._thread.call(lambda: self.display.spooled)

    def wait_until_up(self, timeout_seconds: float = 60.0) -> None:
        """Wait until the display is online. Raises TimeoutError."""
        self.wait_until(lambda: self.display.is_up, timeout_seconds)

    def wait_until(self, condition: Callable[[], bool], timeout_seconds: float = 60.0) -> None:
        """Wait until `condition` is true on the loop's thread. Raises TimeoutError."""
        deadline = time.monotonic() + timeout_seconds
        while not self._thread.call(condition):
            if time.monotonic() > deadline:
                raise TimeoutError("the display did not come to that state in time")
            time.sleep(0.01)

    def _delivered(self, send: Callable[[], Answer]) -> int:
        async def work() -> int | None:
            return await asyncio.wait_for(send(), DELIVERY_SECONDS)

        code = self._thread.run(work(), DELIVERY_SECONDS + 5.0)
        if code is None:
            raise ConnectionError("the display is not connected")
        return code
