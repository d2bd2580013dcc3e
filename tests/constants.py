"""Other constants in programs that tests start, above all times of waiting."""

import importlib
from collections.abc import Mapping
from typing import Any

Constants = Mapping[str, Any]
"""Name of a constant in the module that reads it -> its value, as `{"bridge.duties.CANARY_SECONDS": 2.0}`."""


def replace_constants(constants: Constants) -> None:
    """Give these constants other values in this process."""
    for name, value in constants.items():
        place, _, constant = name.rpartition(".")
        module = importlib.import_module(place)
        assert hasattr(module, constant), f"no constant {name}"
        setattr(module, constant, value)
