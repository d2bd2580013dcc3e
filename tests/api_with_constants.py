"""The function `api` with the constants of the environment's CONSTANTS: a JSON object."""

import json
import os

from tests.constants import replace_constants

replace_constants(json.loads(os.environ["CONSTANTS"]))

from functions.api.main import api  # noqa: E402, F401 - functions-framework finds it here
