"""deploy/gcp in a real Terraform: formatted, validated, refused for bad variables, applied, and judged by its plans.

The provider calls a server on loopback that answers like Google's APIs (cloud_apis.py). An apply shows that the order
is right and the next plan is empty, but not what Google itself decides. docs/deploying.md describes how to run it
("Google Cloud, planned and applied").
"""

import json
import os
import random
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests.deploy.cloud_plan import Plan as Planned
from tests.deploy.cloud_rules import RULES
from tests.deploy.terraform import GCP
from tests.lab.campaigns.cloud_apis import APIS
from tests.lab.campaigns.cloud_project import Project
from tests.lab.campaigns.cloud_terraform import PLUGINS, Terraform, copied, served
from tests.lab.campaigns.ledger import Ledger, tell

EXTERNAL: Final[dict[str, object]] = {"broker": "external", "broker_certificate_pem": ""}
APPLIED: Final[dict[str, dict[str, object]]] = {
    "the example": {},
    "an external broker with an authority of its own": EXTERNAL | {"broker_ca_pem": "-----BEGIN CERTIFICATE-----"},
    "a shard on a shared broker": EXTERNAL | {"shard": "north"},
    "the smallest, with a budget": {
        "api_min_instances": 0,
        "api_max_instances": 2,
        "conversions_at_once": 1,
        "database_is_regional": False,
        "database_max_connections": 100,
        "database_tier": "db-g1-small",
        "billing_account": "000000-000000-000000",
    },
    "the longest deck, a hundred instances": {
        "conversion_deadline_seconds": 1200,
        "api_max_instances": 100,
        "api_database_pool_size": 1,
        "database_max_connections": 320,
    },
}
CHANGES: Final = 2  # exit code of a plan with changes
BROUGHT: Final = {"signage-broker-key", "signage-broker-certificate"}  # secrets that this campaign does not create
REFUSED: Final[dict[str, dict[str, object]]] = {  # text of the refusal -> the variables
    "raise database_max_connections": {"api_max_instances": 30},
    "Cloud Tasks waits at most 30 minutes": {"conversion_deadline_seconds": 1201},
    "needs a certificate": {"broker_certificate_pem": ""},
    "Name the image by its digest": {"image": "europe-west1-docker.pkg.dev/my-project/signage/app:latest"},
    "Only an external broker can be shared": {"shard": "north"},
    "Connections are counted": {"settings": {"DATABASE_POOL_SIZE": "9"}},
    "Expected mosquitto or external": {"broker": "emqx"},
}


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    variants: int = len(APPLIED)
    seed: int = 1


def missing() -> str | None:
    """Which requirement is missing, in words; None if all are present."""
    if shutil.which("terraform") is None:
        return "no terraform on the PATH"
    if not Path(os.environ.get(PLUGINS) or "-").is_dir():
        return f"no folder of providers in {PLUGINS}"
    return None


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    began = time.monotonic()
    ledger = Ledger("cloud", plan.seed, {"variants": plan.variants, "refusals": len(REFUSED)})
    terraform = copied(folder)
    version = json.loads(terraform.run("version", "-json").text)["terraform_version"]
    ledger.conditions["formatted as terraform fmt does"] = (
        terraform.run("fmt", "-check", "-recursive", str(GCP)).code == 0
    )
    started = terraform.run("init", f"-plugin-dir={os.environ[PLUGINS]}")
    providers = re.findall(r"Installed hashicorp/(\w+) v([\d.]+)", started.text)
    if started.code:
        say(started.text)
    ledger.conditions["valid by the providers' schemas"] = started.code == 0 and terraform.run("validate").code == 0
    ledger.conditions["what cannot be is refused by name"] = all(
        _is_refused(terraform, words, asked, say) for words, asked in REFUSED.items()
    )
    for name in [*APPLIED][: plan.variants]:
        _apply(terraform, name, ledger, say)
    _live_on(terraform, ledger, say)
    ledger.note = ", ".join([f"Terraform {version}", *(" ".join(one) for one in providers)])
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _is_refused(terraform: Terraform, words: str, asked: dict[str, object], say: Callable[[str], None]) -> bool:
    with served(_new()) as server:
        said = terraform.at(server, asked).run("plan", "-refresh=false")
    if said.code == 0 or words not in " ".join(said.text.split()):
        say(f"{asked} is not refused by {words!r}:\n{said.text[-2000:]}")
        return False
    return True


