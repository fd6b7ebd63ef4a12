"""The local engine with real processes: who dies with whom, and what trials find around them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core.job import Job
from overtone.core.messages import NEVER, Ended, Event, Halt, Proceed, Reported, Start, Started
from overtone.core.resources import Placement, Resources
from overtone.engines.local import Local
from overtone.errors import TrainableError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and reads /proc")

SOURCE = str(Path(sys.modules["overtone"].__file__ or "").parents[1])


class Run:
    """An open engine, with what it printed and what happened."""

    def __init__(self, folder: Path, trainable: Any, job: dict[str, Any], **engine: Any) -> None:
        self.printed: list[tuple[str, str, str]] = []
        self.events: list[Event] = []
        self.engine = Local(**{"cpus": 2, **engine})
        self.engine.on_output = lambda *one: self.printed.append(one)
        self.engine.open(Job(trainable, "train", folder, **job))

    def start(self, index: int, config: dict[str, Any] | None = None, **start: Any) -> str:
        trial_id = f"358bb_{index:05d}"
        resources = Resources.of(start.pop("resources", {"cpu": 1}))
        gpus = start.pop("gpus", ())
        placement = Placement(("local",), (gpus,))
        until_t = start.pop("until_t", NEVER)
        self.engine.submit([Start(trial_id, 0, index, config or {}, resources, placement, until_t=until_t)])
        return trial_id

    def until(self, is_enough: Callable[[list[Event]], bool], within_s: float = 60.0) -> list[Event]:
        give_up_at = time.monotonic() + within_s
        while not is_enough(self.events):
            assert time.monotonic() < give_up_at, f"only {self.events}; printed {self.printed}"
            self.events += self.engine.poll(1.0)
        return self.events

    def until_ended(self, count: int = 1) -> list[Ended]:
        self.until(lambda events: sum(isinstance(one, Ended) for one in events) >= count)
        return [one for one in self.events if isinstance(one, Ended)]

    def reports(self) -> list[dict[str, Any]]:
        return [dict(one.metrics) for one in self.events if isinstance(one, Reported)]

    def text(self, stream: str = "stdout") -> str:
        return "".join(text for _, name, text in self.printed if name == stream)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    opened: list[Run] = []

    def open_run(trainable: Any, job: dict[str, Any] | None = None, **engine: Any) -> Run:
        opened.append(Run(tmp_path, trainable, job or {}, **engine))
        return opened[-1]

    yield open_run
    for one in opened:
        one.engine.close()


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def parent_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def wait_until_gone(pids: list[int], within_s: float = 60.0) -> None:
    give_up_at = time.monotonic() + within_s
    while left := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < give_up_at, f"{left} still run"
        time.sleep(0.01)


# --- trainables ---------------------------------------------------------------------------


def where_am_i(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {
        "pid": os.getpid(),
        "gpus": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "threads": os.environ.get("OMP_NUM_THREADS"),
        "folder": os.getcwd(),
        "argv": sys.argv,
        "leader": os.getsid(0) == os.getpid(),
    }


def leaves_processes(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    child = subprocess.Popen(["sleep", "300"])
    # and one that has lost its parent and left the session
    script = (
        "import os, time; os.fork() and os._exit(0); os.setsid(); "
        "print(os.getpid(), flush=True); time.sleep(300)"
    )
    daemon = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert daemon.stdout is not None
    yield {"pids": [child.pid, int(daemon.stdout.readline())]}
    if config.get("stays"):
        time.sleep(300)


def reports_for_ever(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    while True:
        yield {"pid": os.getpid()}
        time.sleep(0.01)


def ignores_halt(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"pid": os.getpid()}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


# --- tests --------------------------------------------------------------------------------


def test_a_trial_is_a_session_of_its_own_in_the_drivers_folder(run: Callable[..., Run]) -> None:
    one = run(where_am_i)
    one.start(0)
    assert one.until_ended()[0].cause == "returned"
    (report,) = one.reports()
    assert report["pid"] != os.getpid()
    assert report["leader"]
    assert report["folder"] == os.getcwd()
    assert report["argv"] == sys.argv
    assert report["gpus"] == ""
    assert report["threads"] == "1"


def test_fresh_processes_by_default_and_one_with_reuse(run: Callable[..., Run]) -> None:
    for reuse, pids in ((False, 4), (True, 1)):
        one = run(where_am_i, {"reuse": reuse})
        for index in range(4):
            one.start(index)
            assert one.until_ended(index + 1)[-1].cause == "returned"
        assert len({report["pid"] for report in one.reports()}) == pids


def test_what_a_trial_leaves_behind_is_gone_when_its_end_is_told(run: Callable[..., Run]) -> None:
    one = run(leaves_processes)
    one.start(0)
    assert one.until_ended()[0].cause == "returned"
    (report,) = one.reports()
    assert not [pid for pid in report["pids"] if is_alive(pid)]


def test_kill_9_of_a_worker_is_told_once_and_leaves_nothing(run: Callable[..., Run]) -> None:
    one = run(leaves_processes)
    one.start(0, {"stays": True})
    one.until(lambda events: any(isinstance(event, Reported) for event in events))
    (pid,) = [event.pid for event in one.events if isinstance(event, Started)]
    os.kill(pid, signal.SIGKILL)
    (ended,) = one.until_ended()
    assert (ended.cause, ended.error) == ("lost", "killed by signal 9 (SIGKILL); out of memory?")
    assert not [pid for pid in one.reports()[0]["pids"] if is_alive(pid)]


def test_a_worker_that_died_while_idle_is_replaced(run: Callable[..., Run]) -> None:
    one = run(where_am_i, {"reuse": True})
    one.start(0)
    one.until_ended()
    os.kill(one.reports()[0]["pid"], signal.SIGKILL)
    one.start(1)
    assert one.until_ended(2)[1].cause == "returned"
    assert len({report["pid"] for report in one.reports()}) == 2


def test_a_killed_server_is_replaced(run: Callable[..., Run]) -> None:
    one = run(reports_for_ever)
    one.start(0)
    one.until(lambda events: any(isinstance(event, Reported) for event in events))
    pid = one.reports()[0]["pid"]
    os.kill(parent_of(pid), signal.SIGKILL)
    (ended,) = one.until_ended()
    assert ended.cause == "lost"
    assert "killed by signal 9 (SIGKILL)" in ended.error
    wait_until_gone([pid])
    one.start(1)
    one.until(
        lambda events: any(isinstance(event, Started) and event.trial_id.endswith("1") for event in events)
    )


def test_the_halt_ladder_ends_with_sigkill(run: Callable[..., Run]) -> None:
    one = run(ignores_halt, {"grace_s": 0.1})
    trial_id = one.start(0)
    one.until(lambda events: any(isinstance(event, Reported) for event in events))
    one.engine.submit([Halt(trial_id, 0)])
    (ended,) = one.until_ended()
    assert ended.cause == "killed"
    assert ended.error == "did not halt within 0.1 s: killed by signal 9 (SIGKILL)"


def test_halt_unwinds_a_trial_that_waits_in_report(run: Callable[..., Run]) -> None:
    one = run(reports_for_ever)
    trial_id = one.start(0, until_t=0)
    one.until(lambda events: any(isinstance(event, Reported) for event in events))
    one.engine.submit([Proceed("another", 0, NEVER), Proceed(trial_id, 7, NEVER), Halt(trial_id, 0)])
    (ended,) = one.until_ended()
    assert ended.cause == "halted"
    assert len(one.reports()) == 1


def test_prints_come_with_the_trials_name_before_its_end(run: Callable[..., Run]) -> None:
    def chatty(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
        print("out", config["i"])
        os.system("echo from a child")
        yield {"pid": os.getpid()}
        sys.stderr.write("no newline")

    one = run(chatty)
    one.start(0, {"i": 5})
    one.until_ended()
    name = f"(train_358bb_00000 pid={one.reports()[0]['pid']})"
    assert one.text() == f"{name} out 5\n{name} from a child\n"
    assert one.text("stderr") == f"{name} no newline\n"


def test_log_to_file_appends_to_the_trials_folder(run: Callable[..., Run], tmp_path: Path) -> None:
    def chatty(config: dict[str, Any]) -> dict[str, Any]:
        print("out")
        sys.stderr.write("err\n")
        return {"loss": 1}

    one = run(chatty, {"log_to_file": ("stdout", "stderr")})
    for index in (0, 0, 1):
        one.start(index)
        one.until_ended(1)
        one.events.clear()
    assert (tmp_path / "358bb_00000" / "stdout").read_text() == "out\nout\n"
    assert (tmp_path / "358bb_00001" / "stderr").read_text() == "err\n"
    assert not one.printed


def test_output_that_is_not_captured_goes_where_the_drivers_goes(
    run: Callable[..., Run], capfd: pytest.CaptureFixture[str]
) -> None:
    def chatty(config: dict[str, Any]) -> dict[str, Any]:
        print("plain")
        return {"loss": 1}

    one = run(chatty, {"captures_output": False})
    one.start(0)
    one.until_ended()
    assert capfd.readouterr().out == "plain\n"
    assert not one.printed


def test_one_trials_flood_does_not_hold_up_another(run: Callable[..., Run]) -> None:
    def floods_or_reports(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
        while config["floods"]:
            os.write(1, b"x" * 79 + b"\n" * 800)
        for t in range(50):
            yield {"t": t}

    one = run(floods_or_reports)
    one.start(0, {"floods": True})
    one.until(lambda events: bool(one.printed))
    one.start(1, {"floods": False}, until_t=0)
    while not any(isinstance(event, Ended) for event in one.events):
        events = one.engine.poll(5.0)
        one.events += events
        one.engine.submit(
            [Proceed(event.trial_id, 0, 0) for event in events if isinstance(event, Reported)],
        )
        one.printed.clear()
    assert len(one.reports()) == 50


def test_what_modules_print_as_they_are_imported_is_not_shown_again(
    run: Callable[..., Run],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "chatty_module.py").write_text("print('imported')\ndef train(config): return {'loss': 1}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import chatty_module

    one = run(chatty_module.train)
    one.start(0)
    assert one.until_ended()[0].cause == "returned"
    assert capfd.readouterr().out == "imported\n"
    assert not one.printed


@pytest.mark.parametrize("ids", [("4", "5", "7"), ("GPU-1a2b", "MIG-3c", "MIG-4d")], ids=["indexes", "names"])
def test_fractions_of_fake_gpus_are_what_trials_see(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, ids: tuple[str, str, str]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(ids))
    one = run(where_am_i, gpus=3)
    for index, gpus in enumerate([((0, 0.5),), ((2, 0.5),), ((0, 1.0), (1, 1.0)), ()]):
        one.start(index, resources={"cpu": 1, "gpu": 0.5}, gpus=gpus)
    one.until_ended(4)
    seen = {event.trial_id[-1]: event.metrics["gpus"] for event in one.events if isinstance(event, Reported)}
    assert seen == {"0": ids[0], "1": ids[2], "2": f"{ids[0]},{ids[1]}", "3": ""}


def test_threads_of_loaded_pools_follow_the_trials_cpus(run: Callable[..., Run]) -> None:
    import numpy as np

    def pools(config: dict[str, Any]) -> dict[str, Any]:
        np.ones((4, 4)) @ np.ones((4, 4))
        import threadpoolctl

        return {
            "pools": [pool["num_threads"] for pool in threadpoolctl.threadpool_info()],
            "variable": os.environ["OMP_NUM_THREADS"],
        }

    one = run(pools)
    for index, cpus in enumerate((1, 2, 0.5)):
        one.start(index, resources={"cpu": cpus})
        one.until_ended(index + 1)
    reports = one.reports()
    assert all(report["pools"] for report in reports)
    assert [set(report["pools"]) for report in reports] == [{1}, {2}, {1}]
    assert [report["variable"] for report in reports] == ["1", "2", "1"]


def test_forks_do_not_share_random_numbers(run: Callable[..., Run]) -> None:
    import random

    import numpy as np

    def draw(config: dict[str, Any]) -> dict[str, Any]:
        return {"drawn": [random.random(), float(np.random.rand())]}

    one = run(draw)
    for index in range(3):
        one.start(index)
    one.until_ended(3)
    for column in zip(*[report["drawn"] for report in one.reports()], strict=True):
        assert len(set(column)) == 3


def test_a_module_that_starts_a_thread_spawns_its_trials(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "threaded_module.py").write_text(
        textwrap.dedent("""
        import os, threading
        threading.Thread(target=threading.Event().wait, daemon=True, name="watcher").start()
        def train(config):
            return {"threads": [one.name for one in threading.enumerate()], "pid": os.getpid()}
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    import threaded_module

    one = run(threaded_module.train)
    for index in range(2):
        one.start(index)
    assert [ended.cause for ended in one.until_ended(2)] == ["returned", "returned"]
    assert all("watcher" in report["threads"] for report in one.reports())
    (line,) = [text for trial_id, stream, text in one.printed if not trial_id and stream == "stderr"]
    assert line == (
        "overtone: trials of train start as new processes, which takes longer: importing its modules starts "
        "threads, which a fork would lose (1 Python thread(s) run there: watcher)\n"
    )


