"""The campaign on Google Cloud without Terraform: it reports what is missing, and its server refuses like Google."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.cloud_rights import READS_A_SECRET
from tests.lab.campaigns import cloud
from tests.lab.campaigns.__main__ import main
from tests.lab.campaigns.cloud_apis import APIS
from tests.lab.campaigns.cloud_project import Project, Refused
from tests.lab.campaigns.cloud_terraform import PLUGINS

READER: Final = "signage-api@p.iam.gserviceaccount.com"
SECRET: Final = "projects/p/secrets/signing-key"
READS: Final = {"policy": {"bindings": [{"role": READS_A_SECRET, "members": [f"serviceAccount:{READER}"]}]}}
KEY: Final = {"name": "K", "valueSource": {"secretKeyRef": {"secret": "signing-key", "version": "1"}}}
SERVICE: Final[dict[str, Any]] = {"template": {"serviceAccount": READER, "containers": [{"env": [KEY]}]}}


def test_without_terraform_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(SystemExit):
        main(["cloud"])

    assert "no terraform on the PATH" in capsys.readouterr().err


@pytest.mark.parametrize("given", [None, "", "/nowhere"])
def test_without_providers_it_says_so(given: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "terraform").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(PLUGINS, raising=False)
    if given is not None:
        monkeypatch.setenv(PLUGINS, given)

    assert cloud.missing() == f"no folder of providers in {PLUGINS}"


def ask(project: Project, api: str, path: str, body: dict[str, Any] | None = None, **query: str) -> dict[str, Any]:
    return project.answer("GET" if body is None else "POST", f"{api}.googleapis.com", path, query, body or {})


def test_what_is_made_in_its_order_is_there() -> None:
    project = Project("p", ["iam", "secretmanager", "run"], APIS)

    ask(project, "iam", "v1/projects/p/serviceAccounts", {"accountId": "signage-api"})
    ask(project, "secretmanager", "v1/projects/p/secrets", {}, secretId="signing-key")
    ask(project, "secretmanager", f"v1/{SECRET}:addVersion", {"payload": {"data": "a2V5"}})
    ask(project, "secretmanager", f"v1/{SECRET}:setIamPolicy", READS)
    ask(project, "run", "v2/projects/p/locations/l/services", SERVICE, serviceId="api")

    assert ask(project, "run", "v2/projects/p/locations/l/services/api")["template"] == SERVICE["template"]
    assert project.secret_values() == {"signing-key": "key"}
    assert project.refused == []


@pytest.mark.parametrize(
    ("api", "path", "body", "words"),
    [
        ("compute", "compute/v1/projects/p/global/sslPolicies", {"name": "x"}, "has not been used"),
        ("dns", "dns/v1/projects/p/managedZones", {"name": "x", "of": "projects/p/global/networks/x"}, "was not found"),
        ("secretmanager", f"v1/{SECRET}:setIamPolicy", READS, "serviceAccounts/signage-api@p"),
        ("run", "v2/projects/p/locations/l/services", SERVICE, "versions/1 was not found"),
        ("dns", "dns/v1/projects/p/managedZones/x", None, "was not found"),
    ],
)
def test_what_comes_too_early_is_refused(api: str, path: str, body: dict[str, Any] | None, words: str) -> None:
    project = Project("p", ["dns", "secretmanager", "run"], APIS)

    with pytest.raises(Refused, match=words):
        ask(project, api, path, body)


def test_a_service_that_may_not_read_its_secret_is_refused() -> None:
    project = Project("p", ["secretmanager", "run"], APIS)
    ask(project, "secretmanager", f"v1/{SECRET}:addVersion", {"payload": {"data": "a2V5"}})

    with pytest.raises(Refused, match="may not read signing-key"):
        ask(project, "run", "v2/projects/p/locations/l/services", SERVICE, serviceId="api")
