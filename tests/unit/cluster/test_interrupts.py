"""Questions to a person, their limits, and Ctrl-C while something is finished."""

from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from overtone.cluster import apply, interrupts
from overtone.cluster.config_reading import read_config
from overtone.cluster.interrupts import Interrupts, ask_yes_or_no
from overtone.cluster.progress import Progress
from overtone.cluster.resource import Resource
from overtone.cluster.state import State

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="clusters are not started from Windows")


class Person:
    """A person at a terminal."""

    def __init__(self, monkeypatch, capsys):
        self._ours, theirs = pty.openpty()
        self._theirs, self._capsys = os.fdopen(theirs, encoding="utf-8"), capsys
        monkeypatch.setattr("sys.stdin", self._theirs)

    def types(self, text):
        os.write(self._ours, text.encode())

    def sees(self):
        """Return what was printed since this was asked last."""
        return self._capsys.readouterr().err

    def leave(self):
        os.close(self._ours)
        self._theirs.close()


@pytest.fixture
def person(monkeypatch, capsys):
    made = Person(monkeypatch, capsys)
    yield made
    made.leave()


@pytest.mark.parametrize(
    ("typed", "default", "answer"),
    [
        ("y\n", False, True), ("YES\n", False, True), ("n\n", True, False), ("No \n", True, False),
        ("\n", True, True), ("\n", False, False), ("\x04", True, True), ("\x04", False, False),
    ],
)  # fmt: skip
def test_the_answers_to_a_question(person, typed, default, answer):
    person.types(typed)
    assert ask_yes_or_no("take it down?", default=default) is answer
    end = "\n" if typed == "\x04" else ""  # a terminal shows Enter by itself
    assert person.sees() == f"\novertone: take it down? [{'Y/n' if default else 'y/N'}] {end}"


def test_any_other_answer_is_asked_about_again(person):
    person.types("maybe\nnein\nno thanks\nn\n")
    assert ask_yes_or_no("take it down?") is False
    screen = person.sees()
    assert screen.count("overtone: take it down? [Y/n] ") == 4
    assert screen.count("overtone: answer y or n\n") == 3


@pytest.mark.parametrize("default", [True, False])
def test_a_question_that_nobody_answers_has_an_end(person, default):
    person.types("half a line without Enter")
    assert ask_yes_or_no("take it down?", default=default, within_s=0.05) is default
    word = "yes" if default else "no"
    assert f"; {word} after 0.05 s without an answer] \novertone: no answer within 0.05 s: {word}\n" in (
        person.sees()
    )


@pytest.mark.parametrize("typed", ["n\x04", "maybe\nn\x04"], ids=["half a line", "a wrong answer before it"])
def test_the_limit_holds_for_half_a_line_and_for_all_answers_together(person, typed):
    person.types(typed)  # at a terminal, Ctrl-D hands over what was typed so far
    assert ask_yes_or_no("take it down?", within_s=0.2) is True
    assert "no answer within 0.2 s: yes" in person.sees()


def test_half_a_line_is_the_answer_if_the_input_ends_there(person):
    person.types("n\x04\x04")  # the first hands over the letter, the second is the end
    assert ask_yes_or_no("take it down?", within_s=60) is False


