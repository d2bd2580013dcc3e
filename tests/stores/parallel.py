"""Run the same work in many threads at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from shared.errors import ServiceError

T = TypeVar("T")


def at_once(workers: int, work: Callable[[], T]) -> list[T | ServiceError]:
    """Run `work` in `workers` threads at once. Returns the results and refusals."""

    def one(_: int) -> T | ServiceError:
        try:
            return work()
        except ServiceError as error:
            return error

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, range(workers)))
