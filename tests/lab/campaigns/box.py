"""A box with systemd as init: set up, used, killed, restarted, rebooted, after power cuts, restored, renewed.

It is set up with the commands of the guides on an empty Debian that systemd-nspawn boots. A display is connected all
the time. After each fault both doors must open again with every unit active, and no line of the display may be lost.
BOX_DEBIAN chooses another release than this machine's.
"""

import os
import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from displays.client.credentials import Credentials
from displays.simulated.display import Behaviour
from displays.simulated.simulated import SimulatedDisplay
from tests import debian
from tests.lab.campaigns.box_kernel import judged, said_on_a_kernel
from tests.lab.campaigns.box_roles import not_refused, other_rights
from tests.lab.campaigns.doors import PICTURE
from tests.lab.campaigns.guides import backup_lines, restore_lines
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.systemd_box import (
    ALL,
    CERTIFICATES,
    STAY,
    Box,
    box_of_its_own,
    certificate_lines,
    renewal_line,
    set_up_lines,
)
from tests.lab.campaigns.tally import Tally
from tests.stack import eventually
from tests.worker.decks import make_pptx

PROGRAMS: Final = ("systemd-nspawn", "debootstrap", "git")
LINEAGE: Final = "/root/renewed"
VERSIONS: Final = "echo Debian $(cat /etc/debian_version), $(systemctl --version | head -1) under systemd-nspawn"
LOGGED: Final = "the box is whole again"
MOST_SECONDS: Final = {
    "first start": 30.0,  # including the creation of a database
    "death of signage": 10.0,
    "death of postgresql": 30.0,  # it replays its log
    "restart": 30.0,
    "reboot": 30.0,
    "power cut": 30.0,
    "restore": 60.0,
    "renewal": 15.0,
}


@dataclass(frozen=True)
class Plan:
    """How often each fault is repeated."""

    times: int = 5
    release: str = os.environ.get("BOX_DEBIAN", debian.RELEASE)
    seed: int = 1


def is_possible() -> bool:
    """Whether this machine can make and boot another one."""
    return os.geteuid() == 0 and all(map(shutil.which, PROGRAMS))


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger(f"box-{plan.release}", plan.seed, {"services": len(STAY), "of_each": plan.times})
    began = time.monotonic()
    with box_of_its_own(folder, plan.release) as box:
        campaign = Campaign(box, ledger, Tally(say), folder)
        campaign.set_up()
        with campaign.display() as display:
            campaign.use(display)
            campaign.back_up_and_restore()
            campaign.kill_each(display)
            campaign.renew(display)
            for what in (campaign.restart, campaign.reboot, campaign.cut_power):
                for _ in range(plan.times):
                    what()
                    campaign.see(display)
            campaign.end(display)
        ledger.note = box.run(VERSIONS).strip()
        campaign.boot_a_kernel(plan.release)
    campaign.tally.judge(ledger, MOST_SECONDS)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