def test_in_the_background_of_a_shell_nobody_is_waited_for(tmp_path):
    """To read the terminal there would stop the process."""
    code = (
        "import os, signal, sys\n"
        "from overtone.cluster.interrupts import ask, ask_yes_or_no\n"
        "os.setpgid(0, 0)\n"
        "print(ask_yes_or_no('end?', within_s=60), ask('attach'), file=open(sys.argv[1], 'w'))\n"
    )
    ours, theirs = pty.openpty()
    shell = "import os, subprocess, sys; os.setsid(); os.close(os.open(os.ttyname(0), os.O_RDWR)); "
    shell += "sys.exit(subprocess.run([sys.executable, '-c', *sys.argv[1:]], timeout=300).returncode)"
    done = subprocess.run(
        [sys.executable, "-c", shell, code, str(tmp_path / "said")],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        timeout=300,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0
    assert (tmp_path / "said").read_text() == "True stop\n"


def test_a_signal_that_is_ignored_stays_ignored():
    """As `nohup` has it, so that a search goes on after its shell has ended."""
    numbers = (signal.SIGINT, signal.SIGHUP)
    before = [signal.signal(one, signal.SIG_IGN) for one in numbers]
    try:
        with Interrupts() as handled, handled.with_hangup():
            for one in numbers:
                press(one)
            with pytest.raises(KeyboardInterrupt):
                press(signal.SIGTERM)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@pytest.mark.parametrize(("typed", "choice"), [("d", "detach"), ("Stop", "stop"), ("continue", "continue")])
def test_what_ctrl_c_means_for_a_run(person, typed, choice):
    person.types(f"\ndon't\nsure\n{typed}\n")
    assert interrupts.ask("overtone attach c.yaml") == choice
    assert person.sees().count("[d]etach") == 4


CONFIG = "name: lab\nprovider: {type: local, hosts: [10.0.0.1], user: ada}\n"


class Machines:
    """A provider with one machine; a person presses Ctrl-C while it starts, and during its end.

    Attributes:
        n_presses: How often Ctrl-C is pressed during the end.
    """

    def __init__(self):
        self.resources, self.n_presses = [], 0

    def check(self, config):
        pass

    def find(self, config):
        return list(self.resources)

    def start(self, config, state, progress, for_run):
        self.resources.append(Resource("instance", "i-1", "running", 1.0))
        press(signal.SIGINT)

    def stop(self, config, state, progress):
        for _ in range(self.n_presses):
            press(signal.SIGINT)
        self.resources.clear()


def press(number):
    """Send a signal to this process, and have Python handle it."""
    os.kill(os.getpid(), number)
    time.sleep(0.01)


@pytest.fixture
def machines(tmp_path, monkeypatch):
    monkeypatch.setenv("OVERTONE_HOME", str(tmp_path / "home"))
    made = Machines()
    monkeypatch.setattr(apply, "provider_of", lambda config: made)
    (tmp_path / "c.yaml").write_text(CONFIG)
    made.config = read_config(tmp_path / "c.yaml")
    made.progress = Progress(stream=io.StringIO())
    return made


def test_a_start_that_a_person_interrupts_and_walks_away_from_is_taken_down(machines, person, monkeypatch):
    monkeypatch.setattr(apply, "ANSWER_S", 0.05)
    with pytest.raises(KeyboardInterrupt):
        apply.up(machines.config, machines.progress, ask=ask_yes_or_no)
    assert machines.resources == []
    assert State("lab").info()["phase"] == "down"
    assert "take down what was started of lab? [Y/n; yes after 0.05 s without an answer]" in person.sees()


def test_what_a_person_keeps_stays(machines, person):
    person.types("n\n")
    with pytest.raises(KeyboardInterrupt):
        apply.up(machines.config, machines.progress, ask=ask_yes_or_no)
    assert [one.id for one in machines.resources] == ["i-1"]
    assert "stays and may cost" in machines.progress._stream.getvalue()


def test_ctrl_c_at_the_question_takes_down(machines):
    def ask(*_, **__):
        press(signal.SIGINT)
        raise AssertionError("Ctrl-C did not end the question")

    with pytest.raises(KeyboardInterrupt):
        apply.up(machines.config, machines.progress, ask=ask)
    assert machines.resources == []


@pytest.mark.parametrize("has_caller", [False, True], ids=["up", "submit"])
@pytest.mark.parametrize(("n_presses", "n_left"), [(1, 0), (2, 1)])
def test_in_the_end_of_an_interrupted_start_ctrl_c_first_says_what_goes_on(
    machines, capfd, n_presses, n_left, has_caller
):
    machines.n_presses = n_presses
    with Interrupts() as caller, pytest.raises(KeyboardInterrupt):
        apply.up(machines.config, machines.progress, interrupts=caller if has_caller else None)
    said = capfd.readouterr().err
    assert said.count("overtone: taking the cluster down; press Ctrl-C again to leave it as it is") == 1
    assert len(machines.resources) == n_left
    is_told = "interrupted; something of lab may be left" in machines.progress._stream.getvalue()
    assert is_told == bool(n_left)


@pytest.mark.parametrize(("n_presses", "n_left"), [(1, 0), (2, 1)])
def test_ctrl_c_in_down_first_says_what_goes_on(machines, capfd, n_presses, n_left):
    machines.resources.append(Resource("instance", "i-1", "running", 1.0))
    machines.n_presses = n_presses
    if n_left:
        with pytest.raises(KeyboardInterrupt):
            apply.down(machines.config, machines.progress)
    else:
        apply.down(machines.config, machines.progress)
    assert capfd.readouterr().err.count("overtone: taking the cluster down; press Ctrl-C again") == 1
    assert len(machines.resources) == n_left
    assert ("overtone down " in machines.progress._stream.getvalue()) == bool(n_left)


def test_a_terminal_that_closes_during_the_end_does_not_stop_it(machines):
    machines.resources.append(Resource("instance", "i-1", "running", 1.0))
    machines.stop = lambda *_: (press(signal.SIGHUP), press(signal.SIGHUP), machines.resources.clear())
    apply.down(machines.config, machines.progress)
    assert machines.resources == []


def test_handlers_of_signals_are_those_of_before(machines):
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with pytest.raises(KeyboardInterrupt):
        apply.up(machines.config, machines.progress)
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_the_status_line_stays_below_what_ctrl_c_shows(capfd):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    progress = Progress(stream=terminal)
    with Interrupts(progress) as interrupts, progress.phase("bring back"):
        interrupts.shield("bringing results back")
        progress.note("results")
        press(signal.SIGINT)
        shown = terminal.getvalue() + capfd.readouterr().err
    assert re.sub(r"\d\.\d s", "0.0 s", shown) == (
        "overtone: bring back ...\r\x1b[Kovertone: bring back: results (0.0 s)"
        "\r\x1b[Kovertone: bringing results back\novertone: bring back: results (0.0 s)"
    )
    assert re.search(r"\r\x1b\[Kovertone: bring back: done in \d\.\d s\n$", terminal.getvalue())
