"""The worker's function, which kills itself with SIGKILL at a boundary of its job; X-Doom is its number, from 1.

A boundary is the beginning or the end of a statement, a commit, a flush to disk, a rename, a removal, the
converter's request and the examination of the PDF. Without X-Doom nothing is killed, and the
answer has the number of passed boundaries. The server starts the next worker by itself.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import functions_framework
from flask import Request, Response
from sqlalchemy import Engine, event

from functions.convert_worker import job, main
from functions.convert_worker.pdf import Examiner

doom = 0
passed = 0
at_work = False


def boundary(*_arguments: Any) -> None:
    """Count a boundary; kill the process at the chosen one."""
    global passed  # noqa: PLW0603 - one job at a time
    if not at_work:
        return
    passed += 1
    if passed == doom:
        os.kill(os.getpid(), signal.SIGKILL)


def between(act: Callable[..., Any]) -> Callable[..., Any]:
    """`act` with a boundary before and after it."""

    def bounded(*arguments: Any, **keywords: Any) -> Any:
        boundary()
        result = act(*arguments, **keywords)
        boundary()
        return result

    return bounded


for name in ("before_cursor_execute", "after_cursor_execute", "begin", "commit"):
    event.listen(Engine, name, boundary)
os.fsync = between(os.fsync)
Path.replace = between(Path.replace)  # type: ignore[method-assign]
Path.unlink = between(Path.unlink)  # type: ignore[method-assign]
vars(job)["convert"] = between(vars(job)["convert"])
Examiner.examine = between(Examiner.examine)  # type: ignore[method-assign]


@functions_framework.http
def convert_worker(request: Request) -> Response:
    """Handle one delivery."""
    global at_work, doom, passed
    at_work, doom, passed = request.method == "POST", int(request.headers.get("X-Doom", "0")), 0
    answer = main.convert_worker(request)
    assert isinstance(answer, Response)
    boundary()
    answer.headers["X-Boundaries"] = str(passed)
    return answer
