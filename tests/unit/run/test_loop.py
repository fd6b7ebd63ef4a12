"""One result's way: controller, journal, observers, and only then back to the engine."""

import threading

import pytest

from overtone.control.inbox import Inbox
from overtone.control.requests import requested
from overtone.core import messages as m
from overtone.core.limits import Limits
from overtone.core.outcome import Outcome
from overtone.core.protocols import Engine, Observer, Searcher
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.errors import StorageError
from overtone.run import loop as module
from overtone.run.loop import Loop
from overtone.run.searcher_host import InlineHost
from overtone.run.storage.deletions import Deletions
from overtone.standard_streams import say
from overtone.testing.scripted_driver import ScriptedController


class Scripted:
    """A controller that answers each event as it is told to, and is done when its events are."""

    def __init__(self, answers=None, done_after=1):
        self.answers, self.trials, self.seen = answers or {}, {}, []
        self.choices_so_far = ()
        self._done_after = done_after

    @property
    def is_done(self):
        return len(self.seen) >= self._done_after

    def handle(self, event):
        self.seen.append(event)
        answer = self.answers.get(type(event), Outcome((), []))
        return answer(event) if callable(answer) else answer


class FakeEngine(Engine):
    """Gives out batches of events, and notes commands in `log`."""

    def __init__(self, batches=(), log=None, on_submit=None):
        self.batches, self.log, self.n_wakes = list(batches), [] if log is None else log, 0
        self.on_submit = on_submit or (lambda command: None)

    def open(self, job):
        """Nothing to prepare."""

    def now(self):
        return 7.0

    def submit(self, commands):
        self.log += [("command", command) for command in commands]
        for command in commands:
            self.on_submit(command)

    def poll(self, timeout_s):
        return self.batches.pop(0) if self.batches else []

    def close(self):
        """Nothing to end."""

    def wake(self):
        self.n_wakes += 1


class Counting(Searcher):
    def suggest(self, index):
        return {"index": index}


class Noting(Observer):
    def __init__(self, log, fails_at=None, name="seen"):
        self._log, self._fails_at, self._name = log, fails_at, name

    def on_record(self, record):
        if record.n == self._fails_at:
            raise KeyError("missing")
        self._log.append((self._name, record.n))

    def flush(self):
        self._log.append((self._name, "flush"))


def reported(t, trial_id="a"):
    return m.Reported(float(t), trial_id, 0, t, {})


def loop_of(controller, engine, observers=(), append=None, warned=None, searcher=None):
    log = engine.log
    return Loop(
        controller, engine, InlineHost(searcher or Counting(), engine.now),
        append or (lambda records: log.append(("journal", [record.n for record in records]))), observers,
        (warned if warned is not None else []).append,
    )  # fmt: skip


PROCEED = m.Proceed("a", 0, 0.0)


def test_a_result_is_logged_and_shown_before_the_trial_goes_on():
    engine = FakeEngine()
    controller = Scripted({m.Reported: Outcome((), [PROCEED])})
    loop_of(controller, engine, [Noting(engine.log)]).pump([reported(1), reported(2)])
    assert engine.log == [
        ("journal", [2, 3]), ("seen", 2), ("seen", 3), ("seen", "flush"), ("command", PROCEED), ("command", PROCEED),
    ]  # fmt: skip


def test_what_came_too_late_is_nowhere():
    engine = FakeEngine()
    loop_of(Scripted({m.Reported: Outcome((), [], is_stale=True)}), engine, [Noting(engine.log)]).pump(
        [reported(1)]
    )
    assert engine.log == []


def test_the_searchers_answers_are_facts_of_the_same_batch():
    engine = FakeEngine()
    controller = Scripted(
        {m.CapacityChanged: Outcome((), [m.Suggest(0), m.Suggest(1), m.Want(Resources(((),)), 1)])}
    )
    loop_of(controller, engine).pump([m.CapacityChanged(0.0, {})])
    assert controller.seen[1:] == [m.Suggested(7.0, 0, {"index": 0}), m.Suggested(7.0, 1, {"index": 1})]
    assert engine.log == [("journal", [2, 3, 4]), ("command", m.Want(Resources(((),)), 1))]