def test_a_module_that_cannot_be_imported_ends_each_trial_with_the_traceback(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "driver_only.py").write_text(
        f"import os\nassert os.getpid() == {os.getpid()}, 'only in the driver'\ndef train(config): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import driver_only

    for method in ("warm", "spawn"):
        one = run(driver_only.train, start_method=method)
        one.start(0)
        one.start(1)
        for ended in one.until_ended(2):
            assert (ended.cause, ended.error) == ("raised", "AssertionError: only in the driver")
            assert "driver_only.py" in ended.traceback
            assert "surroundings.py" not in ended.traceback


def test_a_module_that_kills_its_process_is_told_with_what_it_printed(
    run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deadly_module.py").write_text(
        f"import os\nif os.getpid() != {os.getpid()}:\n    os.write(2, b'argh')\n    os.abort()\n"
        "def train(config): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import deadly_module

    one = run(deadly_module.train)
    one.start(0)
    (ended,) = one.until_ended()
    assert ended.cause == "raised"
    assert ended.error == (
        "the process that imported the trainable's modules was killed by signal 6 (SIGABRT); "
        "it printed:\nargh"
    )


def test_what_cannot_be_pickled_is_named(run: Callable[..., Run]) -> None:
    lock = threading.Lock()

    def helper() -> bool:
        return lock.locked()

    def train(config: dict[str, Any]) -> dict[str, Any]:
        return {"locked": helper()}

    with pytest.raises(
        TrainableError, match=r"the captured variable 'lock' \(by way of .*'helper'\), a _thread.lock"
    ):
        run(train)


def test_configs_may_hold_what_pickle_cannot_carry(run: Callable[..., Run]) -> None:
    def call(config: dict[str, Any]) -> dict[str, Any]:
        return {"value": config["f"](3)}

    one = run(call)
    one.start(0, {"f": lambda x: x + 1})
    assert one.until_ended()[0].cause == "returned"
    assert one.reports()[0]["value"] == 4


def test_a_config_that_nothing_can_carry_ends_its_trial(run: Callable[..., Run]) -> None:
    one = run(where_am_i)
    one.start(0, {"lock": threading.Lock()})
    one.start(1)
    ended = one.until_ended(2)
    assert {event.trial_id[-1]: event.cause for event in ended} == {"0": "raised", "1": "returned"}
    assert "_thread.lock" in ended[0].error


def test_close_ends_everything_twice_is_safe_and_poll_survives_it(run: Callable[..., Run]) -> None:
    one = run(leaves_processes)
    for index in range(3):
        one.start(index, {"stays": True})
    one.until(lambda events: sum(isinstance(event, Reported) for event in events) == 3)
    pids = [event.pid for event in one.events if isinstance(event, Started)]
    pids += [pid for report in one.reports() for pid in report["pids"]]
    one.engine.close()
    wait_until_gone(pids)
    one.engine.close()
    assert one.engine.poll(0.0) == []
    one.engine.submit([Halt("358bb_00000", 0)])


def test_close_from_a_signal_during_poll(run: Callable[..., Run]) -> None:
    one = run(reports_for_ever)
    trial_id = one.start(0, until_t=0)
    one.until(lambda events: any(isinstance(event, Reported) for event in events))
    before = signal.signal(signal.SIGUSR1, lambda *_: one.engine.close())
    try:
        threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGUSR1]).start()
        assert one.engine.poll(60.0) == []
    finally:
        signal.signal(signal.SIGUSR1, before)
    wait_until_gone([one.reports()[0]["pid"]])
    assert trial_id


