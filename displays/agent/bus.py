"""Watch systemd's units over D-Bus: changes arrive at once, and all states are read again every half minute.

`jeepney` is pure Python, without a C library or a second event loop. `busctl monitor` would need root.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Final

from jeepney import DBusAddress, HeaderFields, MatchRule, Message, MessageType, Properties, message_bus, new_method_call
from jeepney.io.asyncio import DBusRouter, open_dbus_connection

from displays.agent.unit_rules import UnitFacts

SYSTEMD: Final = "org.freedesktop.systemd1"
MANAGER: Final = DBusAddress("/org/freedesktop/systemd1", SYSTEMD, f"{SYSTEMD}.Manager")
UNIT: Final = f"{SYSTEMD}.Unit"
READ_AGAIN_SECONDS: Final = 30.0
ANSWER_SECONDS: Final = 10.0
QUIET_SECONDS: Final = 0.05  # systemd sends several signals for one change

Told = Callable[[UnitFacts], None]


class BusFault(Exception):
    """The bus or systemd does not answer, or answers an error; the message says which."""


async def watch(units: Iterable[str], told: Told) -> None:
    """Call `told` with the facts of each unit, now and after each change, until the bus is lost. Raises BusFault."""
    async with _system_bus() as router:
        await _watch(router, await _paths(router, units), told)


async def look(units: Iterable[str]) -> list[UnitFacts]:
    """The facts of each unit now. Raises BusFault."""
    async with _system_bus() as router:
        return [await _facts(router, unit, path) for unit, path in (await _paths(router, units)).items()]


@contextlib.asynccontextmanager
async def _system_bus() -> AsyncIterator[DBusRouter]:
    try:
        connection = await asyncio.wait_for(open_dbus_connection("SYSTEM"), ANSWER_SECONDS)
    except (OSError, EOFError, TimeoutError, ValueError) as error:
        raise BusFault(f"no system bus: {error or type(error).__name__}") from None
    try:
        async with DBusRouter(connection) as router:
            yield router
    except (OSError, EOFError, TimeoutError) as error:
        raise BusFault(f"the system bus was lost: {error or type(error).__name__}") from None
    finally:
        with contextlib.suppress(OSError, EOFError):
            await connection.close()


async def _paths(router: DBusRouter, units: Iterable[str]) -> dict[str, str]:
    return {unit: (await _call(router, new_method_call(MANAGER, "LoadUnit", "s", (unit,))))[0] for unit in units}


async def _watch(router: DBusRouter, paths: Mapping[str, str], told: Told) -> None:
    await _call(router, new_method_call(MANAGER, "Subscribe"))
    changed: asyncio.Queue[Message] = asyncio.Queue(maxsize=64)
    with contextlib.ExitStack() as filters:
        for path in paths.values():
            rule = MatchRule(
                type="signal", interface="org.freedesktop.DBus.Properties", member="PropertiesChanged", path=path
            )
            filters.enter_context(router.filter(rule, queue=changed))
            await _call(router, message_bus_call(rule))
        while True:
            for unit, path in paths.items():
                told(await _facts(router, unit, path))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.get(), READ_AGAIN_SECONDS)
                await asyncio.sleep(QUIET_SECONDS)
            while not changed.empty():
                changed.get_nowait()


def message_bus_call(rule: MatchRule) -> Message:
    """The message that asks the bus for the signals that the rule matches."""
    return new_method_call(message_bus, "AddMatch", "s", (rule.serialise(),))


async def _facts(router: DBusRouter, unit: str, path: str) -> UnitFacts:
    general = await _properties(router, path, UNIT)
    service = await _properties(router, path, f"{SYSTEMD}.Service") if unit.endswith(".service") else {}
    return facts_from(unit, general, service)


def facts_from(unit: str, general: Mapping[str, Any], service: Mapping[str, Any]) -> UnitFacts:
    """The facts of a unit from the properties that D-Bus answered."""
    return UnitFacts(
        name=unit,
        load=str(general.get("LoadState", "unknown")),
        active=str(general.get("ActiveState", "unknown")),
        sub=str(general.get("SubState", "")),
        invocation=bytes(general.get("InvocationID", b"")).hex(),
        result=str(service.get("Result", "")),
        restarts=int(service.get("NRestarts", 0)),
    )


async def _properties(router: DBusRouter, path: str, interface: str) -> dict[str, Any]:
    at = DBusAddress(path, SYSTEMD, interface)
    (found,) = await _call(router, Properties(at).get_all())
    return {name: value for name, (_signature, value) in found.items()}


async def _call(router: DBusRouter, message: Message) -> tuple[Any, ...]:
    """The body of the answer. Raises BusFault for an error, TimeoutError for none."""
    answer = await asyncio.wait_for(router.send_and_get_reply(message), ANSWER_SECONDS)
    if answer.header.message_type is MessageType.error:
        raise BusFault(f"{answer.header.fields.get(HeaderFields.error_name)}: {answer.body}")
    body: tuple[Any, ...] = answer.body
    return body