def test_every_observer_sees_a_record_before_the_next_one():
    engine = FakeEngine()
    observers = [Noting(engine.log, name="one"), Noting(engine.log, name="two")]
    loop_of(Scripted(), engine, observers).pump([reported(1), reported(2)])
    assert engine.log[1:5] == [("one", 2), ("two", 2), ("one", 3), ("two", 3)]


def test_an_observer_that_raises_is_disconnected_with_one_line():
    engine, warned = FakeEngine(), []
    observers = [Noting(engine.log, fails_at=2, name="bad"), Noting(engine.log, name="good")]
    loop = loop_of(Scripted(), engine, observers, warned=warned)
    loop.pump([reported(1), reported(2)])
    loop.pump([reported(3)])
    assert [entry for entry in engine.log if entry[0] == "bad"] == []
    assert [n for name, n in engine.log if name == "good"] == [2, 3, "flush", 4, "flush"]
    (line,) = warned
    assert line.startswith("Noting raised KeyError: 'missing' (")
    assert "test_loop.py:" in line
    assert line.endswith("it is disconnected, the run goes on")


def test_a_journal_that_cannot_be_written_is_tried_again(monkeypatch):
    monkeypatch.setattr(module.time, "sleep", lambda pause_s: None)
    engine, warned, tries = FakeEngine(), [], []

    def append(records):
        tries.append([record.n for record in records])
        if len(tries) < 3:
            raise StorageError("no space left")

    controller = Scripted({m.Reported: Outcome((), [PROCEED])})
    loop_of(controller, engine, append=append, warned=warned).pump([reported(1)])
    assert tries == [[2], [2], [2]]
    assert engine.log == [("command", PROCEED)]
    assert warned == ["no space left (trying again for 60 s)"]


@pytest.fixture
def full(monkeypatch):
    """Appends to a journal on a disk that stays full, while time passes quickly."""
    clock = iter(range(0, 1000, 25))
    monkeypatch.setattr(module.time, "sleep", lambda pause_s: None)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))

    def append(records):
        raise StorageError("no space left")

    return append


def test_and_given_up_in_the_end(full):
    engine = FakeEngine()
    controller = Scripted({m.Reported: Outcome((), [PROCEED])})
    with pytest.raises(StorageError):
        loop_of(controller, engine, append=full).pump([reported(1)])
    assert engine.log == []  # nobody goes on


def test_trials_are_not_asked_to_save_what_nobody_could_record(full):
    engine, warned = FakeEngine([[reported(1)]]), []
    controller = Scripted({m.Reported: Outcome((), [PROCEED])}, done_after=3)
    controller.trials = {"a": Trial("a", 0, {}, Resources.of({"cpu": 1}), Status.RUNNING)}
    with pytest.raises(StorageError):
        loop_of(controller, engine, append=full, warned=warned).run()
    assert not any(what == "command" for what, _ in engine.log)
    assert warned == ["no space left (trying again for 60 s)"]


def test_it_runs_until_the_controller_is_done():
    engine = FakeEngine([[reported(1)], [], [reported(2), reported(3)], [reported(4)]])
    controller = Scripted(done_after=3)
    loop_of(controller, engine).run()
    assert [event.t for event in controller.seen] == [1, 2, 3]
    assert engine.batches == [[reported(4)]]


def test_it_waits_for_deletions():
    discard, gone = m.Discard("a/1"), m.Discarded(7.0, "a/1")
    engine = FakeEngine([[reported(1)], [], [gone], [reported(2)]])
    controller = Scripted({m.Reported: Outcome((), [discard])}, done_after=1)
    loop_of(controller, engine).run()
    assert controller.seen == [reported(1), gone]
    assert ("journal", [3]) in engine.log


def test_of_what_an_earlier_driver_missed_only_deletions_are_carried_out():
    discard, start = m.Discard("a/1"), m.Start("b", 0, 1, {}, None, None)
    engine, asked = FakeEngine(), []
    searcher = Counting()
    searcher.suggest = asked.append
    loop = loop_of(
        Scripted({m.Reported: Outcome((), [discard, start, PROCEED, m.Suggest(3)])}),
        engine,
        searcher=searcher,
    )
    loop._deletions = Deletions(lambda: 10, lambda: 10, lambda: None)
    loop.pump([reported(1)], is_past=True)
    assert engine.log == [("journal", [2]), ("command", discard)]
    assert asked == []
    assert loop._outstanding.asked == {3}


