"""The grants in the text of deploy/gcp; cloud_rules.py checks the planned resources."""

import re
from typing import Any

from tests.deploy.cloud_plan import TARGETS
from tests.deploy.cloud_rights import READS_A_SECRET, RIGHTS
from tests.deploy.terraform import folders, root


def grants() -> dict[str, set[tuple[str, str]]]:
    """Account -> (kind of target, role), without secrets; for_each over roles is expanded."""
    found: dict[str, set[tuple[str, str]]] = {}
    for folder in folders():
        for (kind, _), body in folder.typed("resource").items():
            if "_iam_" in kind:
                for role in set(_roles(body)) - {READS_A_SECRET}:
                    found.setdefault(_member(body), set()).add((TARGETS[kind][0], role))
    return found


def _roles(body: dict[str, Any]) -> list[str]:
    role = str(body["role"])
    return re.findall(r"roles/[\w.]+", str(body["for_each"])) if role == "${each.key}" else [role]


def _member(body: dict[str, Any]) -> str:
    member = str(body["member"])
    account = re.fullmatch(r'\$\{google_service_account\.of\["([\w-]+)"\]\.member\}', member)
    if account:
        return account[1]
    return {"${each.value[1]}": "people"}.get(member, member)


def test_nobody_holds_a_grant_that_is_not_on_the_list_and_none_is_listed_in_vain() -> None:
    kinds = {who: {(target.split()[0], role) for target, role in rights} for who, rights in RIGHTS.items()}

    assert grants() == kinds


def test_each_component_runs_as_an_account_of_its_own() -> None:
    accounts = [str(call.get("service_account")) for call in root().blocks("module").values()] + [
        str(_job()["service_account"])
    ]

    assert len(set(accounts)) == len(accounts)
    assert all("google_service_account.of" in account for account in accounts)


def _job() -> dict[str, Any]:
    job = root().typed("resource")["google_cloud_run_v2_job", "migrations"]
    task: dict[str, Any] = job["template"][0]["template"][0]
    return task
