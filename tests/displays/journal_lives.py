"""What happens to a display's journal, disk and boots; a program for namespaces of its own (`lived`)."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.displays.journal_world import KIOSK, OTHER, REPOSITORY, World, must

ROOT: Final = ("--user", "--map-root-user")  # of namespaces of its own: nobody need be root here
OWN: Final = ("unshare", *ROOT, "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private")


def kills(world: World, rounds: int = 8) -> None:
    """Kill -9 at random moments while lines are written."""
    for _ in range(rounds):
        world.start()
        for _ in range(world.chance.randint(1, 4)):
            world.write(world.chance.randint(0, 30))
            time.sleep(world.chance.uniform(0, 0.05))
            if world.chance.random() < 0.3:
                world.order("save")
        world.kill()
        world.write(world.chance.randint(0, 5))
    world.start()
    world.all_arrive()


def image(world: World) -> None:
    """A disk image is put back: lines are written in each boot before the agent starts."""
    world.start()
    world.write(10)
    world.all_arrive()
    world.order("save")
    world.cut_power()
    kept = world.copy(world.state, world.log)
    for _ in range(2):
        world.boot()
        world.write(20)
        world.start()
        world.all_arrive()
        world.cut_power()
        world.put_back(kept, world.state, world.log)
    world.boot()
    world.write(15)
    world.start()
    world.all_arrive()


def power(world: World) -> None:
    """A power cut takes the newest lines from the journal, after they were sent."""
    world.start()
    world.write(10)
    world.all_arrive()
    world.sync()
    kept = world.copy(world.log)
    world.write(30)
    world.all_arrive()
    if world.chance.random() < 0.5:
        world.order("save")
        time.sleep(0.3)
    world.cut_power()
    world.put_back(kept, world.log)
    world.boot()
    world.write(20)
    world.start()
    world.all_arrive()


def refusing(world: World) -> None:
    """The disk takes nothing for some starts of the agent, and works again."""
    world.start()
    world.all_arrive()
    world.kill()
    world.disk(refuses=True)
    for _ in range(3):
        world.start()
        world.write(10)
        world.all_arrive()
        world.kill()
        world.write(3)
    world.disk(refuses=False)
    world.start()
    world.all_arrive()


def refusing_level(world: World) -> None:
    """The log level changes while the disk takes nothing."""
    world.start()
    world.all_arrive()
    world.disk(refuses=True)
    world.order({"level": "debug"})
    for _ in range(20):
        world.write(1, priority=7)
        world.write(1)
    world.all_arrive()
    world.kill()
    world.disk(refuses=False)
    world.write(15)
    world.start()
    world.all_arrive()


def units(world: World) -> None:
    """Another unit is listed, and taken off the list, while lines wait."""
    world.start()
    world.all_arrive()
    world.kill()
    for number in range(4):
        world.start()
        world.write(10)
        world.write(10, OTHER)
        world.all_arrive()
        world.kill()
        world.write(5)
        world.write(5, OTHER)
        world.units = [KIOSK] if number % 2 else [KIOSK, OTHER]
    world.start()
    world.all_arrive()


def covered(world: World) -> None:
    """The folder is laid over by an empty one, and returns."""
    world.start()
    world.write(10)
    world.all_arrive()
    world.kill()
    must("mount", "-t", "tmpfs", "tmpfs", str(world.state))
    world.write(10)
    world.start()
    world.write(10)
    world.all_arrive()
    world.kill()
    must("umount", str(world.state))
    world.start()
    world.all_arrive()


def removed(world: World) -> None:
    """Lines are removed from the journal before they were sent."""
    world.start()
    world.all_arrive()
    world.kill()
    world.write(20)
    world.sync()
    world.vacuum()
    world.write(5)
    world.start()
    world.all_arrive()


def removed_and_committed(world: World) -> None:
    """Lines of a whole boot are removed after they were committed, and before the disk knows that."""
    world.start()
    world.all_arrive()
    world.cut_power()
    world.boot()
    world.write(10)
    world.start()
    world.all_arrive()
    world.sync()
    world.vacuum()
    world.kill()
    world.write(8)
    world.start()
    world.all_arrive()


def damaged(world: World) -> None:
    """The file of segments is damaged while lines wait."""
    world.start()
    world.all_arrive()
    world.kill()
    world.write(20)
    (world.state / "logs.json").write_bytes(b"[{")
    world.start()
    world.all_arrive()


def unseen_boot(world: World) -> None:
    """The machine boots and loses power before the agent begins."""
    world.start()
    world.all_arrive()
    for _ in range(3):
        world.cut_power()
        world.boot()
        world.write(10)
        world.sync()
    world.start()
    world.all_arrive()


def torn(world: World) -> None:
    """A power cut tears an entry of another unit, while lines wait that the disk has."""
    world.units = [KIOSK, OTHER]
    world.start()
    world.all_arrive()
    world.kill()
    world.write(10)
    world.write(1, OTHER)
    world.sync()
    world.cut_power()
    world.tear_the_newest_entry()
    world.boot()
    world.start()
    world.all_arrive()


def backlog(world: World) -> None:
    """Many more lines wait than agent and pipe hold."""
    world.start()
    world.all_arrive()
    world.kill()
    world.write(500, longer_by=2000)
    world.start()
    world.all_arrive()


def waiting(world: World) -> None:
    """Lines wait in a power cut: some were sent and their mark did not come, some were not read."""
    world.start()
    world.all_arrive()
    world.service.reports_marks = False
    world.write(20)
    world.all_arrive()
    world.kill()
    world.write(5)
    world.sync()
    world.cut_power()
    world.boot()
    world.write(10)
    world.service.reports_marks = True
    world.start()
    world.all_arrive()


def offline(world: World) -> None:
    """The service is away for many starts, boots, levels and lists of units."""
    world.service.reports_marks = False
    for number in range(12):
        world.start()
        world.write(30)
        world.order({"level": ("debug", "info", "warning")[number % 3]})
        world.write(10)
        world.units = [KIOSK] if number % 2 else [KIOSK, OTHER]
        world.kill()
        if number % 4 == 3:
            world.cut_power()
            world.boot()
            world.write(10)
    world.service.reports_marks = True
    world.units = [KIOSK]
    world.start()
    world.all_arrive()


class History:
    """Anything in any order."""

    def __init__(self, world: World) -> None:
        self.world, self.chance = world, world.chance
        self.copies: list[Path] = []
        self.refuses = False
        plain = (self.write, self.kill, self.cut, self.save, self.level, self.units, self.away, self.refuse, self.stop)
        self.plain: tuple[Callable[[], None], ...] = plain
        self.rough: tuple[Callable[[], None], ...] = (*plain, self.lose_the_tail, self.put_an_image_back, self.vacuum)

    def run(self, kinds: tuple[Callable[[], None], ...], steps: int = 40) -> None:
        world = self.world
        world.start()
        for _ in range(steps):
            self.chance.choice(kinds)()
            if world.agent is None and self.chance.random() < 0.8:
                world.start()
            time.sleep(self.chance.uniform(0, 0.1))
        world.disk(refuses=False)
        world.service.reports_marks = True
        world.units = [KIOSK]
        world.kill()
        world.start()
        world.all_arrive()

    def write(self) -> None:
        self.world.write(self.chance.randint(1, 120), priority=self.chance.choice((6, 6, 7)))

    def save(self) -> None:
        self.world.order("save")

    def level(self) -> None:
        self.world.order({"level": self.chance.choice(("debug", "info"))})

    def units(self) -> None:
        self.world.units = self.chance.choice(([KIOSK], [KIOSK, OTHER]))
        self.world.write(5, OTHER)

    def away(self) -> None:
        """The service goes away or comes back."""
        self.world.service.reports_marks = not self.world.service.reports_marks

    def refuse(self) -> None:
        """The disk begins or ceases to refuse."""
        self.refuses = not self.refuses
        self.world.disk(refuses=self.refuses)

    def kill(self) -> None:
        self.world.kill()

    def stop(self) -> None:
        """Lines are written while no agent runs."""
        self.world.kill()
        self.world.write(self.chance.randint(0, 9))

    def vacuum(self) -> None:
        self.world.sync()
        self.world.vacuum()

    def cut(self) -> None:
        """A power cut after which the disk has everything."""
        self._boot_with()

    def lose_the_tail(self) -> None:
        """A power cut after which the journal is an older one."""
        self._boot_with(self.world.log)

    def put_an_image_back(self) -> None:
        self._boot_with(self.world.state, self.world.log)

    def _boot_with(self, *older: Path) -> None:
        world = self.world
        if self.refuses:
            return
        world.sync()
        world.cut_power()
        if older and self.copies:
            world.put_back(self.copies.pop(), *older)
        self.copies.append(world.copy(world.state, world.log))
        world.boot()
        world.write(self.chance.randint(0, 20))


def history(world: World) -> None:
    """What keeps disk and journal."""
    one = History(world)
    one.run(one.plain)


def rough_history(world: World) -> None:
    """Also what makes lines come twice: states that go back, and places that are lost."""
    one = History(world)
    one.run(one.rough)


BY_DISK: Final = (image, power, refusing, refusing_level, covered, removed, removed_and_committed, damaged)
BY_START: Final = (kills, units, unseen_boot, torn, waiting, backlog, offline)
FORGETS: Final = {one.__name__ for one in (power, removed, removed_and_committed)}  # the journal: a word tells it
GOES_BACK: Final = {one.__name__ for one in (covered, damaged, rough_history)}  # the state: lines may come twice
LIVES: Final = {one.__name__: one for one in (*BY_DISK, *BY_START, history, rough_history)}


def lived(folder: Path, life: str, seed: int = 1) -> dict[str, Any]:
    """What the service has after this life."""
    program = (sys.executable, "-m", "tests.displays.journal_lives", str(folder), life, str(seed))
    done = subprocess.run((*OWN, *program), check=False, capture_output=True, text=True, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr
    judged: dict[str, Any] = json.loads(done.stdout)
    assert judged["written"] > 0
    return judged


if __name__ == "__main__":
    world = World(Path(sys.argv[1]), int(sys.argv[3]))
    try:
        LIVES[sys.argv[2]](world)
        print(json.dumps(world.judged()))
    finally:
        world.end()