def test_a_deletion_waits_until_the_journal_is_safe():
    safe = []
    discard, gone = m.Discard("a/1"), m.Discarded(7.0, "a/1")
    engine = FakeEngine([[reported(1)], [], [gone]])
    loop = loop_of(Scripted({m.Reported: Outcome((), [discard, PROCEED])}), engine)
    loop._deletions = Deletions(lambda: 10, lambda: 10 * len(safe), lambda: safe.append(True))
    loop.pump([reported(1)])
    assert [what for kind, what in engine.log if kind == "command"] == [PROCEED]
    loop.run()  # at the end the journal is made safe
    assert [what for kind, what in engine.log if kind == "command"][1] == discard


def test_a_run_that_is_left_does_not_wait_for_a_journal_that_is_never_safe():
    engine = FakeEngine([[reported(1)]])
    loop = loop_of(Scripted({m.Reported: Outcome((), [m.Discard("a/1")])}, done_after=2), engine)
    loop._deletions = Deletions(lambda: 10, lambda: 0, lambda: None)
    loop.pump([reported(1)])
    loop.leave()
    loop.run()
    assert [what for kind, what in engine.log if kind == "command"] == []


def test_but_not_for_ever(monkeypatch):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    engine = FakeEngine([[reported(1)]])
    loop_of(Scripted({m.Reported: Outcome((), [m.Discard("a/1")])}), engine).run()
    assert next(clock) < 40


def test_leaving_ends_it_after_the_batch():
    engine = FakeEngine([[reported(1)], [reported(2)]])
    controller = Scripted(done_after=9)
    loop = loop_of(controller, engine)
    controller.answers[m.Reported] = lambda event: (loop.leave(), Outcome((), []))[1]
    loop.run()
    assert controller.seen == [reported(1)]


def test_an_interruption_from_another_thread_becomes_an_event():
    engine = FakeEngine()
    controller = Scripted()
    loop = loop_of(controller, engine)
    thread = threading.Thread(target=loop.interrupt)
    thread.start()
    thread.join()
    assert engine.n_wakes == 1
    loop.run()
    assert controller.seen == [m.Interrupted(7.0)]


def asking_loop(done_after, append=None):
    """A loop with an inbox, whose controller is done after so many events."""

    class Controller(ScriptedController):
        choices_so_far = ()

        @property
        def is_done(self):
            return len(self.handled) >= done_after

    engine, controller = FakeEngine(), Controller()
    inbox = Inbox(controller)
    log = engine.log
    append = append or (lambda records: log.append(("journal", [record.n for record in records])))
    host = InlineHost(Counting(), engine.now)
    return Loop(controller, engine, host, append, [Noting(log)], log.append, inbox=inbox), inbox, engine


def asked(inbox, log, what="note", **fields):
    inbox.put(
        requested({"what": what, "note": "hello", **fields}), lambda answer: log.append(answer.get("n"))
    )


def test_a_request_is_in_the_journal_before_it_is_answered_and_seen():
    loop, inbox, engine = asking_loop(done_after=2)
    asked(inbox, engine.log)
    asked(inbox, engine.log)
    assert engine.n_wakes == 2
    loop.run()
    assert engine.log == [("journal", [2, 3]), 2, 3, ("seen", 2), ("seen", 3), ("seen", "flush")]


def test_a_request_at_the_end_is_handled_and_a_later_one_is_refused():
    loop, inbox, engine = asking_loop(done_after=1)
    loop.pump([m.Tick(1.0)])
    asked(inbox, engine.log)  # The controller is done already.
    loop.run()
    asked(inbox, engine.log)
    assert [each for each in engine.log if not isinstance(each, tuple)] == [3, None]


def test_requests_are_answered_if_the_journal_cannot_be_written():
    def fail(records):
        raise ValueError("not a journal")

    loop, inbox, engine = asking_loop(done_after=2, append=fail)
    asked(inbox, engine.log)
    with pytest.raises(ValueError, match="not a journal"):
        loop.run()
    assert engine.log.count(None) == 1


