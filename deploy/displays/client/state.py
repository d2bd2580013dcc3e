"""What a display knows and decides: no files, no sockets, no clock of its own.

`DisplayState` answers every event with a list of effects, to be carried out **in that order** by
the owner of disk and network. The order is the point: a command's journal entry
is `Write` before the `Send` that tells of it and before the `Act` that does it, so that a crash at
any place between two effects can lose an action but never repeat one.

`now` is an argument everywhere; identities (`boot_id`, `app_instance`) are given, not made, here.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from deploy.displays.client import contract
from deploy.displays.client.contract import Command, Kind, LogLevelOrder, LogsCommitted

JOURNAL_SIZE: Final = 256  # command ids that a display remembers
RECENT_ACKS: Final = 8  # of them repeated in each health message
TERMINAL: Final = frozenset({"succeeded", "failed", "rejected"})

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Boot:
    """One boot of one installation; `boot_id` is the kernel's, the other two come from the counter file."""

    install_id: str
    boot_seq: int
    boot_id: str


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """Where one command stands on this display, and what was current when it was accepted."""

    id: str
    action: str
    state: str  # received, running, succeeded, failed or rejected
    reason: str | None
    boot_id: str
    app_instance: str
    install_id: str  # with boot_seq and seq: the stamp of the ACK that reported this state
    boot_seq: int
    seq: int
    traceparent: str | None = None  # as the command had it


@dataclass(frozen=True, slots=True)
class Write:
    """Put `entry` into the journal and on the disk before going on to the next effect."""

    entry: JournalEntry


@dataclass(frozen=True, slots=True)
class Send:
    """Publish `body` on the topic of `kind`."""

    kind: Kind
    body: Body


@dataclass(frozen=True, slots=True)
class Act:
    """Begin the action now; tell the outcome with `DisplayState.finished`."""

    action: str
    command_id: str


Effect = Write | Send | Act


def keep_last(entries: Iterable[JournalEntry]) -> dict[str, JournalEntry]:
    """The last `JOURNAL_SIZE` ids in order of acceptance, each with its newest entry."""
    newest: dict[str, JournalEntry] = {}
    for entry in entries:
        newest[entry.id] = entry
    return dict(list(newest.items())[-JOURNAL_SIZE:])


