"""Displays that lie about commands, each in one way, and honest ones. They know what truly happened."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from shared.vocabulary import CommandAction
from tests.lab.campaigns.wire import Received, Wire

RESTART, REBOOT, SHUTDOWN = CommandAction.RESTART_APP, CommandAction.REBOOT_HOST, CommandAction.SHUTDOWN_HOST
PICTURE, ON, OFF = CommandAction.SCREENSHOT, CommandAction.SCREEN_ON, CommandAction.SCREEN_OFF
ALL: Final = tuple(CommandAction)
SCREENS: Final = (ON, OFF)
OLD_PICTURE_SECONDS: Final = 3600.0


def _new() -> str:
    return str(uuid.uuid4())


@dataclass
class Liar:
    """A display on the wire. `truth` is whether its last command happened after it was received."""

    uuid: str
    port: int
    password: str
    wire: Wire = field(init=False)
    boot: str = field(default_factory=_new)
    app: str = field(default_factory=_new)
    install: str = field(default_factory=_new)
    boot_seq: int = 1
    seq: int = 0
    is_off: bool = False  # its screen
    command: str = ""  # the id of the last command
    earlier: str = ""  # the one before
    neighbour: "Liar | None" = None
    action: CommandAction = RESTART
    way: str = "honest"
    truth: bool = False
    times: int = 0  # how often the command was carried out
    is_dead: bool = False  # it says nothing any more
    session: str = ""  # of its presence
    says: str | None = None  # what heartbeats and health reports repeat of the command
    sends_picture_of_age: float | None = None
    """Seconds; None: none is sent."""
    reported: tuple[int, int, int] = (0, 0, 0)
    """The stamps of the last reports: boot, heartbeat, health."""

    def connect(self) -> None:
        """Connect, subscribe, and report."""
        self.wire = Wire.connect(self.port, self.uuid, self.password, clean_start=False, expiry_seconds=30)
        self.wire.subscribe(f"signage/{self.uuid}/commands")
        self.come_online()
        self.report()

    def begin(self, action: CommandAction, way: str) -> None:
        """Get ready for a command, with a report of the present state."""
        self.earlier, self.command = self.command, ""
        self.action, self.way, self.truth, self.times = action, way, False, 0
        self.is_dead, self.says, self.sends_picture_of_age = False, None, None
        self.is_off = action is ON
        self.come_online()
        self.report()

    def hear(self) -> None:
        """Read the wire, and take the first command."""
        for event in self.wire.take():
            if isinstance(event, Received) and not self.command:
                said = json.loads(event.payload)
                self.command = said["id"] if said["action"] == self.action else ""
        self.wire.flush()

    def answer(self) -> None:
        """Do what its way demands."""
        WAYS[self.way].act(self)

    def report(self) -> None:
        """Send a heartbeat and a health report, unless it is dead."""
        if self.is_dead:
            return
        last = {"id": self.command, "state": self.says} if self.says else None
        self._say(
            "heartbeat",
            boot_id=self.boot,
            app_instance=self.app,
            process_status="running",
            interval_seconds=30,
            last_command=last,
        )
        beat = self.seq
        screen = "off" if self.is_off else "ok"
        acks = [last] if last else []
        by = "command" if self.is_off else None
        self._say("health", screen_health=screen, screen_off_by=by, capabilities=list(ALL), recent_acks=acks)
        self.reported = (self.boot_seq, beat, self.seq)

    def ack(self, *states: str, command: str | None = None, boot: str | None = None, app: str | None = None) -> None:
        """Send an ACK for each state; of its own command, boot and player unless others are given."""
        for state in states:
            identities = {"boot_id": boot or self.boot, "app_instance": app or self.app}
            self._say("acks", id=command or self.command, state=state, **identities)

    def come_online(self) -> None:
        """Say that it is online, on a new connection."""
        self.session = _new()
        self._say("presence", state="online", session=self.session, reason="connected")

    def leave(self) -> None:
        """Say that it goes offline."""
        self._say("presence", state="offline", session=self.session, reason="shutdown")

    def start_player(self) -> None:
        """Start the player anew."""
        self.app = _new()

    def boot_anew(self) -> None:
        """Boot the machine anew."""
        self.boot, self.boot_seq = _new(), self.boot_seq + 1
        self.start_player()
        self.come_online()

    def carry_out(self) -> None:
        """Truly do what the command demands."""
        self.truth, self.times = True, self.times + 1
        if self.action is RESTART:
            self.start_player()
        elif self.action is REBOOT:
            self.leave()
            self.boot_anew()
        elif self.action is SHUTDOWN:
            self.leave()
            self.is_dead = True
        elif self.action is PICTURE:
            self.sends_picture_of_age = 0.0
        else:
            self.is_off = self.action is OFF

    def _say(self, topic: str, **body: Any) -> None:
        self.seq += 1
        stamp = {"install_id": self.install, "boot_seq": self.boot_seq, "seq": self.seq}
        self.wire.publish(f"signage/{self.uuid}/{topic}".encode(), json.dumps({**stamp, **body}).encode())


def _honest(one: Liar) -> None:
    one.ack("received", "running")
    one.carry_out()
    if not one.is_dead and one.action is not PICTURE:
        one.report()
        one.ack("succeeded")


def _does_nothing(one: Liar) -> None:
    one.ack("received", "running")


def _says_done(one: Liar) -> None:
    one.ack("received", "running", "succeeded")
    one.says = "succeeded"


def _only_says_done(one: Liar) -> None:
    one.ack("succeeded")
    one.says = "succeeded"


def _done_and_dies(one: Liar) -> None:
    one.ack("received", "running", "succeeded")
    one.is_dead = True


def _dies(one: Liar) -> None:
    one.ack("received", "running")
    one.is_dead = True


def _twice(one: Liar) -> None:
    one.ack("received", "running")
    one.carry_out()
    one.report()
    one.carry_out()
    one.report()
    one.ack("succeeded")


def _later_stamp(one: Liar) -> None:
    one.ack("received", "running")
    one.boot_seq += 1
    one.seq += 1000
    one.ack("succeeded")


def _earlier_ack(one: Liar) -> None:
    one.ack("succeeded", command=one.earlier or None, boot=_new(), app=_new())
    if not one.earlier:
        one.says = "succeeded"


def _for_a_neighbour(one: Liar) -> None:
    assert one.neighbour is not None
    one.ack("received", "running", "succeeded", command=one.neighbour.command, boot=_new(), app=_new())


def _only_the_player(one: Liar) -> None:
    one.ack("received", "running")
    one.start_player()
    _says_done(one)


def _reboots_instead(one: Liar) -> None:
    one.ack("received", "running")
    one.boot_anew()
    one.truth, one.times = True, 1  # the player has started anew, too
    one.report()
    one.ack("succeeded")


def _before_it_was_received(one: Liar) -> None:
    one.start_player()
    one.report()
    _says_done(one)


def _comes_back(one: Liar) -> None:
    one.ack("received", "running")
    one.leave()
    one.come_online()
    one.ack("succeeded")
    one.says = "succeeded"


def _old_picture(one: Liar) -> None:
    one.ack("received", "running")
    one.sends_picture_of_age = OLD_PICTURE_SECONDS


def _names_a_new_boot(one: Liar) -> None:
    one.ack("received", "running")
    one.ack("succeeded", boot=_new(), app=_new())
    one.says = "succeeded"


@dataclass(frozen=True)
class Way:
    """A way to answer, and the actions that it fits."""

    act: Callable[[Liar], None]
    actions: Sequence[CommandAction] = ALL


FELT: Final = (RESTART, REBOOT, PICTURE, *SCREENS)  # the actions that silence does not prove
WAYS: Final[Mapping[str, Way]] = {
    "honest": Way(_honest),
    "acks and does nothing": Way(_does_nothing),
    "says succeeded and does nothing": Way(_says_done),
    "says nothing but succeeded": Way(_only_says_done),
    "says succeeded, then dies": Way(_done_and_dies, FELT),
    "dies after the ACK": Way(_dies, FELT),
    "does it twice": Way(_twice, (RESTART, REBOOT)),
    "sends the old heartbeat with a later stamp": Way(_later_stamp, (RESTART, REBOOT, SHUTDOWN)),
    "repeats the ACK of an earlier command": Way(_earlier_ack),
    "acknowledges for a neighbour": Way(_for_a_neighbour),
    "restarts only the player": Way(_only_the_player, (REBOOT, SHUTDOWN)),
    "reboots instead of a restart": Way(_reboots_instead, (RESTART,)),
    "restarted before it was asked": Way(_before_it_was_received, (RESTART,)),
    "leaves and comes back": Way(_comes_back, (SHUTDOWN,)),
    "sends an old picture": Way(_old_picture, (PICTURE,)),
    "names a new boot in the ACK alone": Way(_names_a_new_boot, (RESTART, REBOOT, SHUTDOWN)),
}
CASES: Final = [(way, action) for way, how in WAYS.items() for action in how.actions]
"""Every way with each of its actions."""