# --- drivers as processes of their own ---------------------------------------------------

DRIVER = """
import os, subprocess, sys, tempfile
from pathlib import Path
from overtone import tune
from overtone.core.job import Job
from overtone.core.messages import NEVER, Ended, Reported, Start
from overtone.core.resources import Placement, Resources
from overtone.engines.local import Local

print("the script runs", flush=True)

class Model:
    pass

def train(config):
    import pickle
    assert type(pickle.loads(pickle.dumps(Model()))) is Model
    child = subprocess.Popen(["sleep", "300"])
    # one in its own session, which starts one in its own session and ends
    script = (
        "import subprocess as s; at = s.Popen(['sleep', '300'], start_new_session=True, stdout=s.DEVNULL); "
        "print(at.pid, flush=True)"
    )
    away = subprocess.run(
        [sys.executable, "-c", script], start_new_session=True, text=True, stdout=subprocess.PIPE
    )
    yield {
        "pids": [os.getpid(), os.getppid(), child.pid, int(away.stdout)], "read": sys.stdin.read(),
        "guard": int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1]),
    }
    if %(stays)r:
        import time
        time.sleep(300)

engine = Local(cpus=2, start_method=%(method)r)
engine.open(Job(train, "train", Path(tempfile.gettempdir())))
engine.submit([
    Start(f"a_{i}", 0, i, {}, Resources.of({"cpu": 1}), Placement(("local",), ((),)), until_t=NEVER)
    for i in range(2)
])
ended = 0
while ended < 2:
    for event in engine.poll(None):
        if isinstance(event, Reported):
            assert event.metrics["read"] == ""
            print("pids", *event.metrics["pids"], event.metrics["guard"], flush=True)
        if isinstance(event, Ended):
            print(event.cause, event.traceback, flush=True)
            ended += 1
engine.close()
"""


