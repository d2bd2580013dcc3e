"""The display's state and decisions, without files, sockets or a clock.

`DisplayState` answers every event with a list of effects. The owner of disk and network must carry them out **in that
order**: the `Write` of a command's journal entry comes before its ACK (`Send`) and before the action (`Act`). So a
crash between two effects can lose an action, but never repeat one.

`now` is always an argument; the caller gives the identities (`boot_id`, `app_instance`).
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from displays.client import contract
from displays.client.contract import Command, Kind, LogLevelOrder, LogsCommitted
from displays.client.seen import PageTold

JOURNAL_SIZE: Final = 256  # command ids that a display remembers
RECENT_ACKS: Final = 8  # how many of their ACKs each health report repeats
TERMINAL: Final = frozenset({"succeeded", "failed", "rejected"})
REFUSED_FOR: Final = timedelta(hours=1)  # the service repeats hours each minute while they are wanted

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Boot:
    """One boot of one installation; `boot_id` is the kernel's, the other two come from the counter file."""

    install_id: str
    boot_seq: int
    boot_id: str


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """The state of one command on this display, and the boot and player that accepted it."""

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
    """Begin the action now; report its outcome by `DisplayState.finished`."""

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
    """The state of one display during one boot. `journal` are the commands of earlier boots."""

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
        self.interval_seconds = interval_seconds  # between heartbeats
        self.process_status = "running"
        self.failed_unit: Body | None = None  # the service failure that still stands, with its stamp
        self.hours_version: str | None = None  # the opening hours that it keeps
        self.look_version: str | None = None  # the setting of the screen's look that it keeps
        self.screen_off_by: str | None = None  # whose plan it is that the screen is off
        self.disk_writable = True
        self._refused: dict[str, tuple[str, datetime]] = {}  # topic -> why its last message was not taken, and when
        self.reconnect_count = 0
        self.last_disconnect_at: datetime | None = None
        self._page = PageTold()
        self._sequences: dict[str, int] = {}  # last number given, per kind of message
        self._ordered_level: tuple[str, datetime] | None = None  # a temporary log level and its end

    # --- commands ---

    def booted(self, now: datetime, left: Collection[str] | None = None) -> list[Effect]:
        """Settle the commands that were open when the last boot ended, by their effect. None is carried out again.

        `left`: their ids, where commands of this boot may be open too; otherwise all open ones.
        """
        effects: list[Effect] = []
        for entry in list(self.journal.values()):
            if entry.state not in TERMINAL and (left is None or entry.id in left):
                effects += self._move(self._settled(entry), now)
        return effects

    def on_command(self, command: Command, now: datetime) -> list[Effect]:
        """The effects of a command: reject it, begin it, or repeat its ACK."""
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
        """The effects of the end of an action: it succeeded, or failed with the reason `failure`. Only once."""
        entry = self.journal.get(command_id)
        if entry is None or entry.state in TERMINAL:
            return []
        state = "succeeded" if failure is None else "failed"
        return self._move(replace(entry, state=state, reason=failure), now)

    def refuse(self, command: Command, reason: str, now: datetime) -> list[Effect]:
        """Reject a command that the caller cannot begin any more, unless it is in the journal."""
        if command.id in self.journal:
            return []
        return self._move(self._entry(command, "rejected", reason), now)

    def _refusal(self, command: Command) -> str | None:
        """The first reason to reject the command; None when it may be carried out."""
        reasons = {
            "unsupported_version": command.version > contract.VERSION,
            "unknown_action": command.action not in contract.ALL_ACTIONS,
            "not_capable": command.action not in self.capabilities,
            "precondition_failed": command.if_boot_id not in {None, self.boot.boot_id}
            or command.if_app_instance not in {None, self.app_instance},
            "busy": any(_is_in_the_way(entry, command) for entry in self.journal.values()),
        }
        return next((reason for reason, applies in reasons.items() if applies), None)

    def _settled(self, entry: JournalEntry) -> JournalEntry:
        """The outcome of a command that was open when the machine went down.

        A new boot is the effect of reboot_host, and a new app instance that of restart_app, whatever caused it. A
        shutdown succeeded if it had begun before the machine booted. A screen's order is kept before the screen is
        switched, and each start switches it so. Every other command was interrupted.
        """
        new_boot = entry.boot_id != self.boot.boot_id
        done = {
            contract.REBOOT_HOST: new_boot,
            contract.RESTART_APP: entry.app_instance != self.app_instance,
            contract.SHUTDOWN_HOST: entry.state == "running" and new_boot,
            contract.SCREEN_ON: entry.state == "running",
            contract.SCREEN_OFF: entry.state == "running",
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
        """Write the journal first, then send the ACK: a crash must not lose a state that an ACK has reported."""
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
        """The body of a heartbeat. It repeats the last command's state, in case its ACK was lost."""
        last = next(reversed(self.journal.values()), None)
        return self._stamp(contract.HEARTBEAT, now) | {
            "boot_id": self.boot.boot_id,
            "app_instance": self.app_instance,
            "process_status": self.process_status,
            "interval_seconds": self.interval_seconds,
            "last_command": None if last is None else {"id": last.id, "state": last.state},
        }

    def health(self, vitals: Body, now: datetime) -> Body:
        """The body of a health report: `vitals` (percentages, versions, ...), and states repeated in case of a loss."""
        body = self._stamp(contract.HEALTH, now) | {
            "screen_health": "ok",
            "log_level": self.log_level(now),
            "service_failed": self.failed_unit,
            "disk_writable": self.disk_writable,
            "refused": self._refusals(now),
            "recent_acks": self._recent_acks(),
            "broker_connection": {
                "reconnect_count": self.reconnect_count,
                "last_disconnect_at": _iso(self.last_disconnect_at),
            },
        }
        if set(self.capabilities) != set(contract.ACTIONS):  # absent means: all of them
            body["capabilities"] = list(self.capabilities)
        if self.can_switch_screen:
            body |= {"screen_off_by": self.screen_off_by, "hours_version": self.hours_version}
        if self.look_version is not None:
            body["look_version"] = self.look_version
        return self._page.due(body | vitals)

    def connected(self) -> None:
        """A connection begins; the service may not know the page's address any more."""
        self._page.forget()

    @property
    def can_switch_screen(self) -> bool:
        """Whether it can switch its screen on and off, and so keeps opening hours."""
        return set(contract.SCREEN_ACTIONS) <= set(self.capabilities)

    def is_logged(self, level: str, now: datetime) -> bool:
        """Whether `level` is logged now. Ask before numbering: a message that is not sent must have no number."""
        return contract.LEVELS.index(level) >= contract.LEVELS.index(self.log_level(now))

    def log(self, message: str, logger: str, context: Body, now: datetime) -> Body:
        """The body of a numbered log message; its level is only in the topic."""
        return self._stamp(contract.LOGS, now) | contract.fit_log(message, logger, context)

    def logs_are_numbered_to(self, seq: int) -> None:
        """Note the last number of this boot, given by a spool that numbers lines itself."""
        self._sequences[contract.LOGS.name] = seq

    def service_failed(self, unit: str, result: str, restarts: int, now: datetime) -> Body:
        """The body of a service failure; health reports repeat it until the unit works again."""
        stamp = self._stamp(contract.SERVICE_FAILED, now)
        self.failed_unit = {"unit": unit[:256], **stamp}
        return stamp | {"unit": unit[:256], "result": result, "restarts": restarts}

    def _recent_acks(self) -> list[Body]:
        repeated = ("id", "state", "reason", "install_id", "boot_seq", "seq")
        entries = list(self.journal.values())[-RECENT_ACKS:]
        return [{name: asdict(entry)[name] for name in repeated} for entry in entries]

    def _stamp(self, kind: Kind, now: datetime) -> Body:
        """The next number of this kind of message: from 1 at each boot, without a gap."""
        seq = self._sequences.get(kind.name, 0) + 1
        self._sequences[kind.name] = seq
        boot = self.boot
        return {"install_id": boot.install_id, "boot_seq": boot.boot_seq, "seq": seq, "ts": _iso(now)}

    def is_mine(self, mark: LogsCommitted) -> bool:
        """Whether the mark is of an earlier boot, or of a number that this boot has given.

        Otherwise the counter went back, and the mark is not about our lines.
        """
        own_boot = (mark.install_id, mark.boot_seq) == (self.boot.install_id, self.boot.boot_seq)
        return not own_boot or mark.seq <= self._sequences.get(contract.LOGS.name, 0)

    # --- what changes it ---

    def app_started(self, app_instance: str) -> None:
        """The player runs as a new instance: the failure of the old one is over."""
        self.app_instance = app_instance
        self.process_status = "running"
        self.failed_unit = None

    def unit_works(self, unit: str) -> None:
        """A unit that had failed works again."""
        if self.failed_unit is not None and self.failed_unit["unit"] == unit[:256]:
            self.failed_unit = None

    def unwritten(self, entry: JournalEntry, now: datetime) -> list[Effect]:
        """The effects of an entry that the disk refused: what has not begun is refused, by memory alone."""
        if entry.state not in {"succeeded", "failed"}:
            entry = replace(entry, state="failed" if entry.state == "running" else "rejected", reason="no_journal")
        return [effect for effect in self._move(entry, now) if isinstance(effect, Send)]

    def order_refused(self, topic: str, reason: str, now: datetime) -> None:
        """The last message of this topic was not taken. Reports say so for REFUSED_FOR, or until one is taken."""
        if topic in contract.ORDERS:
            self._refused[topic] = (reason, now)

    def order_taken(self, topic: str) -> None:
        """A message of this topic was taken."""
        self._refused.pop(topic, None)

    def _refusals(self, now: datetime) -> list[Body]:
        """The refused orders. A refusal ends after REFUSED_FOR, and when its time lies ahead of the clock."""
        self._refused = {
            topic: (reason, at) for topic, (reason, at) in self._refused.items() if at <= now < at + REFUSED_FOR
        }
        return [{"what": topic, "reason": reason} for topic, (reason, _) in sorted(self._refused.items())]

    def journal_is(self, entries: Iterable[JournalEntry]) -> None:
        """Replace the journal by the one on the disk, after a `Write` failed."""
        self.journal = keep_last(entries)

    def disconnected(self, now: datetime) -> None:
        """The connection was lost, and we did not close it."""
        self.last_disconnect_at = now

    def on_log_level(self, order: LogLevelOrder, now: datetime) -> None:
        """A temporary log level begins; it ends by itself."""
        self._ordered_level = (order.level, now + timedelta(seconds=min(order.until_seconds, 7 * 86_400)))

    def log_level(self, now: datetime) -> str:
        """The log level in force at `now`."""
        if self._ordered_level is not None and now < self._ordered_level[1]:
            return self._ordered_level[0]
        return contract.DEFAULT_LEVEL


def _is_in_the_way(entry: JournalEntry, command: Command) -> bool:
    """Whether the command must not begin while this one runs. A screenshot and another command may run together."""
    is_look = command.action == contract.SCREENSHOT
    return entry.state not in TERMINAL and (entry.action == contract.SCREENSHOT) == is_look


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")