@dataclass
class Campaign:
    """The steps of the campaign on one box."""

    box: Box
    ledger: Ledger
    tally: Tally
    folder: Path
    seen: int = 0

    def set_up(self) -> None:
        """Run the guide's commands on an empty machine."""
        before, start = set_up_lines()
        self.box.run(f"cd {CERTIFICATES}; {certificate_lines()}")
        self.box.run(before)
        began = time.monotonic()
        self.box.run(f"cd /opt/signage; {start}")
        self.watch("first start", began)

    def watch(self, what: str, began: float, gone: Collection[str] = ()) -> None:
        """Wait until the box is complete, without the unit starts in `gone`."""
        if not self.tally.watch(what, began, lambda: self.box.is_whole(gone)):
            self.tally.say(self.box.run("systemctl list-units --all 'signage*'; journalctl --lines=60 --no-pager"))
            self.box.run("systemctl restart signage.target")

    @contextmanager
    def display(self) -> Iterator[SimulatedDisplay]:
        """An enrolled display that connects to the broker by TLS."""
        api, name = self.box.api(), str(uuid.uuid4())
        code = api.post(f"/api/clients/{name}/enrolment", expected=201)["code"]
        login = Credentials.from_enrolment(api.post("/api/enroll", {"code": code}, expected=201))
        self.ledger.conditions["displays are sent to MQTT over TLS with the box's own authority"] = bool(
            login.tls and login.port == self.box.doors.broker and login.ca_pem
        )
        state = self.folder / "display"
        state.mkdir()
        with SimulatedDisplay(login, state, Behaviour(interval_seconds=5)) as display:
            yield display

    def use(self, display: SimulatedDisplay) -> None:
        """Do what a person does on the first day."""
        conditions = self.ledger.conditions
        conditions["the first sign-in asks for a password of one's own"] = self._sign_in()
        conditions["a display restarts its player when it is told to"] = self._command(display) == "succeeded"
        health = self.box.run("curl --silent http://127.0.0.1:3000/health")
        conditions["LibreOffice's sandbox works in its unit"] = '"isolation": "bubblewrap"' in health
        conditions["a deck becomes a PDF with a page a slide"] = self._pages_of_a_deck(3, seed=1) == 3
        self._judge_roles("after the first start")

    def _sign_in(self) -> bool:
        api, password, own = self.box.api(), self.box.secret("admin_password"), uuid.uuid4().hex
        first = api.call("POST", "/api/session", 201, json={"username": "admin", "password": password})
        change = {"current_password": password, "new_password": own}
        signed_in = {"Authorization": None, "X-Requested-With": "signage", "Cookie": _cookies(first)}
        api.call("POST", "/api/users/me/password", 204, json=change, headers=signed_in)
        api.call("POST", "/api/session", 401, json={"username": "admin", "password": password})
        second = api.call("POST", "/api/session", 201, json={"username": "admin", "password": own})
        return bool(first.json()["must_change_password"]) and not second.json()["must_change_password"]

    def _command(self, display: SimulatedDisplay) -> str:
        api, name = self.box.api(), display.display.credentials.uuid
        eventually(lambda: api.get(f"/api/clients/{name}")["status"] == "running", "its heartbeat", 60)
        body = {"action": "restart_app", "reason": "campaign", "override_lockout": True}
        sent = api.post(f"/api/clients/{name}/commands", body, expected=202)["id"]
        done = eventually(lambda: self._ended(sent), "the end of its command", 120)
        return str(done["state"])

    def _ended(self, command: str) -> dict[str, Any] | None:
        now: dict[str, Any] = self.box.api().get(f"/api/commands/{command}")
        return now if now["finished_at"] else None

    def _pages_of_a_deck(self, slides: int, seed: int) -> int:
        deck = self.folder / "deck.pptx"
        make_pptx(deck, slides, seed=seed)
        with deck.open("rb") as file:
            sent = self.box.api().call("POST", "/api/event-media", 201, files={"file": (deck.name, file)}).json()
        done = eventually(lambda: self._converted(sent["media"]["id"]), "the end of its conversion", 300)
        return int(done.get("pages") or 0)

    def _converted(self, medium: int) -> dict[str, Any] | None:
        now: dict[str, Any] = self.box.api().get(f"/api/conversions/{medium}/status")
        return now if now["status"] in {"ready", "failed"} else None

    def _judge_roles(self, when: str) -> None:
        wrong = [*not_refused(self.box), *other_rights(self.box)]
        for line in wrong:
            self.tally.say(line)
        self.ledger.conditions[f"each role may do its own and nobody changes the audit log, {when}"] = not wrong

    def back_up_and_restore(self) -> None:
        """Back up, delete database and volume with later data, restore."""
        kept = self._uploaded("kept")
        for line in backup_lines("systemd"):
            self.box.run(line)
        later = self._uploaded("later")
        dump = (self.box.machine.root / "var/lib/postgresql/signage.dump").stat()
        self.ledger.conditions["the dump is closed to others"] = dump.st_mode & 0o077 == 0
        self.box.run("find /server/media -mindepth 1 -delete")
        began, gone = time.monotonic(), self.box.lives(ALL).values()
        self.box.run(restore_lines("systemd"))
        self.watch("restore", began, gone)
        ask, token = self.box.doors.ask, self.box.secret("admin_token")
        found = ask(token, "GET", f"/api/event-media/{kept}/content").data
        self.ledger.conditions["a restore brings back what the backup had"] = found == _picture("kept")
        came_later = ask(token, "GET", f"/api/event-media/{later}").status
        self.ledger.conditions["and nothing that came later"] = came_later == 404
        self._judge_roles("after the restore")

    def _uploaded(self, name: str) -> int:
        answer = self.box.doors.ask(self.box.secret("admin_token"), "POST", "/api/event-media", _picture(name))
        assert answer.status == 201, answer.data
        return int(answer.json()["media"]["id"])

    def kill_each(self, display: SimulatedDisplay) -> None:
        """Kill -9 the main process of each unit, and Postgres."""
        for unit in (one for one in self.box.units if one in STAY or one not in ALL):
            gone = self.box.lives([unit]).values()
            self.box.machine.kill(unit)
            self.watch(f"death of {unit.removesuffix('.service')}", time.monotonic(), gone)
            self.see(display)

    def renew(self, display: SimulatedDisplay) -> None:
        """Renew the certificate by the hook, as certbot does."""
        ports = (self.box.doors.gateway, self.box.doors.broker)
        before = {self.box.doors.serial_number(port) for port in ports}
        self.box.run(f"cd {CERTIFICATES}; {certificate_lines(again=True)}")
        self.box.run(f"mkdir -p {LINEAGE}")
        self.box.run(f"cd {CERTIFICATES}; cp certificate.pem {LINEAGE}/fullchain.pem; cp key.pem {LINEAGE}/privkey.pem")
        began = time.monotonic()
        self.box.run(f"cd /opt/signage; {renewal_line(LINEAGE)}")
        self.watch("renewal", began)
        display.wait_until_up()
        self.ledger.counted["display_back_after_renewal_seconds"] = round(time.monotonic() - began, 1)
        after = {self.box.doors.serial_number(port) for port in ports}
        self.ledger.conditions["both doors show the renewed certificate"] = len(after) == 1 and not before & after
        self.see(display)

    def restart(self) -> None:
        gone, began = self.box.lives(ALL).values(), time.monotonic()
        self.box.run("systemctl restart signage.target")
        self.watch("restart", began, gone)

    def reboot(self) -> None:
        gone, began = self.box.lives().values(), time.monotonic()
        self.box.machine.try_to("systemctl", "reboot")
        self.watch("reboot", began, gone)

    def cut_power(self) -> None:
        gone = self.box.lives().values()
        self.box.machine.cut_power()
        began = time.monotonic()
        self.box.machine.switch_on()
        self.watch("power cut", began, gone)

    def see(self, display: SimulatedDisplay) -> None:
        """Wait until the display has reconnected, and log a line."""
        display.wait_until_up(60)
        self.seen += 1
        display.log("info", f"{LOGGED} {self.seen}")

    def end(self, display: SimulatedDisplay) -> None:
        """Check the final conditions."""
        eventually(lambda: display.spooled == 0, "the last line in the database", 120)
        name = display.display.credentials.uuid
        page = self.box.api().get(f"/api/client-logs/{name}/logs?limit=500")["items"]
        stored = sorted(int(one["message"].split()[-1]) for one in page if one["message"].startswith(LOGGED))
        self.ledger.conditions["each line of the display is stored once"] = stored == list(range(1, self.seen + 1))
        self.ledger.conditions["a deck still becomes a PDF"] = self._pages_of_a_deck(2, seed=2) == 2
        self.ledger.conditions["the ticker ticks"] = self._ticks()
        failed = self.box.run("systemctl list-units --failed --plain --no-legend 'signage*' 'postgresql*'")
        self.ledger.conditions["no unit has failed in the end"] = not failed.strip()
        self.ledger.counted["lines"] = self.seen

    def boot_a_kernel(self, release: str) -> None:
        """Switch the machine off, and boot its disk with a kernel."""
        self.box.machine.try_to("systemctl", "poweroff")
        if self.box.machine.runner:
            self.box.machine.runner.wait(60)
        said = said_on_a_kernel(self.box.machine.root, release, self.folder)
        for line in said:
            self.tally.say(line)
        self.ledger.conditions |= judged(said)

    def _ticks(self) -> bool:
        ask = "runuser -u postgres -- psql -At signage -c 'SELECT last_tick_at FROM scheduler_status'"
        before = self.box.run(ask)
        return bool(eventually(lambda: self.box.run(ask) != before, "another tick", 90))


def _picture(name: str) -> bytes:
    """A file that is accepted as a picture, different for each name."""
    return PICTURE + name.encode()


def _cookies(answer: Any) -> str:
    return "; ".join(f"{name}={value}" for name, value in answer.cookies.items())