def test_where_something_that_decides_is_broken_trials_are_asked_to_save():
    trial = Trial("a", 0, {}, Resources.of({"cpu": 1}), Status.RUNNING, attempt=2)
    other = Trial("b", 1, {}, Resources.of({"cpu": 1}))
    saved, ended = reported(2), m.Ended(7.0, "a", 2, "halted")
    engine = FakeEngine([[reported(1)], [saved, m.Tick(7.0)], [ended]])

    def broken(event):
        raise RuntimeError("no idea")

    controller = Scripted({m.Reported: broken})
    controller.trials = {"a": trial, "b": other}
    with pytest.raises(RuntimeError, match="no idea"):
        loop_of(controller, engine).run()
    # what it broke on, the interruption, what the trial still said (which breaks it again), its end
    assert engine.log == [
        ("journal", [2]), ("journal", [3]), ("command", m.Halt("a", 2, save=True)), ("journal", [4]),
        ("journal", [5]),
    ]  # fmt: skip
    assert controller.seen == [reported(1), m.Interrupted(7.0), saved, ended]
    assert engine.batches == []


def test_what_a_searcher_breaks_on_is_on_record():
    class Broken(Counting):
        def suggest(self, index):
            raise RuntimeError("no idea")

    engine = FakeEngine([[reported(1)]])
    controller = Scripted({m.Reported: Outcome((), [m.Suggest(0)])})
    with pytest.raises(RuntimeError, match="no idea"):
        loop_of(controller, engine, searcher=Broken()).run()
    assert engine.log == [("journal", [2]), ("journal", [3])]


def test_an_engine_that_runs_trials_in_poll_gets_the_pump():
    class Attached(FakeEngine):
        def attach(self, pump):
            self.pump = pump

    engine = Attached()
    loop = loop_of(Scripted({m.Reported: Outcome((), [PROCEED])}), engine)
    engine.pump([reported(1)])
    assert engine.pump == loop.pump
    assert engine.log == [("journal", [2]), ("command", PROCEED)]


def test_warnings_go_to_stderr(capsys):
    say("look out")
    assert capsys.readouterr().err == "overtone: look out\n"


class AsksToSave(Observer):
    """Asks for a save of "a" whenever it sees a report."""

    def __init__(self):
        self.loop = None

    def on_record(self, record):
        if isinstance(record.event, m.Reported):
            self.loop.save("a")


@pytest.mark.parametrize("waits", [True, False])
def test_a_trial_that_an_observer_wants_saved_does_so_before_it_goes_on(waits):
    engine, observer = FakeEngine(), AsksToSave()
    save = m.Proceed("a", 0, 0.0, save=True)
    controller = Scripted(
        {m.Reported: Outcome((), [PROCEED] if waits else []), m.Requested: Outcome((), [save])}
    )
    observer.loop = loop_of(controller, engine, [observer])
    observer.loop.pump([reported(1)])
    assert controller.seen == [reported(1), m.Requested(7.0, "save_trial", "a")]
    assert engine.log == [("journal", [2]), ("journal", [3]), ("command", save)]


def test_one_that_has_ended_is_not_asked_to_save():
    engine, observer = FakeEngine(), AsksToSave()
    controller = Scripted({m.Requested: Outcome((), [], is_stale=True)})
    observer.loop = loop_of(controller, engine, [observer])
    observer.loop.pump([reported(1)])
    assert engine.log == [("journal", [2])]


def test_an_observer_that_ends_the_run_does_so_when_the_batch_is_carried_out():
    engine, warned = FakeEngine(), []
    strict = Noting(engine.log, fails_at=2, name="strict")
    strict.ends_run = True
    controller = Scripted({m.Reported: Outcome((), [PROCEED])})
    loop = loop_of(controller, engine, [strict, Noting(engine.log)], warned=warned)
    with pytest.raises(KeyError, match="missing"):
        loop.pump([reported(1), reported(2)])
    assert engine.log == [
        ("journal", [2, 3]), ("seen", 2), ("strict", 3), ("seen", 3), ("strict", "flush"), ("seen", "flush"),
        ("command", PROCEED), ("command", PROCEED),
    ]  # fmt: skip
    loop.pump([reported(3)])  # It is raised once.
    assert (loop.disconnected, warned) == ([], [])


def test_an_interruption_waits_for_the_resume_that_would_undo_it():
    controller, engine = ScriptedController(), FakeEngine()
    loop = Loop(controller, engine, InlineHost(Counting(), engine.now), lambda records: None, [], print)
    loop.interrupt()
    loop.pump([m.Discarded(1.0, "a")], is_past=True)
    loop.pump([m.Resumed(2.0, Limits())])
    assert [type(event) for event in controller.handled] == [m.Discarded, m.Resumed, m.Interrupted]
