"""A copy of deploy/gcp with a real Terraform, whose provider calls a server in this process instead of Google."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from deploy.parts.layout import LOOPBACK
from tests.deploy.cloud_plan import everything
from tests.deploy.terraform import GCP
from tests.lab.campaigns.cloud_project import Project, Refused

FORBIDDEN: Final = 403
CERTIFICATE: Final = 'broker_certificate_pem = "-----BEGIN CERTIFICATE-----"\n'
PLUGINS: Final = "TERRAFORM_PLUGINS"  # a folder as `terraform providers mirror` makes it
ENDPOINTS: Final = {  # the provider's variable -> the interface's address
    "BILLING_BUDGETS": "billingbudgets.googleapis.com/v1/",
    "CLOUD_BILLING": "cloudbilling.googleapis.com/v1/",
    "CLOUD_RUN_V2": "run.googleapis.com/v2/",
    "CLOUD_SCHEDULER": "cloudscheduler.googleapis.com/v1/",
    "CLOUD_TASKS": "cloudtasks.googleapis.com/v2/",
    "COMPUTE": "compute.googleapis.com/compute/v1/",
    "DNS": "dns.googleapis.com/dns/v1/",
    "IAM_BETA": "iam.googleapis.com/v1/",
    "IAP": "iap.googleapis.com/v1/",
    "LOGGING": "logging.googleapis.com/v2/",
    "MONITORING": "monitoring.googleapis.com/",
    "RESOURCE_MANAGER": "cloudresourcemanager.googleapis.com/v1/",
    "SECRET_MANAGER": "secretmanager.googleapis.com/v1/",
    "SERVICE_NETWORKING": "servicenetworking.googleapis.com/v1/",
    "SERVICE_USAGE": "serviceusage.googleapis.com/v1/",
    "SQL": "sqladmin.googleapis.com/sql/v1beta4/",
    "STORAGE": "storage.googleapis.com/storage/v1/",
}
GCLOUD: Final = """#!/bin/sh
# gcloud run jobs execute NAME --project=P --region=R --wait
exec curl --silent --show-error --fail --request POST --data '{}' \\
  "$CLOUD/run.googleapis.com/v2/projects/${5#--project=}/locations/${6#--region=}/jobs/$4:run"
"""


@dataclass(frozen=True)
class Said:
    """Exit code and output of a Terraform command."""

    code: int
    text: str

    @property
    def errors(self) -> str:
        """Its errors, each with its context."""
        return "".join(re.findall(r"^Error: (?:.*\n){1,8}", self.text, re.MULTILINE))

    @property
    def changes(self) -> str:
        """The changes of a plan, and its errors."""
        return (
            "".join(re.findall(r"^  # .* (?:will|must) be .*\n|^ +[-+~] .{0,200}\n", self.text, re.MULTILINE))
            or self.errors
        )


@dataclass(frozen=True)
class Terraform:
    """The copy, its variables besides the example, and the address of the server."""

    folder: Path
    told: Mapping[str, object] = field(default_factory=dict)
    server: str = ""

    def run(self, *arguments: str) -> Said:
        """Run a command. The server is also its proxy, and refuses requests to other addresses."""
        (self.folder / "gcp" / "told.auto.tfvars.json").write_text(json.dumps(self.told), encoding="utf-8")
        inherited = {name: value for name, value in os.environ.items() if not re.match("GOOGLE|TF_|CLOUDSDK", name)}
        endpoints = {f"GOOGLE_{name}_CUSTOM_ENDPOINT": f"{self.server}/{at}" for name, at in ENDPOINTS.items()}
        own = {
            "PATH": f"{self.folder}/programs:{os.environ['PATH']}",
            "CLOUD": self.server,
            "HTTPS_PROXY": self.server,
            "GOOGLE_OAUTH_ACCESS_TOKEN": "none",
            "TF_CLI_CONFIG_FILE": os.devnull,
            "TF_CLI_ARGS": "-no-color",
            "TF_INPUT": "0",
            "CHECKPOINT_DISABLE": "1",
            "TF_VAR_broker_key_pem": "-----BEGIN PRIVATE KEY-----",
        }
        done = subprocess.run(
            ["terraform", *arguments],
            check=False,
            cwd=self.folder / "gcp",
            env={**inherited, **endpoints, **own},
            capture_output=True,
            text=True,
        )
        return Said(done.returncode, done.stdout + done.stderr)

    def at(self, server: str, told: Mapping[str, object]) -> "Terraform":
        """The same copy and state with another server and other variables."""
        return Terraform(self.folder, told, server)

    def forget(self) -> None:
        """Delete the state, as before the first apply."""
        for state in (self.folder / "gcp").glob("terraform.tfstate*"):
            state.unlink()

    def apply(self) -> Said:
        """Apply without a confirmation."""
        return self.run("apply", "-auto-approve", "-parallelism=50")

    def plan(self) -> Said:
        """Plan. The exit code is 0 without changes, 2 with changes."""
        return self.run("plan", "-detailed-exitcode", "-out=plan")

    def document(self, *of: str) -> dict[str, Any]:
        """The last plan as JSON; without arguments the state."""
        said = self.run("show", "-json", *of)
        if said.code:
            raise RuntimeError(said.text)
        document: dict[str, Any] = json.loads(said.text)
        return document

    def untainted(self) -> "Terraform":
        """Remove the taint marks of a failed apply, as docs/deploying.md describes."""
        for resource in everything(self.document()["values"]["root_module"]):
            if resource.get("tainted"):
                self.run("untaint", resource["address"])
        return self


def copied(folder: Path) -> Terraform:
    """Copy deploy/gcp, with the example's values, a certificate, and a gcloud that runs the migrations."""
    shutil.copytree(GCP, folder / "gcp", ignore=shutil.ignore_patterns(".terraform*", "*.tfstate*", "*.tfvars"))
    shutil.copy(GCP.parent / "components.yaml", folder)
    example = (GCP / "terraform.tfvars.example").read_text(encoding="utf-8")
    (folder / "gcp" / "terraform.tfvars").write_text(example + CERTIFICATE, encoding="utf-8")
    gcloud = folder / "programs" / "gcloud"
    gcloud.parent.mkdir()
    gcloud.write_text(GCLOUD, encoding="utf-8")
    gcloud.chmod(0o755)
    return Terraform(folder)


class Handler(BaseHTTPRequestHandler):
    """Handles requests; the first part of the path is the host."""

    protocol_version = "HTTP/1.1"
    project: Project

    def handle(self) -> None:
        """Answer until the provider disconnects."""
        with contextlib.suppress(ConnectionResetError):
            super().handle()

    def _serve(self) -> None:
        asked = urlsplit(self.path)
        host, _, path = unquote(asked.path).lstrip("/").partition("/")
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            said = self.project.answer(self.command, host, path, dict(parse_qsl(asked.query)), json.loads(raw or b"{}"))
            self._say(200, said)
        except Refused as refused:
            said = {"code": refused.status, "message": str(refused)}
            reason = "accessNotConfigured" if refused.status == FORBIDDEN else "invalid"
            self._say(refused.status, {"error": said | {"errors": [{"reason": reason}]}})

    def _say(self, status: int, body: Mapping[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_CONNECT = _serve  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Log nothing: the project records its refusals."""


@contextlib.contextmanager
def served(project: Project) -> Iterator[str]:
    """The address of a server on loopback that answers like a project in Google Cloud."""
    server = ThreadingHTTPServer((LOOPBACK, 0), type("Its", (Handler,), {"project": project}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
