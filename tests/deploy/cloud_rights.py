"""All grants in the cloud: account, role and target. A new grant must be added here, with its reason."""

from typing import Final

READS_A_SECRET: Final = "roles/secretmanager.secretAccessor"  # cloud_rules.py checks who reads which secret
METRICS, LOGS = "roles/monitoring.metricWriter", "roles/logging.logWriter"

_ENQUEUES: Final = {
    ("queue conversions", "roles/cloudtasks.enqueuer"),
    ("queue notifications", "roles/cloudtasks.enqueuer"),
    ("account tasks", "roles/iam.serviceAccountUser"),  # the account in whose name the queue delivers
}
_CONNECTED_BY_THE_PROXY: Final = "roles/iap.httpsResourceAccessor"

RIGHTS: Final = {
    "api": {
        *_ENQUEUES,
        ("queue conversions", "roles/cloudtasks.viewer"),  # GET /api/health/ready checks that the queues exist
        ("queue notifications", "roles/cloudtasks.viewer"),
        ("bucket media", "roles/storage.objectUser"),
    },
    "convert-worker": {("bucket media", "roles/storage.objectUser"), ("service converter", "roles/run.invoker")},
    "scheduler-tick": _ENQUEUES,
    "bridge": {("project", METRICS)},
    "mosquitto": {("project", "roles/artifactregistry.reader"), ("project", LOGS), ("project", METRICS)},
    "people": {("door people-api", _CONNECTED_BY_THE_PROXY), ("door people-dashboard", _CONNECTED_BY_THE_PROXY)},
}
