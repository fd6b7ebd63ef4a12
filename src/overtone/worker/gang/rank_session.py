"""The session of a rank: training code reports, saves and asks for facts as in a trial of one process.

`report()` and `record_checkpoint()` are barriers: they return when every rank has called them and the head
has decided, or raise TrialHalted in every rank.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.errors import GangError, TrainableError, TrialHalted
from overtone.worker.checkpoints import held_folders
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.checkpoints.temporary_folders import temporary_folder
from overtone.worker.gang.checkpoint_files import IncomingFiles, PlaceOnHost, file_messages
from overtone.worker.gang.head_line import HeadLine
from overtone.worker.gang.places import RankPlace
from overtone.worker.gang.trial_facts import TrialFacts
from overtone.worker.protocol import pickled
from overtone.worker.session.metrics import encoded, merged
from overtone.worker.session.once_per_machine import once
from overtone.worker.session.trial_context import TrialStorage
from overtone.worker.sigterm import Notice

if TYPE_CHECKING:
    from overtone.core.placement_group import PlacementGroupFactory

REDUCTIONS = ("", "mean")


class RankSession:
    """The context of training code in a rank, with the public methods of a trial's session.

    Attributes:
        params: The trial's config, or what the trainer sets; updated in place when the scheduler changes it.
        iteration: Number of results of the trial, including those before a restore.
        n_reported: Number of reports of this rank during the current call.
        metadata: What `get_metadata()` returns; empty unless the trainer sets it.
        is_halted: Whether the gang was told to end.
        address: The address at which other ranks reach this host.
        notice: State of a SIGTERM to this process.
    """

    once = staticmethod(once)

    def __init__(
        self, line: HeadLine, place: RankPlace, facts: TrialFacts, notice: Notice | None = None
    ) -> None:
        self._line, self._place, self._facts = line, place, facts
        self.params: dict[str, Any] = dict(facts.params)
        self.metadata: dict[str, Any] = {}
        self.iteration = self.n_reported = 0
        self.is_halted = False
        self.address = line.address
        self.notice = notice or Notice()
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._takes_reports = False
        self._restored: PlaceOnHost | None = None
        self._local_path: Path | None = None
        self._pending: Path | None = None
        self._pending_file: Path | None = None
        self._wants_save = self._may_save = False
        self._warned: set[str] = set()

    @property
    def is_active(self) -> bool:
        """Whether the gang goes on."""
        return not self.is_halted

    @contextmanager
    def during_call(
        self, takes_reports: bool, params: bytes | None, iteration: int, restored: PlaceOnHost | None
    ) -> Iterator[None]:
        """Serve the user's code for the block, which the head has asked for.

        Args:
            takes_reports: Whether the head waits for reports.
            params: The trial's config if it has changed, pickled.
            iteration: Number of the trial's results so far.
            restored: The checkpoint to restore from.
        """
        self._take_params(params)
        if restored != self._restored:
            self._restored, self._local_path = restored, None
        self.iteration, self.n_reported, self.is_halted = iteration, 0, False
        self._wants_save = self._may_save = False
        self._takes_reports = takes_reports
        try:
            yield
        finally:
            with self._lock:  # a thread that the user's code has left may be reporting
                self._takes_reports = False
                self._drop_pending()

    # --- reporting --------------------------------------------------------------------

    def report(
        self,
        metrics: Any = None,
        /,
        *,
        checkpoint: Any = None,
        reduce: str = "",
        _metric: Any = None,
        **kwargs: Any,
    ) -> None:
        """Report a result, and wait until each rank has reported and the head has decided.

        Args:
            metrics: Plain data by name, or one number. Those of rank 0 count.
            checkpoint: A directory or file with this rank's part of the state. The files of all ranks
                together are one checkpoint of the trial.
            reduce: "mean" to report means over ranks of the metrics that are numbers.

        Raises:
            TrialHalted: The trial should end: let it pass.
            TrainableError: `metrics` is neither a mapping nor a number, or this process is not the rank's.
        """
        values = merged(metrics, _metric, kwargs)
        if reduce not in REDUCTIONS:
            raise TrainableError(f'reduce={reduce!r}: must be "mean", or "" for the metrics of rank 0')
        if checkpoint is not None and not isinstance(checkpoint, (Checkpoint, str, os.PathLike)):
            values["checkpoint"], checkpoint = checkpoint, None  # a metric of that name
        with self._reporting("report()"):
            saved = self._place_of(checkpoint)
            self._line.send(
                ("report", encoded(values, self._warned), saved, reduce, self._may_save, self.notice.is_given)
            )
            self.n_reported += 1
            self.iteration += 1
            if saved is not None:
                self.notice.arm()
                self._wants_save = False
            self._obey(saved)
            self._drop_pending()

    def tell(self, value: Any) -> None:
        """Hand a value to the head's `on_tell`, from any thread, without waiting.

        Raises:
            TrainableError: The head does not run this rank's code with `Gang.run`.
        """
        self._check_process("tell()")
        self._check("tell()")
        self._line.send(("tell", pickled(value)))

    @contextmanager
    def _reporting(self, what: str) -> Iterator[None]:
        self._check_process(what)  # first: in a fork, the lock may be held by a thread that is not there
        with self._lock:
            self._check(what)
            yield

    def _check_process(self, what: str) -> None:
        if os.getpid() != self._pid:
            raise TrainableError(
                f"{what} was called in process {os.getpid()}, which rank {self._place.rank} (process "
                f"{self._pid}) started: hand the data back to the rank and call it there"
            )

    def _check(self, what: str) -> None:
        if self.is_halted:
            raise TrialHalted("this rank was told to end, but still calls")
        if not self._takes_reports:
            raise TrainableError(f"{what}: the head of the gang does not wait for reports now")

    def _place_of(self, checkpoint: Any) -> PlaceOnHost | None:
        if checkpoint is not None:
            return PlaceOnHost.of(Path(checkpoint))
        path = self._pending_file or self._pending
        return None if path is None else PlaceOnHost.of(path)

    def _obey(self, saved: PlaceOnHost | None) -> None:
        """Wait for the head's verdict, and hand over the checkpoint's files if it cannot read them."""
        while True:
            message = self._line.receive()
            if message[0] == "send_files":
                assert saved is not None
                for part in file_messages(Path(saved.path)):
                    self._line.send(part)
            elif message[0] == "verdict":
                self._take_params(message[1])
                self._wants_save = message[2]
                return
            elif message[0] == "halt":
                self.is_halted = True
                raise TrialHalted(message[1])
            else:
                raise GangError(f"the head of the gang sent {message[0]!r} instead of a verdict")

    def _take_params(self, params: bytes | None) -> None:
        if params is not None:
            self.params.clear()
            self.params.update(pickle.loads(params))

    # --- checkpoints ------------------------------------------------------------------

    def should_checkpoint(self) -> bool:
        """Return whether to save now and call `record_checkpoint`; the same in every rank."""
        self._may_save = True
        self.notice.arm()
        return self._wants_save

    def record_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Keep the file or directory `path` as this rank's part of the state after the last report.

        Raises:
            TrialHalted: The trial was told to end and ran only for this save.
            TrainableError: `path` does not exist.
        """
        with self._reporting("record_checkpoint()"):
            saved = PlaceOnHost.of(Path(path))
            self._line.send(("record", saved, self.notice.is_given))
            self._wants_save = False
            self._obey(saved)

    def make_checkpoint_dir(self, step: int | None = None) -> str:
        """Return a new directory; the next `report()` carries its contents."""
        self._drop_pending()
        self._pending = Path(temporary_folder())
        return str(self._pending)

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Choose the file or directory that the next `report()` carries."""
        self._pending_file = Path(path)

    @contextmanager
    def checkpoint_dir(self, step: int | None = None) -> Iterator[str]:
        """Yield a new directory to save into; the next `report()` carries its contents."""
        folder = self.make_checkpoint_dir()
        try:
            yield folder
        except BaseException:
            self._drop_pending()
            raise

    def _drop_pending(self) -> None:
        if self._pending is not None:
            shutil.rmtree(self._pending, ignore_errors=True)
        self._pending = self._pending_file = None

    @property
    def checkpoint(self) -> str | None:
        """The file or directory to restore from, on this host; None if there is none.

        On another host than the head's it is fetched, once for all ranks of the host.
        """
        if self._restored is None:
            return None
        if self._local_path is None:
            self._local_path = Path(self._restored.path) if self._restored.is_here() else self._fetch()
        return str(self._local_path)

    saved_state = checkpoint

    def get_checkpoint(self) -> Checkpoint | None:
        """Return the `Checkpoint` to restore from; None if there is none."""
        path = self.checkpoint
        if path is None:
            return None
        return Checkpoint(path if os.path.isdir(path) else os.path.dirname(path))

    def _fetch(self) -> Path:
        assert self._restored is not None
        source = self._restored
        with self._lock:
            name = blake2b(f"{self._line.head} {source}".encode(), digest_size=12).hexdigest()
            folder = Path(tempfile.gettempdir(), f"overtone-gangs-{os.getuid()}", name)
            lock = held_folders.hold(folder)
            if lock >= 0:
                atexit.register(_let_go, os.getpid(), folder, lock)
            files, mark = folder / "files", folder / "is_complete"
            with held_folders.gate(folder, "fetching.lock"):
                if not mark.exists():
                    shutil.rmtree(files, ignore_errors=True)
                    files.mkdir()
                    self._receive_into(files)
                    mark.touch()
        return files / os.path.basename(source.path) if source.is_file else files

    def _receive_into(self, folder: Path) -> None:
        self._line.send(("fetch",))
        incoming = IncomingFiles(folder)
        try:
            while not incoming.take(self._line.receive()):
                pass
        finally:
            incoming.close()

    # --- facts ------------------------------------------------------------------------

    def get_context(self) -> RankSession:
        """Return the session itself, which has all the `get_...` methods."""
        return self

    def get_world_size(self) -> int:
        """Return the number of ranks."""
        return self._place.world_size

    def get_world_rank(self) -> int:
        """Return this process's rank."""
        return self._place.rank

    def get_local_rank(self) -> int:
        """Return this process's rank among those on this host."""
        return self._place.local_rank

    def get_local_world_size(self) -> int:
        """Return the number of ranks on this host."""
        return self._place.local_world_size

    def get_node_rank(self) -> int:
        """Return the rank of this host among the hosts of the gang."""
        return self._place.node_rank

    def get_trial_id(self) -> str | None:
        """Return the trial's id; None outside of a trial, as the other facts about the trial."""
        return self._facts.trial_id

    def get_trial_name(self) -> str | None:
        """Return the trial's name."""
        return self._facts.name

    def get_trial_dir(self) -> str | None:
        """Return the trial's folder, as the head sees it."""
        return self._facts.folder

    def get_trial_seed(self) -> int | None:
        """Return the trial's seed, which is the same in each rank."""
        return self._facts.seed

    def get_trial_resources(self) -> PlacementGroupFactory | None:
        """Return the resources of the trial: those of the head and of all ranks."""
        return self._facts.resources

    def get_experiment_name(self) -> str | None:
        """Return the name of the experiment's folder."""
        return self._facts.experiment_name

    def get_storage(self) -> TrialStorage | None:
        """Return where the experiment and the trial write, as the head sees it."""
        return self._facts.storage

    def get_metadata(self) -> dict[str, Any]:
        """Return a copy of `metadata`."""
        return dict(self.metadata)

    def simulate_time(self, seconds: float) -> None:
        """Sleep for `seconds`."""
        time.sleep(seconds)


def _let_go(pid: int, folder: Path, lock: int) -> None:
    if os.getpid() == pid:  # not in a fork
        with suppress(OSError):
            held_folders.let_go(folder, lock)
