"""What a fleet can do without. Each folder here may be deleted: the rest starts and passes its own tests.

An extension stands above the kernel (`shared`, `functions`, `bridge`) and imports it. Neither the kernel nor another
extension imports it: the api and the tick ask here which extensions there are.
"""

import importlib.util
import pkgutil
from types import ModuleType


def parts(name: str) -> list[ModuleType]:
    """The module of this name, `api` or `tick`, of each extension that has one, in alphabetical order."""
    folders = sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)
    modules = [f"{__name__}.{folder}.{name}" for folder in folders]
    return [importlib.import_module(module) for module in modules if importlib.util.find_spec(module)]