def drive(arguments: list[str], stays: bool, method: str | None, **options: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.Popen(
        [sys.executable, *arguments], env=environment, text=True, stdout=subprocess.PIPE, **options
    )


@pytest.mark.parametrize("method", ["warm", "spawn"])
@pytest.mark.parametrize("way", ["file", "stdin", "-c"])
def test_scripts_without_a_main_guard_run_once(way: str, method: str, tmp_path: Path) -> None:
    script = DRIVER % {"stays": False, "method": method}
    (tmp_path / "script.py").write_text(script)
    arguments = {"file": [str(tmp_path / "script.py")], "stdin": ["-"], "-c": ["-c", script]}[way]
    with open(tmp_path / "script.py") as text:
        driver = drive(arguments, False, method, stdin=text)
        output, _ = driver.communicate(timeout=100)
    assert driver.returncode == 0
    assert output.count("the script runs") == 1
    assert output.count("returned") == 2


@pytest.mark.parametrize(
    ("method", "victims"),
    [
        ("warm", ["driver"]),
        ("spawn", ["driver"]),
        ("warm", ["driver", "server"]),
        ("warm", ["stop server", "driver"]),
        ("warm", ["driver", "guard"]),
        ("warm", ["stop all", "driver"]),
        ("spawn", ["stop all", "driver"]),
    ],
)
def test_kill_9_of_the_driver_leaves_no_process(method: str, victims: list[str], tmp_path: Path) -> None:
    driver = drive(["-c", DRIVER % {"stays": True, "method": method}], True, method, stdin=subprocess.DEVNULL)
    assert driver.stdout is not None
    pids: list[int] = []
    while len(pids) < 10:
        words = driver.stdout.readline().split()
        assert words, "the driver ended"
        if words[0] == "pids":
            pids += map(int, words[1:])
    for victim in victims:
        if victim.startswith("stop"):
            for pid in pids if victim == "stop all" else [pids[1]]:
                os.kill(pid, signal.SIGSTOP)
        else:
            os.kill({"driver": driver.pid, "server": pids[1], "guard": pids[4]}[victim], signal.SIGKILL)
    driver.wait()
    wait_until_gone(pids)
    driver.stdout.close()


@pytest.mark.parametrize("victim", ["server", "guard"])
def test_kill_9_of_what_makes_the_processes_leaves_none_of_them(victim: str, run: Callable[..., Run]) -> None:
    one = run(leaves_processes)
    one.start(0, {"stays": True})
    one.until(lambda events: any(isinstance(event, Reported) for event in events))
    (trial,) = [event.pid for event in one.events if isinstance(event, Started)]
    server = parent_of(trial)
    old = [trial, server, parent_of(server), *one.reports()[0]["pids"]]
    os.kill(server if victim == "server" else parent_of(server), signal.SIGKILL)
    (ended,) = one.until_ended()
    assert (ended.cause, "killed by signal 9 (SIGKILL)" in ended.error) == ("lost", True)
    wait_until_gone(old)
    one.start(1)
    assert one.until_ended(2)[1].cause == "returned"


def test_kill_9_of_the_driver_while_the_server_imports(tmp_path: Path) -> None:
    (tmp_path / "slow_module.py").write_text(
        "import os, time\nif os.getpid() != int(os.environ['DRIVER']):\n"
        "    open(os.environ['SAYS'], 'w').write(str(os.getpid()))\n    time.sleep(300)\n"
        "def train(config): pass\n"
    )
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); os.environ['DRIVER'] = str(os.getpid())\n"
        "os.environ['SAYS'] = sys.argv[1] + '/pid'\nimport slow_module\n" + DRIVER
    ).replace("Job(train,", "Job(slow_module.train,") % {"stays": True, "method": "warm"}
    driver = drive(["-c", script, str(tmp_path)], True, "warm", stdin=subprocess.DEVNULL)
    says = tmp_path / "pid"
    give_up_at = time.monotonic() + 60
    while not says.exists() or not says.read_text():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
    driver.kill()
    driver.communicate()
    wait_until_gone([int(says.read_text())])


def loaded_before(config: dict[str, Any]) -> None:
    loaded = [name for name in sys.modules if name.startswith("overtone.tune")]
    tune.report({"modules": loaded})


def test_what_report_needs_is_imported_before_trials_are_forked(tmp_path: Path) -> None:
    analysis = tune.run(loaded_before, storage_path=str(tmp_path), verbose=0)

    assert "overtone.tune.session" in analysis.trials[0].last_result["modules"]
