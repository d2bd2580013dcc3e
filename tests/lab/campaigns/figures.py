"""Write the figures of the last campaigns: `python -m tests.lab.campaigns.figures tests/lab/figures.md`.

A campaign with a ledger in campaign-results/ gets a new row; the others keep their row.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from tests.lab.campaigns.ledger import RESULTS

HEADING: Final = "## Figures"
PASSED: Final = "passed"
WORDS: Final = {
    "kills": "kill -9 of bridge, Postgres and broker",
    "hang": "Postgres stands still",
    "commands": "interleavings of everybody who works on a command",
    "lies": "displays that lie about commands, beside honest ones",
    "disk": "the disk of Postgres is full, Postgres is stopped",
    "simulation": "whole fleet histories in virtual time",
    "network": "slow, silent, half-open and reset connections of the bridge",
    "clock": "clocks of bridge and Postgres leap by an hour and a day",
    "noise": "displays log more than can be read",
    "herd": "a herd of displays comes back at once",
    "connections": "the same with a connection for each display that one box takes",
    "logins-2.0.11": "displays' logins are taken away, on Mosquitto 2.0.11 (Debian 12)",
    "logins-2.0.21": "the same on Mosquitto 2.0.21 (Debian 13)",
    "stolen": "one stolen display login does its worst",
    "broker-mosquitto-2.0.11": "Mosquitto 2.0.11 (Debian 12), as shipped, against the rules that we lean on",
    "broker-mosquitto-2.0.21": "the same with Mosquitto 2.0.21 (Debian 13)",
    "broker-rabbitmq-4.0.5": "the same with RabbitMQ 4.0.5 (Debian 13), then the whole product on it",
    "cluster": "nodes of a RabbitMQ cluster are killed under load",
    "conversions": "the conversion worker is killed -9 at every boundary of its job",
    "decks": "hostile decks, straight to the converter",
    "converter": "a real Gotenberg beside our converter",
    "corpus": "strangers' decks, beside plain LibreOffice, python-pptx and odfpy",
    "fuzz": "spoiled payloads among good ones",
    "many_logins": "logins by the ten thousand that change all the time",
    "doors": "paths that try to leave, connections that stall, requests without end",
    "crowd": "400 strangers at one door after the other, an admin beside them",
    "schema": "a tester that knows the OpenAPI document alone asks for everything",
    "versions": "the code of the release before on the schema of today",
    "words": "the dashboard in German and Japanese",
    "without": "each extension is deleted, and the kernel's tests run",
    "docker": "the Docker box: kill -9 of each container and of the engine, restarts, backup",
    "trial": "the image for a first look: build, start, second start",
    "cloud": "a real Terraform applies deploy/gcp to a stand-in of Google",
    "box-bookworm": "the box with systemd on Debian 12: kill -9, reboots, power cuts, backup",
    "box-trixie": "the same on Debian 13",
    "debians-bookworm": "README's two commands, as root on a bare Debian 12",
    "debians-trixie": "the same on a bare Debian 13",
    "displays": "the display agent on Debian 12 and 13: kill -9 between steps, power cuts, disks, faults of screens",
    "neighbours": "a real Home Assistant: states, kill -9, buttons, deletions, hostile names",
    "soak": "steady load for long, people at the dashboard and conversions beside it",
}
HIDDEN: Final = re.compile(
    r"repeats|heartbeats|answers \d+|[a-z-]+ megabytes|.* (accepted bytes|megabytes per hour)"
    r"|(histories of the kind|quiet times of the kind|resources of) .*|.* median seconds|kills done|kills at a step"
    r"|commands [a-z]+|.* with journalctl megabytes|idle minutes|looks at screens that are well"
    r"|clients deleted|exclusions|holds|hours leapt|maintenance windows|operators' [a-z]+|overlapping ticks"
    r"|releases of breakers|ticks that died|reads answered|declared errors|(mosquitto|cluster|memory of) .*"
    r"|rules of the contract|fault of a screen on the page .*|power cuts of a kernel|of each"
    r"|.* rss megabytes|logins shared by two devices|actions on silence .*|seconds each|tolerance seconds"
    r"|processes|effects|displays of each|hung up on and come again|dead expected|cases planned|written|faults"
    r"|.* (1|50) slides a minute|gotenberg restarted after 10 (MB.*|refused|hostile .*|PDFs .*)|herd|waiting|rules kept"
    r"|moves|reboots overtaken by the display's own recovery|display back after renewal seconds|log lines"
    r"|(gotenberg|ours) (MB|refused|hostile deck)( .*)?|of these (crashed|went wrong)"
    r"|(sign in|enrolment|status page|big body|made up \w+|health|page|largest file) (answers|let in)|reads"
    r"|(restart app|(reboot|shutdown) host|screen o(n|ff)) carried out|recovery commands.*|connections that died"
    r"|ticks at once|storms|boundaries|files|decks \(of .*\)|refused .+|checks|changes asked for|lines waiting .+"
    r"|megabytes|looks|hung agent replaced .*|display-days of these|noise|answers|services|variants"
)
"""Counts that only the ledger has: a reader of the table wants the others."""


@dataclass(frozen=True)
class Row:
    """A campaign's row in the table."""

    what: str
    result: str
    counted: str
    machine: str
    when: str
    """Commit, seed unless it is 1, and day."""


