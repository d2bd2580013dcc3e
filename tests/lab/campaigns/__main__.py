"""`make campaign`: run every campaign at full size, and write its ledger to campaign-results/.

    python -m tests.lab.campaigns [kills | hang | commands | network ...] [--seed N] [--share PERCENT] [--decks FOLDER]
        [--broker mosquitto | rabbitmq]

`corpus` needs a folder of decks, `docker` and `trial` an engine, `cloud` Terraform and its providers, `box` and
`displays` a root that can boot machines, `cluster` and `debians` a root that can make a Debian, `connections` open
files, `neighbours` a HOME_ASSISTANT.

Exit code 1 if a condition of a campaign is broken.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from deploy.parts import guardian
from tests.lab.campaigns import (
    box,
    brokers,
    clock,
    cloud,
    cluster,
    commands,
    conversions,
    corpus,
    crowd,
    debians,
    decks,
    disk,
    displays,
    docker,
    doors,
    fuzz,
    gotenberg,
    hang,
    herd,
    home_assistant,
    kills,
    lies,
    logins,
    many_logins,
    neighbours,
    network,
    noise,
    schema,
    soak,
    stolen,
    trial,
    versions,
    without,
    words,
)
from tests.lab.campaigns.ledger import RESULTS, Ledger
from tests.lab.simulation import campaign as simulation

Campaign = Callable[[int, float, Path], Ledger | list[Ledger]]


def _kills(seed: int, share: float, folder: Path) -> Ledger:
    kinds = {"bridge": _part(20, share), "postgres": _part(10, share), "broker": _part(10, share)}
    plan = kills.Plan(displays=_part(200, share), lines=_part(500, share), seed=seed, **kinds)
    return kills.run(plan, folder)


def _fuzz(seed: int, share: float, folder: Path) -> Ledger:
    return fuzz.run(fuzz.Plan(spoiled=_part(1_000_000, share), good=_part(10_000, share), seed=seed), folder)


def _hang(seed: int, share: float, folder: Path) -> Ledger:
    return hang.run(hang.Plan(displays=_part(200, share), seconds=300 * share, seed=seed), folder)


def _commands(seed: int, share: float, _folder: Path) -> Ledger:
    return commands.run(commands.Plan(interleavings=_part(10_000, share), seed=seed))


def _lies(seed: int, share: float, folder: Path) -> Ledger:
    return lies.run(lies.Plan(commands=_part(10_000, share), seed=seed), folder)


def _network(seed: int, share: float, folder: Path) -> Ledger:
    return network.run(network.Plan(displays=_part(50, share), rounds=_part(32, share), seed=seed), folder)


def _clock(seed: int, share: float, folder: Path) -> Ledger:
    return clock.run(clock.Plan(displays=_part(50, share), lines=_part(50, share), seed=seed), folder)


def _noise(seed: int, share: float, folder: Path) -> Ledger:
    plan = noise.Plan(
        seconds=20 * share, commands=_part(30, share), backlog=_part(200_000, share), lines=_part(200, share), seed=seed
    )
    return noise.run(plan, folder)


def _herd(seed: int, share: float, folder: Path) -> Ledger:
    return herd.run(herd.Plan(displays=_part(2000, share), seed=seed), folder)


def _connections(seed: int, share: float, folder: Path) -> Ledger:
    plan = herd.Plan(
        displays=_part(20_000, share),
        kills=2,
        report_seconds=20,
        patience_seconds=30,
        seed=seed,
        limit_seconds=120,
        name="connections",
    )
    return herd.run(plan, folder)


def _cluster(seed: int, share: float, folder: Path) -> Ledger:
    plan = cluster.Plan(displays=_part(500, share), kills=_part(6, share), seed=seed)
    return cluster.run(plan, folder)


def _crowd(seed: int, share: float, folder: Path) -> Ledger:
    return crowd.run(crowd.Plan(strangers=_part(400, share), reads=_part(60, share), seed=seed), folder)


def _many_logins(seed: int, share: float, folder: Path) -> Ledger:
    return many_logins.run(many_logins.Plan(logins=_part(10_000, share), seed=seed), folder)


def _disk(seed: int, share: float, folder: Path) -> Ledger:
    return disk.run(disk.Plan(displays=_part(50, share), seconds=20 * share, seed=seed), folder)


def _schema(seed: int, share: float, folder: Path) -> Ledger:
    return schema.run(schema.Plan(cases=_part(20_000, share), seed=seed), folder)


def _logins(seed: int, share: float, folder: Path) -> Ledger:
    return logins.run(logins.Plan(rounds=_part(100, share), without_door=_part(8, share), seed=seed), folder)


def _stolen(seed: int, share: float, folder: Path) -> Ledger:
    ways = stolen.WAYS if share >= 1 else stolen.WAYS[:: max(1, round(1 / share))]
    return stolen.run(stolen.Plan(seconds=max(1.0, 8 * share), ways=ways, seed=seed), folder)


def _broker(broker: str, seed: int, share: float, folder: Path) -> Ledger:
    plan = brokers.Plan(
        broker=broker,
        waiting=_part(20_000, share),
        herd=_part(1_000, share),
        displays=_part(2_000, share),
        kills=_part(3, share),
        seed=seed,
    )
    return brokers.run(plan, folder)


def _soak(seed: int, share: float, folder: Path) -> Ledger:
    return soak.run(soak.Plan(seconds=3600 * share, seed=seed), folder)


def _doors(seed: int, share: float, folder: Path) -> Ledger:
    plan = doors.Plan(paths=_part(2000, share), connections=_part(500, share), seconds=max(2.0, 30 * share), seed=seed)
    return doors.run(plan, folder)


def _conversions(seed: int, share: float, folder: Path) -> Ledger:
    return conversions.run(conversions.Plan(kills=_part(50, share), storms=_part(5, share), seed=seed), folder)


def _decks(seed: int, share: float, folder: Path) -> Ledger:
    return decks.run(decks.Plan(decks=_part(decks.FULL, share), seed=seed, part=RESULTS / "decks.part.json"), folder)


def _corpus(place: Path, seed: int, share: float, folder: Path) -> Ledger:
    return corpus.run(corpus.Plan(place, share, seed), folder)


def _docker(seed: int, share: float, folder: Path) -> Ledger:
    return docker.run(docker.Plan(restarts=_part(20, share), boots=_part(20, share), seed=seed), folder)


def _trial(seed: int, _share: float, _folder: Path) -> Ledger:
    return trial.run(seed)


def _cloud(seed: int, share: float, folder: Path) -> Ledger:
    return cloud.run(cloud.Plan(variants=_part(len(cloud.APPLIED), share), seed=seed), folder)


def _box(seed: int, share: float, folder: Path) -> Ledger:
    return box.run(box.Plan(times=_part(5, share), seed=seed), folder)


def _displays(seed: int, share: float, folder: Path) -> Ledger:
    plan = displays.Plan(
        kills=_part(1000, share),
        power_cuts=_part(20, share),
        hard_cuts=_part(3, share),
        faults=_part(1000, share),
        looks=_part(20_000, share),
        lives=_part(20, share),
        idle_minutes=max(1.0, 10 * share),
        seed=seed,
    )
    return displays.run(plan, folder)


def _debians(seed: int, share: float, folder: Path) -> list[Ledger]:
    """In a share only some suites of `make test`."""
    suites = () if share >= 1 else debians.SUITES[: _part(len(debians.SUITES), share)]
    return debians.run(debians.Plan(suites=suites, seed=seed), folder)


def _converter(seed: int, share: float, folder: Path) -> Ledger:
    plan = gotenberg.Plan(_part(10, share), _part(30, share), _part(5, share), seed=seed)
    return gotenberg.run(plan, folder)


def _neighbours(seed: int, share: float, folder: Path) -> Ledger:
    return neighbours.run(neighbours.Plan(displays=_part(50, share) + 6, presses=_part(10, share), seed=seed), folder)


def _simulation(seed: int, share: float, _folder: Path) -> Ledger:
    part = RESULTS / "simulation.part.jsonl"
    return simulation.run(simulation.Plan(histories=_part(1000, share), seed=seed, part=part))


def _versions(seed: int, _share: float, folder: Path) -> Ledger:
    return versions.run(versions.Plan(seed=seed), folder)


def _words(seed: int, share: float, folder: Path) -> Ledger:
    whole = words.Plan()
    return words.run(words.Plan(_part(whole.looks, share), _part(whole.dialogs, share), seed), folder)


def _without(seed: int, share: float, folder: Path) -> Ledger:
    return without.run(without.Plan(without.EXTENSIONS[: _part(len(without.EXTENSIONS), share)], seed=seed), folder)


def _part(whole: int, share: float) -> int:
    return max(1, round(whole * share))


CAMPAIGNS: dict[str, Campaign] = {
    "kills": _kills,
    "hang": _hang,
    "conversions": _conversions,
    "decks": _decks,
    "commands": _commands,
    "lies": _lies,
    "simulation": _simulation,
    "network": _network,
    "clock": _clock,
    "noise": _noise,
    "herd": _herd,
    "connections": _connections,
    "logins": _logins,
    "stolen": _stolen,
    "fuzz": _fuzz,
    "doors": _doors,
    "crowd": _crowd,
    "many_logins": _many_logins,
    "schema": _schema,
    "versions": _versions,
    "words": _words,
    "without": _without,
    "soak": _soak,
    "disk": _disk,  # the last one, because it gives this process its own mount namespace
}


def _possible(broker: str, decks: Path | None) -> dict[str, Campaign]:
    """The campaigns that can run here, in their order."""
    return {
        **({"docker": _docker, "trial": _trial} if docker.engine() else {}),
        **CAMPAIGNS,
        "broker": partial(_broker, broker),
        **({} if cloud.missing() else {"cloud": _cloud}),
        **({"box": _box} if box.is_possible() else {}),  # after `disk`: it too gives this process its own mounts
        **({"cluster": _cluster} if cluster.is_possible() else {}),
        **({"debians": _debians} if debians.is_possible() else {}),
        **({"displays": _displays} if displays.is_possible() else {}),
        **({"converter": _converter} if gotenberg.program() else {}),
        **({"neighbours": _neighbours} if home_assistant.program() else {}),
        **({"corpus": partial(_corpus, decks)} if decks else {}),
    }


def main(arguments: Sequence[str]) -> int:
    """Run the named campaigns, or all. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="make campaign")
    parser.add_argument("campaigns", nargs="*", metavar="campaign", help=", ".join(CAMPAIGNS))
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same faults")
    parser.add_argument("--share", type=float, default=100.0, help="percent of the full size")
    parser.add_argument("--broker", choices=brokers.BROKERS, default="mosquitto", help="which one, for broker")
    parser.add_argument("--decks", type=Path, help="a folder of presentations, for corpus")
    asked = parser.parse_args(arguments)
    campaigns = _possible(asked.broker, asked.decks)
    unknown = set(asked.campaigns) - set(campaigns)
    if unknown:
        parser.error(
            f"no such campaign here: {', '.join(sorted(unknown))}; there are {', '.join(CAMPAIGNS)}, "
            "corpus with --decks, docker and trial where an engine answers `docker version`, box and displays where "
            "root can boot machines, cluster and debians where root can make a Debian, neighbours where "
            "HOME_ASSISTANT names `hass`, "
            f"and cloud, for which there is {cloud.missing() or 'all'}"
        )
    if asked.decks and not corpus.Plan(asked.decks).decks():
        parser.error(f"no presentation below {asked.decks}")
    guardian.become_subreaper()
    failed = 0
    for name in asked.campaigns or campaigns:
        print(f"\n=== {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="signage-faults-") as folder:
            try:
                found = campaigns[name](asked.seed, asked.share / 100, Path(folder))
            except herd.TooFewFiles as error:
                print(f"{name}: not here: {error}", flush=True)
                failed += 1
                continue
        for ledger in found if isinstance(found, list) else [found]:
            print(ledger.text(), f"-> {ledger.save()}", flush=True)
            failed += bool(ledger.broken or ledger.too_slow)
    guardian.end_everything_below(0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
