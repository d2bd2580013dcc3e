"""`make deploy-files`: writes the units of deploy/systemd from deploy/components.yaml.

What only one unit needs stands in its drop-in, for example signage-gateway.service.d.
"""

import re
from pathlib import Path
from typing import Final

from deploy.parts.components import OF_A_BOX, Component
from deploy.parts.layout import REPOSITORY

SYSTEMD: Final = REPOSITORY / "deploy" / "systemd"
STATE: Final = "/var/lib/signage"
FOLDERS: Final = {**{name: f"{STATE}/{name}" for name in ("run", "data", "secrets")}, "media": "/server/media"}
STAYS: Final = ["Type=exec", "Restart=always", "RestartSec=2"]
ENDS: Final = ["Type=oneshot", "RemainAfterExit=yes"]


def unit(name: str, component: Component) -> str:
    """A component's unit."""
    after = " ".join(f"signage-{other}.service" for other in component.after)
    secrets = " ".join(f"{STATE}/secrets/{secret}" for secret in sorted(component.all_secrets))
    writes = " ".join(FOLDERS[folder] for folder in component.writes)
    lines = [
        "# `make deploy-files` writes this from deploy/components.yaml.",
        "[Unit]",
        f"Description=Signage Fleet: {component.what}",
        f"Requires={after}",
        f"After=network-online.target {after}",
        *([] if component.once else ["StartLimitIntervalSec=0"]),
        "",
        "[Service]",
        *(ENDS if component.once else STAYS),
        f"ExecStart=/opt/signage/.venv/bin/python -m deploy.box.run {name}",
        f"MemoryMax={component.memory}G",
        *([f"LimitNOFILE={component.open_files}"] if component.open_files else []),
        "",
    ]
    if "secrets" not in component.writes:
        lines += ["# The service sees only its own secrets.", f"TemporaryFileSystem={STATE}/secrets:ro"]
        lines += [f"BindReadOnlyPaths={secrets}"] if secrets else []
    lines += [f"ReadWritePaths={writes}"] if writes else []
    if component.loopback:
        lines += ["# Only connections within this machine. If Postgres runs elsewhere, allow its address in a drop-in."]
        lines += ["IPAddressDeny=any", "IPAddressAllow=localhost"]
    return "\n".join(lines) + "\n"


def files() -> dict[Path, str]:
    """Every file, as it is to be."""
    units = {f"signage-{name}.service": unit(name, component) for name, component in OF_A_BOX.items()}
    wants = "Wants=" + " ".join(["signage-setup.service", *units])
    target = re.sub(r"(?m)^Wants=.*$", wants, (SYSTEMD / "signage.target").read_text(encoding="utf-8"))
    return {SYSTEMD / name: text for name, text in {**units, "signage.target": target}.items()}


if __name__ == "__main__":
    for file, content in files().items():
        file.write_text(content, encoding="utf-8")
