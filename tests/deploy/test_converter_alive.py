"""The converter in the cloud: not replaced while busy, restarts after each answer, and no deck waits behind it."""

import re
from datetime import timedelta

import pytest

from deploy.files import FONTS
from deploy.local import prerequisites
from deploy.parts.layout import REPOSITORY
from shared import config
from shared.config import BY_NAME
from shared.conversions.rules import timeouts
from shared.errors import ConfigurationError
from tests.deploy.confined import COMPOSE
from tests.deploy.terraform import GCP, Folder, root

CLOUD_TASKS_WAITS = timedelta(minutes=30)


def test_a_converter_whose_libreoffice_starts_again_is_not_taken_for_dead() -> None:
    converter = root().blocks("module")["converter"]
    service = Folder(GCP / "modules" / "run_service").typed("resource")["google_cloud_run_v2_service", "this"]
    container = next(each for each in service["template"][0]["containers"] if each["name"] == "main")
    liveness = next(each for each in container["dynamic"] if "liveness_probe" in each)["liveness_probe"]

    assert (converter["probe_path"], converter["liveness_path"]) == ("/health", "/version")
    assert "coalesce(var.liveness_path, var.probe_path)" in str(liveness["for_each"])


def test_the_converter_has_its_cpu_when_libreoffice_starts_again_and_time_to_do_so() -> None:
    converter = root().blocks("module")["converter"]

    assert converter["cpu_while_idle"] is True
    assert "--libreoffice-start-timeout=60s" in converter["arguments"]


def test_no_deck_waits_behind_another_in_the_time_that_gotenberg_gives_it() -> None:
    converter = root().blocks("module")["converter"]

    assert converter["concurrency"] == 1
    assert "--libreoffice-max-queue-size=1" in converter["arguments"]


def test_the_longest_time_for_a_deck_is_one_that_cloud_tasks_waits_for() -> None:
    rule = root().blocks("variable")["conversion_deadline_seconds"]["validation"][0]["condition"]
    least, most = (int(found) for found in re.findall(r"[<>]= (\d+)", rule))
    setting = BY_NAME["CONVERSION_DEADLINE_SECONDS"]

    assert timeouts(timedelta(seconds=most)).dispatch <= CLOUD_TASKS_WAITS
    for seconds in (least, most):
        assert setting.parse(str(seconds)) == seconds
    for seconds in (least - 1, most + 1):
        with pytest.raises(ConfigurationError, match="CONVERSION_DEADLINE_SECONDS"):
            config.load({"CONVERSION_DEADLINE_SECONDS": str(seconds)})


def test_what_a_box_needs_for_decks_is_what_its_guide_installs() -> None:
    guide = (REPOSITORY / "docs" / "deploying.md").read_text(encoding="utf-8")
    installs = re.search(r"apt-get install --no-install-recommends git python3-venv (.*?)\nsystemctl", guide, re.DOTALL)
    assert installs
    wanted = {need.package for need in prerequisites.RUN if need.instead == "CONVERTER_URL"}

    assert wanted <= set(installs[1].replace("\\", " ").split())
    assert {"fonts-noto-cjk", "fonts-symbola", "libreoffice-base-core"} <= wanted


def test_gotenberg_on_a_box_is_given_the_stand_ins_of_our_converter() -> None:
    assert COMPOSE["services"]["gotenberg"]["configs"] == [{"source": "fonts", "target": "/etc/fonts/local.conf"}]
    assert COMPOSE["configs"]["fonts"]["content"] == FONTS.read_text(encoding="utf-8")
