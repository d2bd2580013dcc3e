"""The converter of this suite, shared because each start of LibreOffice takes a second."""

from collections.abc import Iterator

import pytest

from functions.convert_worker import pdf
from tests.worker.harness import DEADLINE_SECONDS, Converter, converter


@pytest.fixture(scope="session", autouse=True)
def patient_examiner() -> Iterator[None]:
    """On a slow machine the examiner's start alone may take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pdf, "SECONDS", DEADLINE_SECONDS)
        yield


@pytest.fixture(scope="session")
def running_converter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Converter]:
    """A real converter with a real LibreOffice."""
    with converter(tmp_path_factory.mktemp("converter") / "state") as running:
        yield running