class DisplayState:
    """One display from one boot to the next. `journal` is what survived of the boots before."""

    def __init__(
        self,
        boot: Boot,
        app_instance: str,
        journal: Iterable[JournalEntry] = (),
        capabilities: Iterable[str] = contract.ACTIONS,
        interval_seconds: int = 30,
    ) -> None:
        self.boot = boot
        self.app_instance = app_instance
        self.journal = keep_last(journal)
        self.capabilities = tuple(capabilities)
        self.interval_seconds = interval_seconds
        self.process_status = "running"
        self.failed_unit: Body | None = None  # the service failure that still stands, with its stamp
        self.reconnect_count = 0
        self.last_disconnect_at: datetime | None = None
        self._sequences: dict[str, int] = {}  # last number given, per kind of message
        self._ordered_level: tuple[str, datetime] | None = None  # a temporary log level and its end

    # --- commands ---

    def booted(self, now: datetime) -> list[Effect]:
        """Settles what the end of the last boot cut short: each by its effect, none by doing it again."""
        effects: list[Effect] = []
        for entry in list(self.journal.values()):
            if entry.state not in TERMINAL:
                effects += self._move(self._settled(entry), now)
        return effects

    def on_command(self, command: Command, now: datetime) -> list[Effect]:
        """What to do about a command: refuse it, begin it, or say again where it stands."""
        known = self.journal.get(command.id)
        if known is not None:  # a repeat, a replay or a redelivery: never act twice
            return [Send(contract.ACKS, self._ack(known, now))]
        refusal = self._refusal(command)
        if refusal is not None:
            return self._move(self._entry(command, "rejected", refusal), now)
        received = self._entry(command, "received", None)
        effects = self._move(received, now)
        effects += self._move(replace(received, state="running"), now)
        effects.append(Act(command.action, command.id))
        return effects

    def finished(self, command_id: str, now: datetime, failure: str | None = None) -> list[Effect]:
        """The outcome of an action: succeeded, or failed for the reason `failure`. Told once."""
        entry = self.journal.get(command_id)
        if entry is None or entry.state in TERMINAL:
            return []
        state = "succeeded" if failure is None else "failed"
        return self._move(replace(entry, state=state, reason=failure), now)

    def refuse(self, command: Command, reason: str, now: datetime) -> list[Effect]:
        """Rejects a command that the caller may not begin any more, unless it is known already."""
        if command.id in self.journal:
            return []
        return self._move(self._entry(command, "rejected", reason), now)

    def _refusal(self, command: Command) -> str | None:
        """Why the command must not be carried out, the first that applies; None when it may be."""
        reasons = {
            "unsupported_version": command.version > contract.VERSION,
            "unknown_action": command.action not in contract.ACTIONS,
            "not_capable": command.action not in self.capabilities,
            "precondition_failed": command.if_boot_id not in {None, self.boot.boot_id}
            or command.if_app_instance not in {None, self.app_instance},
            "busy": any(entry.state not in TERMINAL for entry in self.journal.values()),
        }
        return next((reason for reason, applies in reasons.items() if applies), None)

    def _settled(self, entry: JournalEntry) -> JournalEntry:
        """How a command ended that was open when the machine went down.

        A new boot is the effect of reboot_host, and a new app instance that of restart_app, whatever
        brought it about; a shutdown counts once it had begun. The rest was cut short before acting.
        """
        done = {
            contract.REBOOT_HOST: entry.boot_id != self.boot.boot_id,
            contract.RESTART_APP: entry.app_instance != self.app_instance,
            contract.SHUTDOWN_HOST: entry.state == "running",
        }
        if done.get(entry.action, False):
            return replace(entry, state="succeeded", reason=None)
        return replace(entry, state="failed", reason="interrupted")

    def _entry(self, command: Command, state: str, reason: str | None) -> JournalEntry:
        boot = self.boot
        return JournalEntry(
            id=command.id,
            action=command.action,
            state=state,
            reason=reason,
            boot_id=boot.boot_id,
            app_instance=self.app_instance,
            install_id=boot.install_id,
            boot_seq=boot.boot_seq,
            seq=0,  # _move numbers it
            traceparent=command.traceparent,
        )

    def _move(self, entry: JournalEntry, now: datetime) -> list[Effect]:
        """The journal first, then the ACK: no crash may forget what an ACK has said."""
        stamp = self._stamp(contract.ACKS, now)
        stamped = replace(entry, install_id=stamp["install_id"], boot_seq=stamp["boot_seq"], seq=stamp["seq"])
        self.journal = keep_last([*self.journal.values(), stamped])
        return [Write(stamped), Send(contract.ACKS, stamp | self._ack_body(stamped))]

    def _ack(self, entry: JournalEntry, now: datetime) -> Body:
        return self._stamp(contract.ACKS, now) | self._ack_body(entry)

    def _ack_body(self, entry: JournalEntry) -> Body:
        return {
            "id": entry.id,
            "state": entry.state,
            "reason": entry.reason,
            "boot_id": self.boot.boot_id,
            "app_instance": self.app_instance,
            "traceparent": entry.traceparent,
        }

    # --- what goes up ---

    def heartbeat(self, now: datetime) -> Body:
        """The sign of life; it repeats the last command, so that a lost ACK heals within one interval."""
        last = next(reversed(self.journal.values()), None)
        return self._stamp(contract.HEARTBEAT, now) | {
            "boot_id": self.boot.boot_id,
            "app_instance": self.app_instance,
            "process_status": self.process_status,
            "interval_seconds": self.interval_seconds,
            "last_command": None if last is None else {"id": last.id, "state": last.state},
        }

    def health(self, vitals: Body, now: datetime) -> Body:
        """The slower report: `vitals` (percentages, versions, ...) and everything that must heal by repeating."""
        body = self._stamp(contract.HEALTH, now) | {
            "screen_health": "ok",
            "log_level": self.log_level(now),
            "service_failed": self.failed_unit,
            "recent_acks": self._recent_acks(),
            "broker_connection": {
                "reconnect_count": self.reconnect_count,
                "last_disconnect_at": _iso(self.last_disconnect_at),
            },
        }
        if set(self.capabilities) != set(contract.ACTIONS):  # absent means: all of them
            body["capabilities"] = list(self.capabilities)
        return body | vitals

    def is_logged(self, level: str, now: datetime) -> bool:
        """Is `level` at least the one in force? Ask before numbering: what is not sent gets no number."""
        return contract.LEVELS.index(level) >= contract.LEVELS.index(self.log_level(now))

    def log(self, message: str, logger: str, context: Body, now: datetime) -> Body:
        """A numbered log message; its level is part of the topic and not of the body."""
        return self._stamp(contract.LOGS, now) | contract.fit_log(message, logger, context)

    def logs_are_numbered_to(self, seq: int) -> None:
        """A spool that numbers lines itself has given this number of the present boot."""
        self._sequences[contract.LOGS.name] = seq

    def service_failed(self, unit: str, result: str, restarts: int, now: datetime) -> Body:
        """The notice that a unit of the system failed; health repeats it until the unit works again."""
        stamp = self._stamp(contract.SERVICE_FAILED, now)
        self.failed_unit = {"unit": unit[:256], **stamp}
        return stamp | {"unit": unit[:256], "result": result, "restarts": restarts}

    def _recent_acks(self) -> list[Body]:
        told = ("id", "state", "reason", "install_id", "boot_seq", "seq")
        entries = list(self.journal.values())[-RECENT_ACKS:]
        return [{name: asdict(entry)[name] for name in told} for entry in entries]

    def _stamp(self, kind: Kind, now: datetime) -> Body:
        """The next number of this kind of message: from 1 at each boot, without a gap."""
        seq = self._sequences.get(kind.name, 0) + 1
        self._sequences[kind.name] = seq
        boot = self.boot
        return {"install_id": boot.install_id, "boot_seq": boot.boot_seq, "seq": seq, "ts": _iso(now)}

    def is_mine(self, mark: LogsCommitted) -> bool:
        """Is it of an earlier boot, or of numbers that this one gave? Else the counter went back: no line is meant."""
        own_boot = (mark.install_id, mark.boot_seq) == (self.boot.install_id, self.boot.boot_seq)
        return not own_boot or mark.seq <= self._sequences.get(contract.LOGS.name, 0)

    # --- what changes it ---

    def app_started(self, app_instance: str) -> None:
        """The player runs as a new instance: what ailed the old one is over."""
        self.app_instance = app_instance
        self.process_status = "running"
        self.failed_unit = None

    def unit_works(self, unit: str) -> None:
        """A unit that had failed works again."""
        if self.failed_unit is not None and self.failed_unit["unit"] == unit[:256]:
            self.failed_unit = None

    def journal_is(self, entries: Iterable[JournalEntry]) -> None:
        """Believe the disk: called when a `Write` failed, so that nothing is remembered that was not kept."""
        self.journal = keep_last(entries)

    def disconnected(self, now: datetime) -> None:
        """The broker was lost without our wish."""
        self.last_disconnect_at = now

    def on_log_level(self, order: LogLevelOrder, now: datetime) -> None:
        """A temporary log level begins; it ends by itself."""
        self._ordered_level = (order.level, now + timedelta(seconds=min(order.until_seconds, 7 * 86_400)))

    def log_level(self, now: datetime) -> str:
        """The log level in force at `now`."""
        if self._ordered_level is not None and now < self._ordered_level[1]:
            return self._ordered_level[0]
        return contract.DEFAULT_LEVEL


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")
