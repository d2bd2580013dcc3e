"""The queue in front of LibreOffice, and the one thread that converts one document at a time.

This thread starts all LibreOffice processes, because they die with the thread that started them. While a document is
converted, the process for the next one is already starting.
"""

import contextlib
import itertools
import logging
import queue
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deploy.parts.converter.office import Office, OfficeUnusable, find_program
from deploy.parts.converter.sandbox import Sandbox, become_reaper, reap_orphans, why_not
from shared.structured_log import event, failure

QUEUE_SIZE = 2  # documents that wait behind the one being converted
PATIENCE_SECONDS = 10  # the longest wait in the queue; with the conversion's time it stays below the worker's timeout
POLL_SECONDS = 0.25  # the thread notices a stop within this time
STARTING = "LibreOffice is starting"
STOPPING = "the converter is stopping"


class QueueFull(Exception):
    """The queue is full, or this document has waited for PATIENCE_SECONDS; LibreOffice never had it."""


class Unavailable(Exception):
    """Nothing can be converted now; the message says why."""


@dataclass
class Job:
    """One document to convert."""

    source: Path
    """The uploaded document; moved away once the conversion begins."""
    suffix: str
    """With its dot, one of web.SUFFIXES."""
    result: Path
    """The path for the PDF."""
    seconds: int
    """The timeout of the conversion, from the moment when LibreOffice has the document."""
    done: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def claim(self) -> bool:
        """True only for the first caller, which either converts the document or withdraws it."""
        return self._turn.acquire(blocking=False)


class Engine(threading.Thread):
    """Converts documents in the order of arrival until `stop`."""

    def __init__(self, folder: Path, allow_unsandboxed: bool) -> None:
        """`folder` is emptied: its files are left from an earlier process."""
        super().__init__(name="engine", daemon=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        self.folder = folder
        become_reaper()
        self.not_isolated = why_not()
        self.reason: str | None = STARTING
        self.requests = 0
        self._sandbox = Sandbox(isolated=self.not_isolated is None)
        self._allowed = self._sandbox.isolated or allow_unsandboxed
        self._jobs: queue.Queue[Job] = queue.Queue()
        self._slots = threading.BoundedSemaphore(1 + QUEUE_SIZE)
        self._numbers = itertools.count(1)
        self._counting = threading.Lock()
        self._stopping = threading.Event()
        self._offices: list[Office] = []
        self._spare: Office | None = None  # measured on two cores: several spares are slower
        self._program = Path()
        self._template = Path()

    @property
    def isolated(self) -> bool:
        """Whether documents are converted in the sandbox."""
        return self._sandbox.isolated

    @contextlib.contextmanager
    def admitted(self) -> Iterator[Path]:
        """A place in the queue and an empty folder for one request; both are released at the end.

        Raises Unavailable or QueueFull at once, so that the request can be refused before its body is read.
        """
        if self.reason is not None:
            raise Unavailable(self.reason)
        if not self._slots.acquire(blocking=False):
            raise QueueFull
        folder = self.folder / f"request-{next(self._numbers)}"
        try:
            folder.mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self._slots.release()

    def convert(self, job: Job) -> None:
        """Put the job in the queue and wait for its end.

        Raises ConversionFailed, ConversionTimedOut, QueueFull, Unavailable or OSError.
        """
        with self._counting:
            self.requests += 1
        patient_until = time.monotonic() + PATIENCE_SECONDS
        self._jobs.put(job)
        while not job.done.wait(POLL_SECONDS):
            if not self.is_alive():
                raise Unavailable(STOPPING)
            if time.monotonic() >= patient_until and job.claim():
                raise QueueFull
        if job.error is not None:
            raise job.error

    def stop(self) -> None:
        """Kill the running conversion, fail the waiting ones, and remove all files. Returns when nothing is left."""
        self.reason = STOPPING
        self._stopping.set()
        while self.is_alive():  # repeat, because the thread may be starting one more process
            for office in list(self._offices):
                office.kill()
            self.join(0.05)

    def run(self) -> None:
        """The thread: prepare, convert one document after another, clean up."""
        try:
            self._prepare()
            self._serve()
        except OfficeUnusable as error:
            self._refuse(str(error))
        except Exception:  # noqa: BLE001 - after any fault the requests must get an answer
            failure("converter_engine_failed", "the converter's engine failed")
            self._refuse("the converter's engine failed")
        self._fail_waiting()
        self._clean_up()

    def _prepare(self) -> None:
        if not self._allowed:
            raise OfficeUnusable(
                f"{self.not_isolated}; without a sandbox nothing is converted unless CONVERTER_ALLOW_UNSANDBOXED=1"
            )
        self._program = find_program()
        self._template = self._new_office("template").make_template()

    def _serve(self) -> None:
        self._spare = self._warm()
        self.reason = None
        event("converter_ready", "LibreOffice waits for documents", isolated=self.isolated)
        while not self._stopping.is_set():
            with contextlib.suppress(queue.Empty):
                job = self._jobs.get(timeout=POLL_SECONDS)
                if job.claim():
                    self._one(job)
            self._reap()

    def _one(self, job: Job) -> None:
        """Convert one document with a spare office, or a new one when there is none."""
        office: Office | None = None
        try:
            if self._stopping.is_set():
                raise Unavailable(STOPPING)  # noqa: TRY301 - handled below, like every other error
            office, self._spare = self._spare or self._warm(), None
            office.begin(job.source, job.suffix)
            deadline = time.monotonic() + job.seconds
            self._start_spare()
            office.finish(deadline).rename(job.result)
        except Exception as error:  # noqa: BLE001 - `convert` raises it; this thread must go on
            job.error = Unavailable(STOPPING) if self._stopping.is_set() else error
        finally:
            self._close(office)
            job.done.set()

    def _new_office(self, name: str) -> Office:
        office = Office(self._sandbox, self._program, self.folder / name)
        self._offices.append(office)
        return office

    def _warm(self) -> Office:
        """A new office, which is starting and will wait for a document."""
        office = self._new_office(f"office-{next(self._numbers)}")
        try:
            office.warm_up(self._template)
        except BaseException:
            self._close(office)
            raise
        return office

    def _start_spare(self) -> None:
        """Start the office for the next document in advance. If that fails, the next document starts its own."""
        try:
            self._spare = self._warm()
        except OSError:
            failure("converter_spare_failed", "LibreOffice could not be started ahead of its document")

    def _close(self, office: Office | None) -> None:
        if office is not None:
            office.close()
            self._offices.remove(office)

    def _reap(self) -> None:
        reap_orphans({pid for office in self._offices for pid in office.pids()})

    def _refuse(self, reason: str) -> None:
        if not self._stopping.is_set():
            self.reason = reason
            event("converter_unavailable", "documents cannot be converted", logging.ERROR, reason=reason)

    def _fail_waiting(self) -> None:
        """Fail every waiting document, until no more can come."""
        while not self._stopping.is_set() or not self._jobs.empty():
            with contextlib.suppress(queue.Empty):
                job = self._jobs.get(timeout=POLL_SECONDS)
                job.error = Unavailable(self.reason or STOPPING)
                job.done.set()

    def _clean_up(self) -> None:
        for office in list(self._offices):
            self._close(office)
        self._reap()
        shutil.rmtree(self.folder, ignore_errors=True)
