"""The converter of this suite, shared because each start of LibreOffice takes a second."""

from collections.abc import Iterator

import pytest

from tests.worker.harness import Converter, converter


@pytest.fixture(scope="session")
def running_converter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Converter]:
    """A real converter with a real LibreOffice."""
    with converter(tmp_path_factory.mktemp("converter") / "state") as running:
        yield running
