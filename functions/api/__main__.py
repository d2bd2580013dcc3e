"""`python -m functions.api FILE` writes the OpenAPI document of all routes (`make openapi`).

A test holds `docs/openapi.json` equal to it.
"""

import sys
from pathlib import Path

from functions.api.bodies import pretty_json
from functions.api.openapi import document
from functions.api.routes import ALL

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(pretty_json(document(ALL)), encoding="utf-8")
