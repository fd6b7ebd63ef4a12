"""A head and its ranks, which are processes."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overtone.errors import GangError, TrainableError, TrialHalted
from overtone.testing.forked_ranks import ForkedRanks
from overtone.tune.session import get_context
from overtone.worker.gang import call as call_module
from overtone.worker.gang import gang as gang_module
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.rank import rank_state
from overtone.worker.gang.reports import Report, Verdict

MakeGang = Callable[..., Gang]


def rank() -> int:
    return get_context().get_world_rank()


def report_times(*times: int) -> int:
    """Report so many times, by rank."""
    for step in range(times[rank()]):
        get_context().report(step=step, rank=rank())
    return rank()


# --- calls ------------------------------------------------------------------------------


def test_a_call_runs_in_the_main_thread_of_each_rank(make_gang: MakeGang) -> None:
    def where(*args: int, **kwargs: int) -> Any:
        is_main = threading.current_thread() is threading.main_thread()
        return rank(), os.getpid(), is_main, args, kwargs

    gang = make_gang(3)
    pids = vars(gang)["forks"].pids
    assert gang.call(where, 1, two=2) == [(i, pids[i], True, (1,), {"two": 2}) for i in range(3)]
    assert gang.call_rank(1, where)[0] == 1
    with pytest.raises(GangError, match="rank=3: must be from 0 to 2"):
        gang.call_rank(3, where)


def test_a_rank_has_the_environment_of_torchrun(make_gang: MakeGang) -> None:
    names = (
        "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RUN_ID",
        "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT", "GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME",
    )  # fmt: skip
    gang = make_gang(environment={"MASTER_PORT": "123"})
    read = gang.call(lambda: [os.environ.get(name) for name in names])
    assert read[1] == ["1", "2", "1", "2", "0", "overtone", "0", "123", "lo", "=lo"]
    gang.update_environment({"MASTER_PORT": "456"})
    assert gang.call_rank(0, lambda: os.environ["MASTER_PORT"]) == "456"
    gang.restart()
    assert gang.call_rank(1, lambda: [os.environ[name] for name in names[6:8]]) == ["1", "456"]


def test_rank_state_stays_between_calls(make_gang: MakeGang) -> None:
    gang = make_gang()
    gang.call(lambda: rank_state.update(mine=rank()))
    assert gang.call(lambda: rank_state["mine"]) == [0, 1]
    gang.restart()
    assert gang.call(lambda: dict(rank_state)) == [{}, {}]


def test_a_restart_may_have_another_size(make_gang: MakeGang) -> None:
    gang = make_gang(2)
    before = gang.call(os.getpid)
    gang.restart(3)
    after = gang.call(os.getpid)
    assert (len(after), gang.num_workers, gang.generation) == (3, 3, 1)
    assert not set(before) & set(after)


def test_large_arguments_and_results(make_gang: MakeGang) -> None:
    data = os.urandom(4 << 20)
    assert make_gang(2).call(lambda given: given, data) == [data, data]


# --- errors -----------------------------------------------------------------------------


def fail_in_rank_1() -> None:
    if rank() == 1:
        raise KeyError("lost")


def test_an_exception_comes_with_the_rank_and_its_traceback(make_gang: MakeGang) -> None:
    gang = make_gang()
    with pytest.raises(GangError, match=r"^rank 1 of 2 raised KeyError: 'lost'\nTraceback") as caught:
        gang.call(fail_in_rank_1)
    error = caught.value
    assert error.rank == 1
    assert isinstance(error.__cause__, KeyError)
    frames = [line for line in error.traceback.splitlines() if line.startswith("  File")]
    assert len(frames) == 1, "frames of Overtone are shown"
    assert "fail_in_rank_1" in frames[0]
    assert gang.call(lambda: 5) == [5, 5], "all ranks have come back, so the gang can go on"


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("cannot travel")
        self.lock = threading.Lock()


class Unreadable(Exception):
    def __init__(self, needed: int, also: int) -> None:
        super().__init__("cannot be read")


@pytest.mark.parametrize("make", [Unpicklable, lambda: Unreadable(1, 2)], ids=["pickle", "unpickle"])
def test_an_exception_that_cannot_travel_is_told(make_gang: MakeGang, make: Callable[[], Exception]) -> None:
    def fail() -> None:
        raise make()

    with pytest.raises(GangError, match="rank 0 of 1 raised Un.*able: cannot"):
        make_gang(1).call(fail)


def test_a_result_that_cannot_travel_is_told(make_gang: MakeGang) -> None:
    gang = make_gang(1)
    with pytest.raises(GangError, match=r"rank 0 of 1 raised TypeError: cannot pickle '_thread.lock'"):
        gang.call(threading.Lock)
    assert gang.call(lambda: 1) == [1]


def test_a_function_that_cannot_travel_is_told(make_gang: MakeGang) -> None:
    gang, lock = make_gang(1), threading.Lock()
    with pytest.raises(
        TrainableError, match="cannot be sent to them: TypeError: cannot pickle '_thread.lock'"
    ):
        gang.call(lambda: lock)
    assert gang.call(lambda: 1) == [1]


@pytest.mark.parametrize("code", [None, 0, 3, "words"])
def test_an_exit_of_the_users_code(make_gang: MakeGang, code: Any) -> None:
    def leave() -> None:
        if rank() == 1:
            sys.exit(code)
        wait_for_nothing()

    def wait_for_nothing() -> None:
        threading.Event().wait()

    with pytest.raises(GangError, match="rank 1 of 2 raised SystemExit"):
        make_gang(2).call(leave)


def test_a_failure_does_not_wait_for_ranks_that_hang(
    make_gang: MakeGang, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang_or_fail() -> None:
        if rank() == 0:
            threading.Event().wait()
        raise ValueError("bad")

    monkeypatch.setattr(call_module, "GATHER_S", 0.2)
    gang = make_gang()
    pids = list(vars(gang)["forks"].pids)
    with pytest.raises(GangError, match="rank 1 of 2 raised ValueError: bad"):
        gang.call(hang_or_fail)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    with pytest.raises(
        GangError,
        match=r"call restart\(\) or shutdown\(\): the gang has ended with GangError: rank 1 of 2 raised",
    ):
        gang.call(rank)
    gang.restart()
    assert gang.call(rank) == [0, 1]


def test_the_first_cause_is_named(make_gang: MakeGang) -> None:
    def fail(pid: int) -> None:
        if rank() == 0:
            while _runs(pid):
                time.sleep(0.001)
            raise RuntimeError("[pair.cc:534] Connection closed by peer [127.0.0.1]:123")
        if rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    gang = make_gang(3)
    with pytest.raises(GangError, match=r"^rank 1 of 3 .*signal 9"):
        gang.call(fail, vars(gang)["forks"].pids[1])


def test_a_rank_that_dies_is_named(make_gang: MakeGang) -> None:
    gang = make_gang()
    with pytest.raises(GangError, match=r"rank 1 of 2 \(process \d+ on .*\) ended: .*killed by signal 9"):
        gang.call(lambda: rank() == 1 and os.kill(os.getpid(), signal.SIGKILL))


def test_a_rank_that_dies_between_two_calls(make_gang: MakeGang, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_module, "GATHER_S", 0.2)
    gang = make_gang()
    os.kill(vars(gang)["forks"].pids[1], signal.SIGKILL)
    with pytest.raises(GangError, match="rank 1 of 2"):
        gang.call_rank(0, time.sleep, 1000)


def test_a_stopped_rank_is_found_while_others_talk(make_gang: MakeGang) -> None:
    def work() -> None:
        if rank() == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        while True:
            get_context().tell("something")
            time.sleep(0.01)

    with pytest.raises(GangError, match=r"rank 1 of 2 .*gave no sign of life for 6 s.*\n.*\nState: T"):
        make_gang(timeout_s=6.0).run(work, on_report=lambda reports: None)


def test_a_gang_that_does_not_run() -> None:
    gang = Gang(ForkedRanks(), 1)
    for act in (gang.shutdown, lambda: gang.update_environment({})):
        act()
    with pytest.raises(GangError, match=r"does not run: call start\(\)"):
        gang.call(rank)
    with gang:
        with pytest.raises(GangError, match="runs already"):
            gang.start()
        assert gang.address == "127.0.0.1"
        assert gang.call(rank) == [0]
    with pytest.raises(GangError, match=r"does not run: call start\(\)"):
        gang.call(rank)


class Broken(ForkedRanks):
    """Cannot make its last rank."""

    def start(self, plan: Any) -> None:
        super().start(plan)
        os.kill(self.pids[-1], signal.SIGKILL)


class Short(ForkedRanks):
    """Makes no ranks, and says nothing."""

    def start(self, plan: Any) -> None:
        pass


def test_a_start_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Broken()
    with pytest.raises(GangError, match=r"rank.* of 2 (did not start|ended as it started)"):
        Gang(host, 2).start()
    assert host.pids == []
    monkeypatch.setattr(gang_module, "START_S", 0.1)
    with pytest.raises(GangError, match="ranks 0, 1 of 2 did not connect within 0.1 s"):
        Gang(Short(), 2).start()


# --- reports ----------------------------------------------------------------------------


def test_reports_are_a_barrier(make_gang: MakeGang) -> None:
    steps: list[list[Report]] = []
    results = make_gang().run(report_times, 5, 5, on_report=lambda reports: steps.append(reports))
    assert results == [0, 1]
    assert [[(report.rank, report.metrics) for report in reports] for reports in steps] == [
        [(i, {"step": step, "rank": i}) for i in range(2)] for step in range(5)
    ]


def test_the_verdict_reaches_all_ranks_at_the_same_step(make_gang: MakeGang) -> None:
    def train() -> list[Any]:
        seen = []
        for _ in range(3):
            get_context().report(x=1)
            seen.append((dict(get_context().params), get_context().should_checkpoint()))
        return seen

    verdicts = iter([None, Verdict({"lr": 0.1}), Verdict(wants_save=True)])
    wanted = [({}, False), ({"lr": 0.1}, False), ({"lr": 0.1}, True)]
    assert make_gang().run(train, on_report=lambda reports: next(verdicts)) == [wanted, wanted]


@pytest.mark.parametrize("error", [TrialHalted("enough"), ValueError("wrong"), KeyboardInterrupt()])
def test_what_on_report_raises_ends_all_ranks_at_this_step(
    make_gang: MakeGang, tmp_path: Path, error: BaseException
) -> None:
    def train() -> None:
        step = 0
        try:
            while True:
                step += 1
                get_context().report(step=step)
        finally:
            Path(tmp_path, str(rank())).write_text(str(step))

    def on_report(reports: list[Report]) -> None:
        if reports[0].metrics["step"] == 3:
            raise error

    gang = make_gang()
    with pytest.raises(type(error)) as caught:
        gang.run(train, on_report=on_report)
    assert caught.value is error
    assert [Path(tmp_path, name).read_text() for name in ("0", "1")] == ["3", "3"]
    assert gang.call(rank) == [0, 1]


def test_a_rank_that_does_not_heed_the_end(make_gang: MakeGang, monkeypatch: pytest.MonkeyPatch) -> None:
    def train() -> None:
        try:
            get_context().report(step=1)
        except TrialHalted:
            if rank() == 0:
                threading.Event().wait()
            get_context().report(step=2)  # is refused, too

    def halt(reports: list[Report]) -> None:
        raise TrialHalted("enough")

    monkeypatch.setattr(call_module, "HALT_S", 0.3)
    gang = make_gang()
    with pytest.raises(TrialHalted, match="enough"):
        gang.run(train, on_report=halt)
    assert vars(gang)["forks"].pids == []


@pytest.mark.parametrize("times", [(3, 2), (0, 1), (1, 0)])
def test_a_rank_that_returns_while_others_report_is_named(make_gang: MakeGang, times: Any) -> None:
    gang = make_gang()
    few = times.index(min(times))
    with pytest.raises(
        GangError, match=rf"rank {few} of 2 has returned while rank {1 - few} waits in report\(\)"
    ):
        gang.run(report_times, *times, on_report=lambda reports: None)
    assert gang.call(rank) == [0, 1]


def test_a_failure_ends_ranks_that_wait_at_the_barrier(make_gang: MakeGang) -> None:
    def train() -> None:
        if rank() == 1:
            raise ValueError("bad")
        get_context().report(x=1)

    gang = make_gang(3)
    with pytest.raises(GangError, match="rank 1 of 3 raised ValueError: bad"):
        gang.run(train, on_report=lambda reports: None)
    assert gang.call(rank) == [0, 1, 2]


def test_a_rank_that_does_not_come_to_the_barrier_is_named_with_its_stack(make_gang: MakeGang) -> None:
    def train() -> None:
        from overtone.worker import stacks

        stacks.answer_requests()
        if rank() == 1:
            wait_for_nothing()
        get_context().report(x=1)

    def wait_for_nothing() -> None:
        threading.Event().wait()

    with pytest.raises(GangError, match=r"(?s)rank 1 of 2 .*let the others wait for 6 s.*wait_for_nothing"):
        make_gang(timeout_s=6.0).run(train, on_report=lambda reports: None)


@pytest.mark.parametrize(
    ("reports", "note"),
    [
        (True, "have not called it: 1; they have 6 s (timeout_s)"),
        (False, "and these ranks have not: 1; they have 6 s (timeout_s)"),
    ],
)
def test_a_long_wait_for_a_rank_is_told_once(
    make_gang: MakeGang, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    reports: bool, note: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(call_module, "NOTE_AFTER_S", 0.1)

    def train() -> None:
        if rank() == 1:
            threading.Event().wait()
        if reports:
            get_context().report(x=1)

    with pytest.raises(GangError, match="rank 1 of 2 .*let the others wait"):
        make_gang(timeout_s=6.0).run(train, on_report=lambda reports: None)
    text = capsys.readouterr()
    assert (text.out + text.err).count(note) == 1


def test_a_thread_of_a_rank_may_report(make_gang: MakeGang) -> None:
    def train() -> None:
        thread = threading.Thread(target=lambda: get_context().report(thread=rank()))
        thread.start()
        thread.join()
        get_context().report(main=rank())

    steps: list[Any] = []
    make_gang().run(train, on_report=lambda reports: steps.append([one.metrics for one in reports]))
    assert steps == [[{"thread": 0}, {"thread": 1}], [{"main": 0}, {"main": 1}]]


def test_a_fork_of_a_rank_cannot_report(make_gang: MakeGang) -> None:
    def train() -> Any:
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                get_context().report(x=1)
            except BaseException as error:
                os.write(write, f"{type(error).__name__}: {error}".encode())
            os._exit(0)
        os.close(write)
        with open(read) as pipe:
            said = pipe.read()
        get_context().report(x=2)
        return said

    steps: list[Any] = []
    said = make_gang().run(train, on_report=lambda reports: steps.append(reports[0].metrics))
    assert all(text.startswith("TrainableError: report() was called in process") for text in said)
    assert steps == [{"x": 2}]


def test_a_fork_does_not_keep_the_connection_of_a_dead_rank_open(
    make_gang: MakeGang, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_module, "GATHER_S", 0.2)

    def train() -> None:
        if rank() == 1:
            read, write = os.pipe()
            if os.fork() == 0:
                os.close(write)
                os.read(read, 1)  # lives as long as its parent does, and a little longer
                time.sleep(3)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Event().wait()

    with pytest.raises(GangError, match="rank 1 of 2"):
        make_gang().call(train)


def test_reports_belong_to_run(make_gang: MakeGang) -> None:
    with pytest.raises(GangError, match="does not wait for reports now") as caught:
        make_gang(1).call(report_times, 1)
    assert isinstance(caught.value.__cause__, TrainableError)


@pytest.mark.parametrize("metrics", [{"x": float("nan")}, {"x": 2**70}, {"x": {"y": [1, "é"]}}])
def test_metrics_arrive_as_they_were(make_gang: MakeGang, metrics: dict[str, Any]) -> None:
    steps: list[Any] = []
    make_gang(1).run(
        lambda: get_context().report(metrics), on_report=lambda reports: steps.append(reports[0].metrics)
    )
    assert repr(steps) == repr([metrics])


def test_values_beside_the_barrier(make_gang: MakeGang) -> None:
    def train() -> None:
        if rank() == 1:
            thread = threading.Thread(target=lambda: get_context().tell(b"from a thread"))
            thread.start()
            thread.join()
        get_context().report(x=1)

    told: list[Any] = []
    gang = make_gang()
    gang.run(train, on_report=lambda reports: None, on_tell=lambda *one: told.append(one))
    assert told == [(1, b"from a thread")]

    def stop(rank: int, value: Any) -> None:
        raise TrialHalted("enough")

    with pytest.raises(TrialHalted, match="enough"):
        gang.run(train, on_report=lambda reports: None, on_tell=stop)


def test_on_report_cannot_call_ranks(make_gang: MakeGang) -> None:
    gang = make_gang()
    with pytest.raises(GangError, match="on_report and on_tell cannot call ranks"):
        gang.run(report_times, 1, 1, on_report=lambda reports: gang.call(rank))
    assert gang.call(rank) == [0, 1]


def test_a_head_may_take_its_time(make_gang: MakeGang) -> None:
    results = make_gang(timeout_s=3.0).run(report_times, 1, 1, on_report=lambda reports: time.sleep(4.0))
    assert results == [0, 1]


# --- heads ------------------------------------------------------------------------------


def test_two_gangs_of_one_head(make_gang: MakeGang) -> None:
    gangs = [make_gang(2), make_gang(3)]
    found: dict[int, Any] = {}

    def drive(number: int) -> None:
        steps: list[Any] = []
        times = [20 + number] * gangs[number].num_workers
        found[number] = gangs[number].run(report_times, *times, on_report=lambda reports: steps.append(1))
        found[number].append(len(steps))

    threads = [threading.Thread(target=drive, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: [0, 1, 20], 1: [0, 1, 2, 21]}


def test_ranks_end_with_their_head(processes: Any, tmp_path: Path) -> None:
    def head() -> None:
        host = ForkedRanks()
        gang = Gang(host, 2)
        gang.start()
        gang._hub.send_to_all(("call", *_endless()))  # type: ignore[union-attr]
        Path(tmp_path, "pids").write_text(" ".join(map(str, host.pids)))

    pid = processes.start(head)
    ranks = [int(one) for one in Path(tmp_path, "pids").read_text().split()]
    processes.kill(pid)
    give_up_at = time.monotonic() + 60
    while any(_runs(one) for one in ranks):
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def _endless() -> Any:
    from overtone.worker.protocol import pickled

    return pickled((time.sleep, (1000,), {})), False, None, 0, None


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_fork_of_the_head_is_no_head(make_gang: MakeGang) -> None:
    gang = make_gang(1)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            gang.call(rank)
        except GangError as error:
            status = 0 if "is a fork of the gang's head" in str(error) else 2
        gang.shutdown()
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert gang.call(rank) == [0]


def test_nothing_outlives_a_shutdown(make_gang: MakeGang) -> None:
    n_files, threads = len(os.listdir("/proc/self/fd")), threading.enumerate()
    gang = make_gang(2)
    address = gang._hub.address  # type: ignore[union-attr]
    pids = list(vars(gang)["forks"].pids)
    gang.call(rank)
    gang.shutdown()
    gang.shutdown()
    assert threading.enumerate() == threads
    assert len(os.listdir("/proc/self/fd")) == n_files
    assert not any(_runs(pid) for pid in pids)
    host, _, port = address.rpartition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))
