"""`python -m tests.deploy.dashboard_types FOLDER`: check the Grafana dashboard against the types of Grafana's schema.

FOLDER is where `npm install @grafana/schema@13.2.3` was run; TypeScript is the dashboard's (`make check`
installs it). Prints the errors; exit code 1 with any. It is not part of `make test`, because the package is large and
does not show how panels look.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from deploy.parts.layout import REPOSITORY
from tests.deploy.metrics_there import dashboard

TYPES: Final = "./node_modules/@grafana/schema/dist/types/raw"
PANELS: Final = {"timeseries": "Series", "stat": "Stat"}  # kind of panel -> the module that has its options
HEAD: Final = f"""\
import type * as Dashboard from '{TYPES}/dashboard/x/types.gen';
import type * as Series from '{TYPES}/composable/timeseries/panelcfg/x/types.gen';
import type * as Stat from '{TYPES}/composable/stat/panelcfg/x/types.gen';
// JSON has the words that the schema's enumerations stand for.
type Plain<T> = T extends string ? `${{T}}` : T extends (infer U)[] ? Plain<U>[]
  : T extends object ? {{[K in keyof T]: Plain<T[K]>}} : T;
"""
OPTIONS: Final = ("--noEmit", "--strict", "--skipLibCheck", "--moduleResolution", "bundler", "--target", "es2022")


def statements(shown: dict[str, Any]) -> Iterator[str]:
    """The dashboard as TypeScript: each part as a constant of its type in Grafana."""
    yield _constant("whole", "Dashboard.Dashboard", {key: value for key, value in shown.items() if key != "panels"})
    for panel in shown["panels"]:
        name = f"panel{panel['id']}"
        if panel["type"] == "row":
            yield _constant(name, "Dashboard.RowPanel", panel)
            continue
        kind = PANELS[panel["type"]]
        yield _constant(name, "Dashboard.Panel", panel)
        yield _constant(f"{name}_options", f"Partial<{kind}.Options>", panel["options"])
        custom = panel["fieldConfig"]["defaults"].get("custom")
        if custom is not None:
            yield _constant(f"{name}_field", f"{kind}.FieldConfig", custom)


def _constant(name: str, type_: str, value: object) -> str:
    return f"export const {name}: Plain<{type_}> = {json.dumps(value)};"


def main(folder: Path) -> int:
    """Check the types. Returns the exit code."""
    (folder / "grafana-dashboard.ts").write_text("\n".join((HEAD, *statements(dashboard()))), encoding="utf-8")
    tsc = REPOSITORY / "dashboard" / "node_modules" / ".bin" / "tsc"
    done = subprocess.run([tsc, *OPTIONS, "--module", "esnext", "grafana-dashboard.ts"], cwd=folder, check=False)
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