def section(rows: Sequence[Row]) -> str:
    """The section as Markdown, with its heading."""
    machines = list(dict.fromkeys(row.machine for row in rows))
    letters = dict(zip(machines, ascii_uppercase, strict=False))
    lines = [
        HEADING,
        "",
        "By `make campaign` (seed 1). All passed but what says so. Zeros are left out, times the longest. Machines:",
        "",
        *(f"- {letters[machine]}: {_by_letter(machine, letters)}" for machine in machines),
        "",
        "campaign | counted | ran",
        "---|---|---",
        *(f"{_titled(row)} | {row.counted} | {letters[row.machine]}, {row.when}" for row in rows),
    ]
    return "\n".join([*lines, ""])


def _titled(row: Row) -> str:
    return f"{row.what} (**{row.result}**)" if row.result != PASSED else row.what


def _by_letter(machine: str, letters: Mapping[str, str]) -> str:
    """A machine with more to say than another one: that one's letter stands for what they share."""
    for other, letter in letters.items():
        if machine.startswith(f"{other}; "):
            return letter + machine.removeprefix(other)
    return machine


def row(ledger: Mapping[str, Any]) -> Row:
    """The row of a campaign's ledger."""
    broken = [name for name, holds in {**ledger["conditions"], **ledger.get("limits", {})}.items() if not holds]
    missed = [name for name, came_about in ledger.get("experiments", {}).items() if not came_about]
    said = {"failed": broken, "did not come about": missed}
    seed = "" if ledger["seed"] == 1 else f"seed {ledger['seed']}"
    return Row(
        what=WORDS[ledger["name"]],
        result=", ".join(f"{what}: {'; '.join(names)}" for what, names in said.items() if names) or PASSED,
        counted=_counted(ledger),
        machine="; ".join(filter(None, (ledger["machine"], ledger.get("note")))),
        when=", ".join(filter(None, (ledger["commit"], seed, ledger["at"][:10]))),
    )


def published(document: str) -> list[Row]:
    """The rows in the document."""
    figures = document.partition(HEADING + "\n")[2].partition("\n## ")[0]
    machines = dict[str, str]()
    for letter, machine in re.findall(r"^- ([A-Z]): (.+)$", figures, re.MULTILINE):
        first, semicolon, rest = machine.partition("; ")
        machines[letter] = machines.get(first, first) + semicolon + rest
    rows = re.findall(r"^(.+?)(?: \(\*\*(.+)\*\*\))? \| (.*) \| ([A-Z]), (.+)$", figures, re.MULTILINE)
    return [
        Row(what, result or PASSED, counted, machines[letter], when) for what, result, counted, letter, when in rows
    ]


def _counted(ledger: Mapping[str, Any]) -> str:
    """The counts in words, without those that are 0."""
    numbers = {name.replace("_", " "): value for name, value in {**ledger["sizes"], **ledger["counted"]}.items()}
    shown = {name: value for name, value in numbers.items() if not HIDDEN.fullmatch(name)}
    return ", ".join(_in_words(name, value) for name, value in shown.items() if value)


def _in_words(name: str, value: float) -> str:
    """`reboot slowest seconds`, 10.4 -> `reboot 10.4 s`."""
    what = re.sub(r"^slowest (?=.)| slowest$", "", name.removesuffix(" seconds"))
    return f"{what} {value:,} s" if name.endswith(" seconds") else f"{name} {value:,}"


def rewritten(document: str, figures: str) -> str:
    """The document with its section Figures replaced, or added at the end."""
    before, heading, rest = document.partition(HEADING + "\n")
    _, following, after = rest.partition("\n## ") if heading else ("", "", "")
    tail = "\n## " + after if following else ""
    return before.rstrip("\n") + "\n\n" + figures + tail


def main(arguments: Sequence[str]) -> int:
    """Rewrite the named document."""
    document = Path(arguments[0])
    text = document.read_text(encoding="utf-8")
    ran = [row(json.loads((RESULTS / f"{name}.json").read_text())) for name in WORDS if _has(name)]
    newest = {one.what: one for one in [*published(text), *ran]}
    rows = [newest[what] for what in WORDS.values() if what in newest]
    document.write_text(rewritten(text, section(rows)), encoding="utf-8")
    return 0


def _has(name: str) -> bool:
    return (RESULTS / f"{name}.json").exists()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
