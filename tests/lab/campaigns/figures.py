"""Write the figures of the last campaign into a document: `python -m tests.lab.campaigns.figures docs/reliability.md`.

Only what ledgers under campaign-results/ say; a campaign without a ledger keeps no row.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from tests.lab.campaigns.ledger import RESULTS

HEADING: Final = "## Figures"
WORDS: Final = {
    "kills": "kill -9 of bridge, Postgres and broker",
    "hang": "Postgres stands still",
    "commands": "interleavings of everybody who works on a command",
    "disk": "the disk of Postgres is full, Postgres is stopped",
    "simulation": "whole fleet histories in virtual time",
    "network": "slow, silent, half-open and reset connections of the bridge",
    "clock": "clocks of bridge and Postgres leap by an hour and a day",
    "noise": "displays log more than can be read",
    "herd": "a herd of displays comes back at once",
    "logins-2.0.11": "displays' logins are taken away in every way, on Mosquitto 2.0.11 (Debian 12)",
    "logins-2.0.21": "the same on Mosquitto 2.0.21 (Debian 13)",
    "stolen": "one stolen display login does its worst in every way that MQTT 5 gives",
    "conversions": "the conversion worker is killed -9 at every boundary of its job",
    "decks": "hostile decks, straight to the converter",
    "corpus": "decks that nobody here wrote, beside plain LibreOffice, python-pptx and odfpy",
    "fuzz": "spoiled payloads among good ones",
    "many_logins": "logins by the ten thousand that change all the time",
    "doors": "paths that try to leave, connections that stall, requests without end",
    "schema": "a tester that knows the OpenAPI document alone asks the api function for everything",
    "versions": "code of just before each migration on the schema of today",
    "docker": "the Docker box on an engine: kill -9 of each container and of the engine with all, restarts, backup",
    "soak": "steady load for long, people at the dashboard and conversions beside it",
}
HIDDEN: Final = frozenset({"repeats", "heartbeats"})


def section(ledgers: Sequence[Mapping[str, Any]]) -> str:
    """The section as Markdown, with its heading."""
    machines = list(dict.fromkeys(map(_machine, ledgers)))
    letters = dict(zip(machines, ascii_uppercase, strict=False))
    lines = [
        HEADING,
        "",
        "Written by `make campaign` from its ledgers; the same seed makes the same faults. They ran on",
        "",
        *(f"- {letters[machine]}: {machine}" for machine in machines),
        "",
        "| campaign | result | counted | ran |",
        "|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_row(ledger, letters[_machine(ledger)]) for ledger in ledgers), ""])


def _machine(ledger: Mapping[str, Any]) -> str:
    return "; ".join(filter(None, (ledger["machine"], ledger.get("note"))))


def _row(ledger: Mapping[str, Any], machine: str) -> str:
    broken = [name for name, holds in {**ledger["conditions"], **ledger.get("limits", {})}.items() if not holds]
    result = f"failed: {'; '.join(broken)}" if broken else "passed"
    ran = f"{machine}, {ledger['commit']}, seed {ledger['seed']}, {ledger['at'][:10]}"
    return f"| {WORDS[ledger['name']]} | {result} | {_counted(ledger)} | {ran} |"


def _counted(ledger: Mapping[str, Any]) -> str:
    """What was counted, and after it what was looked for and never came."""
    numbers = {name.replace("_", " "): value for name, value in {**ledger["sizes"], **ledger["counted"]}.items()}
    shown = {name: value for name, value in numbers.items() if name not in HIDDEN}
    counted = ", ".join(f"{name} {value:,}" for name, value in shown.items() if value)
    none = ", ".join(name for name, value in shown.items() if not value)
    return "; none: ".join(filter(None, (counted, none)))


def rewritten(document: str, figures: str) -> str:
    """The document with its section Figures replaced, or with one at its end."""
    before, heading, rest = document.partition(HEADING + "\n")
    _, following, after = rest.partition("\n## ") if heading else ("", "", "")
    tail = "\n## " + after if following else ""
    return before.rstrip("\n") + "\n\n" + figures + tail


def main(arguments: Sequence[str]) -> int:
    """Rewrite the named document."""
    ledgers = [json.loads((RESULTS / f"{name}.json").read_text()) for name in WORDS if _has(name)]
    document = Path(arguments[0])
    document.write_text(rewritten(document.read_text(encoding="utf-8"), section(ledgers)), encoding="utf-8")
    return 0


def _has(name: str) -> bool:
    return (RESULTS / f"{name}.json").exists()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
