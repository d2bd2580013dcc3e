"""Who may do what in the cloud: every grant stands on a list, and each component has an account of its own."""

import re
from typing import Any, Final

from tests.deploy.terraform import folders, root

# Who may hold what, and on what: the whole of it. A grant that is not here must be argued for here.
ALLOWED: Final = {
    "api": {
        ("queue", "roles/cloudtasks.enqueuer"),
        ("queue", "roles/cloudtasks.viewer"),  # GET /api/health/ready asks whether the queue exists
        ("account tasks", "roles/iam.serviceAccountUser"),
        ("bucket", "roles/storage.objectUser"),
        ("secret", "roles/secretmanager.secretAccessor"),
    },
    "convert-worker": {
        ("bucket", "roles/storage.objectUser"),
        ("secret", "roles/secretmanager.secretAccessor"),
        ("run converter", "roles/run.invoker"),
    },
    "scheduler-tick": {
        ("queue", "roles/cloudtasks.enqueuer"),
        ("account tasks", "roles/iam.serviceAccountUser"),
        ("secret", "roles/secretmanager.secretAccessor"),
    },
    "bridge": {("secret", "roles/secretmanager.secretAccessor"), ("project", "roles/monitoring.metricWriter")},
    "mosquitto": {
        ("secret", "roles/secretmanager.secretAccessor"),
        ("project", "roles/artifactregistry.reader"),
        ("project", "roles/logging.logWriter"),
        ("project", "roles/monitoring.metricWriter"),
    },
    "migrations": {("secret", "roles/secretmanager.secretAccessor")},
    "the proxy's agent": {("run dashboard", "roles/run.invoker")},
    "people": {("backend", "roles/iap.httpsResourceAccessor")},
}


def grants() -> dict[str, set[tuple[str, str]]]:
    """Who holds which role on what, as the files say it; for_each over roles is followed."""
    found: dict[str, set[tuple[str, str]]] = {}
    for folder in folders():
        for (kind, _), body in folder.typed("resource").items():
            if "_iam_" in kind:
                for role in _roles(body):
                    found.setdefault(_member(body), set()).add((_target(kind, body), role))
    return found


def _roles(body: dict[str, Any]) -> list[str]:
    role = str(body["role"])
    return re.findall(r"roles/[\w.]+", str(body["for_each"])) if role == "${each.key}" else [role]


def _member(body: dict[str, Any]) -> str:
    member = str(body["member"])
    account = re.fullmatch(r'\$\{google_service_account\.of\["([\w-]+)"\]\.member\}', member)
    if account:
        return account[1]
    return {"${each.value[1]}": "people"}.get(member, "the proxy's agent" if "gcp-sa-iap" in member else member)


def _target(kind: str, body: dict[str, Any]) -> str:
    if kind == "google_service_account_iam_member":
        return "account " + str(re.findall(r'of\["([\w-]+)"\]', str(body["service_account_id"]))[0])
    if kind == "google_cloud_run_v2_service_iam_member":
        return "run " + str(re.findall(r"module\.(\w+)", str(body["name"]))[0])
    return {
        "google_cloud_tasks_queue_iam_member": "queue",
        "google_storage_bucket_iam_member": "bucket",
        "google_secret_manager_secret_iam_member": "secret",
        "google_project_iam_member": "project",
        "google_iap_web_backend_service_iam_member": "backend",
    }[kind]


def test_nobody_holds_a_grant_that_is_not_on_the_list_and_none_is_listed_in_vain() -> None:
    assert grants() == ALLOWED


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


def test_a_service_reads_only_the_secrets_that_it_is_given() -> None:
    reads = {
        name.removesuffix("_reads"): set(
            re.findall(r'(?:generated\[\\?"|in \[")([\w-]+)|"(mqtt-[\w-]+|signing-key)', str(body))
        )
        for (kind, name), body in root().typed("resource").items()
        if kind == "google_secret_manager_secret_iam_member"
    }

    passwords = {who: {a or b for a, b in found} & MQTT_PASSWORDS for who, found in reads.items()}
    assert passwords == {
        "api": {"mqtt-api-password"},
        "scheduler_tick": {"mqtt-scheduler-password"},
        "bridge": {"mqtt-bridge-password"},
        "convert_worker": set(),
        "migrations": set(),
        "mosquitto": set(),  # all three, by the map in broker.tf: it makes the broker's password file of them
    }


MQTT_PASSWORDS: Final = {"mqtt-api-password", "mqtt-bridge-password", "mqtt-scheduler-password"}