def _new() -> Project:
    """A project with the APIs that the guide enables by hand."""
    guide = (REPOSITORY / "docs" / "deploying.md").read_text(encoding="utf-8")
    [by_hand] = re.findall(r"gcloud services enable ((?:\\\n|.)*)", guide)
    return Project("my-project", re.findall(r"(\w+)\.googleapis\.com", by_hand), APIS)


def _apply(terraform: Terraform, name: str, ledger: Ledger, say: Callable[[str], None]) -> None:
    """Apply once from nothing, and check that the next plan is empty and has the expected resources."""
    cloud = _new()
    with served(cloud) as server:
        here = terraform.at(server, APPLIED[name])
        here.forget()
        passed = _goes(here, say)
        ledger.conditions[f"{name}: one apply is enough, and the next plan is empty"] = passed
        planned = Planned(here.document("plan"))
    found = [f"{rule.__name__.replace('_', ' ')}: {words}" for rule in RULES for words in rule(planned)]
    say("\n".join([f"{name}: {'passed' if passed and not found else 'failed'}", *found]))
    ledger.conditions[f"{name}: the plan shows what it must"] = not found
    ledger.conditions[f"{name}: each address names the role and password that the migrations give"] = _agree(cloud)
    ledger.counted[f"resources of {name}"] = len(planned.resources)


def _agree(cloud: Project) -> bool:
    """Whether the password in each component's database address is that of its role, also for the owner."""
    known = {name.removeprefix("signage-"): value for name, value in cloud.secret_values().items()}
    roles = json.loads(known["database-role-passwords"])
    return (
        len(roles) == 5
        and all(
            f"//signage_{role}:{password}@" in known[f"database-url-{role.replace('_', '-')}"]
            for role, password in roles.items()
        )
        and f"//signage:{known['database-password']}@" in known["database-url"]
    )


def _live_on(terraform: Terraform, ledger: Ledger, say: Callable[[str], None]) -> None:
    """Apply the example, with first applies that fail half-way, and then later changes."""
    cloud = _new()
    cloud.answers = random.Random(ledger.seed).randrange(100, 400)
    with served(cloud) as server:
        here = terraform.at(server, {})
        here.forget()
        ledger.conditions["an apply that is cut off fails"] = here.apply().code == 1
        cloud.answers, cloud.never_ready = None, "signage-api"
        ledger.conditions["an apply whose service does not start fails"] = here.untainted().apply().code == 1
        cloud.never_ready = None
        ledger.conditions["a repeated apply ends what two others began"] = _goes(here.untainted(), say)
        cloud.machine_image = "cos-stable-2"
        ledger.conditions["a newer machine image changes nothing"] = here.plan().code == 0
        ran, new = cloud.runs, {name: f"registry.example/{name}@sha256:{'1' * 64}" for name in ("image", "box_image")}
        here = here.at(server, new)
        ledger.conditions["an upgrade is a change"] = here.plan().code == CHANGES
        ledger.conditions["an upgrade deletes nothing"] = Planned(here.document("plan")).deleted == []
        ledger.conditions["an upgrade is one apply, after its migrations"] = _goes(here, say) and cloud.runs == ran + 1
        here = here.at(server, {**new, "secrets_generation": 2})
        before = cloud.secret_values()
        ledger.conditions["secrets are made anew by one apply"] = _goes(here, say) and _agree(cloud)
        after = cloud.secret_values()
        ledger.conditions["all of them"] = {name for name in before if before[name] == after[name]} == BROUGHT


def _goes(terraform: Terraform, say: Callable[[str], None]) -> bool:
    """Whether one apply succeeds and the next plan is empty."""
    applied = terraform.apply()
    again = terraform.plan()
    if applied.code or again.code:
        say(applied.errors + again.changes)
    return applied.code == again.code == 0
