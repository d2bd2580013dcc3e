"""deploy/systemd, tested without a running systemd: the units are well-formed and confined."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from deploy.parts.layout import REPOSITORY
from tests.lab.campaigns.guides import block

UNITS: Final = REPOSITORY / "deploy" / "systemd"
PYTHON: Final = "/opt/signage/.venv/bin/python"
WORST_EXPOSURE: Final = 3.5  # of 10, as systemd rates exposure; the converter's sandbox needs namespaces

ALL: Final = {
    path.name.removeprefix("signage-").removesuffix(".service"): path for path in UNITS.glob("signage-*.service")
}
SHARED: Final = UNITS / "signage-.service.d"


def entries(name: str) -> dict[str, list[str]]:
    """Key -> values of a unit, in systemd's order: the unit, then its drop-ins by name."""
    drop_ins = [*SHARED.iterdir(), *ALL[name].with_name(f"{ALL[name].name}.d").glob("*.conf")]
    found: dict[str, list[str]] = {}
    for file in (ALL[name], *sorted(drop_ins, key=lambda path: path.name)):
        for line in file.read_text(encoding="utf-8").splitlines():
            key, separator, value = line.partition("=")
            if separator and not line.startswith("#"):
                found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("name", ALL)
def test_a_unit_is_nobody_special_and_shuts_the_rest_out(name: str) -> None:
    """Without the drop-in that all share it starts nothing, and so nothing as root."""
    unit, alone = entries(name), ALL[name].read_text(encoding="utf-8")

    assert "WorkingDirectory" not in alone  # without it `-m deploy.box…` does not find the module
    assert "User" not in alone
    assert unit["User"] == unit["Group"] == ["signage"]
    assert unit["EnvironmentFile"] == ["/etc/signage/signage.env"]
    assert unit["NoNewPrivileges"] == unit["ProtectHome"] == unit["PrivateTmp"] == unit["PrivateDevices"] == ["yes"]
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["CapabilityBoundingSet"] == ["", *(["CAP_NET_BIND_SERVICE"] if name == "gateway" else [])]
    assert unit["PartOf"] == ["signage.target"]


def test_nothing_that_stops_the_sandbox_is_on_for_the_converter() -> None:
    """With a covered /proc the kernel refuses bubblewrap a new one (`make campaign ONLY=box` tests it)."""
    covers = ("ProtectKernelTunables", "ProtectControlGroups", "ProtectKernelLogs", "ProtectHostname")
    off = (*covers, "RestrictSUIDSGID", "RestrictNamespaces")
    unit = entries("converter")

    assert {name: unit[name][-1] for name in off} == dict.fromkeys(off, "no")
    assert unit["ProtectProc"][-1] == "default"
    assert not {"PrivateUsers", "ProcSubset", "InaccessiblePaths", "RootDirectory"} & set(unit)


def test_a_postgres_of_debian_that_was_killed_comes_again() -> None:
    """Debian's own unit has no Restart."""
    drop_in = (UNITS / "postgresql@.service.d" / "10-again.conf").read_text(encoding="utf-8")

    assert "Restart=on-failure" in drop_in
    assert "postgresql@.service.d" in block("deploying.md", "systemctl start signage-setup")


def test_systemd_finds_no_fault_and_little_exposure(tmp_path: Path) -> None:
    for file in (*UNITS.rglob("*.service"), *UNITS.rglob("*.conf"), UNITS / "signage.target"):
        text = file.read_text(encoding="utf-8").replace(PYTHON, "/bin/true")  # the started module must exist
        there = tmp_path / file.relative_to(UNITS)
        there.parent.mkdir(exist_ok=True)
        there.write_text(text, encoding="utf-8")
    units = sorted(str(tmp_path / file.name) for file in ALL.values())

    verified = _analyze("verify", "--man=no", str(tmp_path / "signage.target"), *units)
    judged = _analyze("security", "--offline=true", "--no-pager", *units)

    assert verified == ""
    exposures = [float(number) for number in re.findall(r"Overall exposure level for \S+: ([\d.]+)", judged)]
    assert len(exposures) == len(ALL)
    assert max(exposures) <= WORST_EXPOSURE


@pytest.mark.parametrize("name", ["home-assistant", "otlp"])
def test_the_unit_of_an_optional_neighbour_is_as_closed(tmp_path: Path, name: str) -> None:
    unit = REPOSITORY / f"deploy/neighbours/signage-{name}.service"
    for file in (unit, *SHARED.iterdir()):
        there = tmp_path / SHARED.name / file.name if file.parent == SHARED else tmp_path / file.name
        there.parent.mkdir(exist_ok=True)
        there.write_text(file.read_text(encoding="utf-8").replace(PYTHON, "/bin/true"), encoding="utf-8")
    copied = str(tmp_path / unit.name)

    assert f"{PYTHON} -m deploy.neighbours.{name.replace('-', '_')}\n" in unit.read_text(encoding="utf-8")
    assert _analyze("verify", "--man=no", copied) == ""
    [exposure] = re.findall(r"Overall exposure level for \S+: ([\d.]+)", _analyze("security", "--offline=true", copied))
    assert float(exposure) <= WORST_EXPOSURE


def _analyze(*arguments: str) -> str:
    ran = subprocess.run(
        ["systemd-analyze", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"SYSTEMD_PAGER": "", "PATH": "/usr/bin:/bin"},
    )
    return ran.stdout + ran.stderr
