"""The socket of a run: who may speak there, what it holds up, and what it leaves behind."""

import json
import os
import socket
import stat
import threading
from contextlib import closing, suppress

import pytest

from overtone.control import meeting_place, requests, server
from overtone.control.answers import ControlError
from overtone.control.client import send
from overtone.control.holder import this_host
from overtone.control.meeting_place import PORT_FILE, SOCKET, connect
from overtone.control.requests import requested
from overtone.control.server import ControlServer
from overtone.control.wire import MOST_BYTES, frame_of, reader
from overtone.journal.header import new_header
from overtone.journal.lock import WriterLock
from overtone.journal.writer import JournalWriter
from overtone.run.attached import AttachedRun
from overtone.testing.scripted_driver import ScriptedController, ScriptedDriver
from overtone.worker.frames import framed

TRIAL = "358bb_00000"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "exp"
    folder.mkdir()
    return folder


@pytest.fixture
def driver(folder):
    """A driver that holds the folder's lock, and listens there."""
    driver = ScriptedDriver(ScriptedController(TRIAL, objections={"stop_trial": "it has ended"}))
    with driver.running():
        lock = WriterLock(folder / "journal.jsonl.lock")
        with closing(ControlServer(folder, driver.inbox)):
            yield driver
        lock.release()


@pytest.fixture
def no_sockets(monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(meeting_place, "_listening_socket", refuse)


def raw(folder):
    while True:
        with suppress(BlockingIOError):  # The queue of the socket is full for the moment.
            return connect(folder, 30.0)[0]


def received(connection):
    """Return the documents until the end of the connection."""
    incoming, documents = reader(), []
    connection.settimeout(30)
    while data := connection.recv(65536):
        documents += incoming.feed(data)
    return documents


def test_a_request_is_answered_with_its_record(driver, folder):
    run = AttachedRun(folder)
    assert run.pause("0") == 2
    assert run.note("a thought") == 3
    assert run.add({"lr": 0.1}) == "358bb_00001"
    assert run.clone("0", lr=0.2) == "358bb_00002"
    pause, note, added, clone = (record.event for record in driver.records)
    assert pause.who.endswith(" from Python")
    assert (note.note, added.config, clone.config) == ("a thought", {"lr": 0.1}, {"lr": 0.2})
    assert (clone.trial_id, clone.source) == (TRIAL, TRIAL)
    with pytest.raises(ControlError, match="it has ended"):
        run.stop_trial("0")


def test_the_socket_is_for_its_user_alone_and_goes_with_the_run(driver, folder):
    found = os.stat(folder / SOCKET)
    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert sorted(os.listdir(folder)) == [SOCKET, "journal.jsonl.lock"]


def test_nothing_is_left_of_the_way_in(folder):
    for _ in range(2):
        with closing(ControlServer(folder, ScriptedDriver(ScriptedController()).inbox)):
            assert (folder / SOCKET).exists()
        assert os.listdir(folder) == []


def test_a_stale_socket_and_what_a_killed_driver_left_are_replaced(folder):
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(folder / SOCKET))
    left.close()
    (folder / PORT_FILE).write_text("{}")
    (folder / ".control").mkdir()
    (folder / ".control" / SOCKET).touch()
    driver = ScriptedDriver(ScriptedController())
    with driver.running(), closing(ControlServer(folder, driver.inbox)):
        assert AttachedRun(folder).note("hello") == 2
        assert os.listdir(folder) == [SOCKET]


def test_a_path_of_any_length_has_a_socket(tmp_path):
    folder = tmp_path / ("long" * 60) / ("path" * 60)
    folder.mkdir(parents=True)
    driver = ScriptedDriver(ScriptedController())
    with driver.running(), closing(ControlServer(folder, driver.inbox)):
        assert AttachedRun(folder).note("hello") == 2


def test_without_sockets_a_port_and_a_token_serve(no_sockets, folder):
    driver = ScriptedDriver(ScriptedController())
    with driver.running(), closing(ControlServer(folder, driver.inbox)):
        assert stat.S_IMODE(os.stat(folder / PORT_FILE).st_mode) == 0o600
        assert AttachedRun(folder).note("hello") == 2
        token = json.loads((folder / PORT_FILE).read_text())["token"]
        for wrong in ({}, {"token": "no"}, {"token": token[:-1]}, {"token": 7}):
            with raw(folder) as connection:
                connection.sendall(frame_of({"protocol": 1, "what": "note", "note": "me too", **wrong}))
                (document,) = received(connection)
            assert document["kind"] == "foreign"
    assert os.listdir(folder) == []
    assert len(driver.records) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_refused_by_the_rights_and_by_the_driver(driver, folder):
    for above in (folder, *folder.parents[: len(folder.parents) - 2]):
        above.chmod(0o755)
    (folder / "journal.jsonl.lock").chmod(0o666)

    def told():
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.setgid(65534)
            os.setuid(65534)
            try:
                AttachedRun(folder).note("me too")
            except BaseException as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(0)
        os.close(write)
        with open(read) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        return said

    assert "only that user may steer it" in told()
    (folder / SOCKET).chmod(0o666)  # Somebody is careless.
    assert "belongs to user 0, not 65534" in told()
    assert driver.records == []


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        framed(b"[1]"),
        framed(b"{nothing"),
        framed(b"[" * 100_000),
        framed(b"\xff\xfe"),
        b"\xf0ovt\xff\xff\xff\xff",
        framed(b'{"protocol":99}'),
        framed(b"{}"),
    ],
)
def test_nonsense_is_refused_and_ends_its_connection_alone(driver, folder, data):
    with raw(folder) as connection:
        connection.sendall(data)
        (document,) = received(connection)
    assert document["kind"] in ("wrong", "version")
    assert AttachedRun(folder).note("hello") == 2


@pytest.mark.parametrize("field", ["priority", "limits", "resources", "config", "note", "what"])
def test_a_request_whose_check_raises_is_refused_and_the_way_in_stays_open(
    driver, folder, monkeypatch, field
):
    def check(name, value):
        raise OverflowError("too large")

    monkeypatch.setitem(requests._CHECKS, field, check)
    monkeypatch.setattr(server, "SILENCE_S", 0.2)  # then the connection ends
    with raw(folder) as connection:
        connection.sendall(frame_of({"protocol": 1, "what": "add", field: "add"}))
        (document,) = received(connection)
    assert document["kind"] == "wrong"
    monkeypatch.undo()
    assert AttachedRun(folder).note("hello") == 2


def test_half_a_message_and_silence_hold_nobody_up_and_have_a_bound(driver, folder, monkeypatch):
    half = framed(b" " * MOST_BYTES)[: MOST_BYTES // 2]
    talkers = [raw(folder) for _ in range(8)]
    silent = [raw(folder) for _ in range(8)]
    for talker in talkers:
        talker.sendall(half)
    assert AttachedRun(folder).note("hello") == 2
    monkeypatch.setattr(server, "SILENCE_S", 0.5)
    AttachedRun(folder).note("the next turn of the server drops them")
    for connection in talkers + silent:
        connection.settimeout(30)
        assert connection.recv(1) == b""
        connection.close()


def test_more_connections_than_there_may_be_push_out_idle_ones(driver, folder):
    idle = [raw(folder) for _ in range(server.MOST_CONNECTIONS + 10)]
    assert AttachedRun(folder).note("hello") == 2
    assert idle[0].recv(1) == b""
    for connection in idle:
        connection.close()


def test_a_client_that_reads_no_answer_is_read_no_further(driver, folder):
    with raw(folder) as connection:
        connection.setblocking(False)
        flood = frame_of({"protocol": 1, "what": "stop_trial", "trial_id": TRIAL}) * 5_000
        sent, is_full = 0, False
        while not is_full and sent < 64 << 20:
            try:
                sent += connection.send(flood)
            except BlockingIOError:
                is_full = True
        assert AttachedRun(folder).note("hello") == 2
        assert sent < 4 << 20


def test_requests_of_two_clients_at_once_are_each_answered_once(driver, folder):
    numbers, n_each = [[], []], 200

    def talk(found):
        run = AttachedRun(folder)
        for i in range(n_each):
            found.append(run.note(f"note {i}"))

    threads = [threading.Thread(target=talk, args=(found,)) for found in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers[0] + numbers[1]) == list(range(2, 2 + 2 * n_each))
    assert all(found == sorted(found) for found in numbers)


def test_many_requests_on_one_connection_are_answered_in_order(driver, folder):
    with raw(folder) as connection:
        frames = [frame_of({"protocol": 1, "what": "note", "note": f"{i}"}) for i in range(3000)]
        threading.Thread(target=connection.sendall, args=(b"".join(frames),)).start()
        incoming, documents = reader(), []
        while len(documents) < 3000:
            documents += incoming.feed(connection.recv(65536))
    assert [document["n"] for document in documents] == list(range(2, 3002))


def test_a_request_at_the_end_of_a_run_is_answered(folder):
    driver = ScriptedDriver(ScriptedController(TRIAL))
    way = ControlServer(folder, driver.inbox)
    with raw(folder) as waiting, raw(folder) as late:
        waiting.sendall(frame_of({"protocol": 1, "what": "stop"}))
        asked = threading.Event()
        driver.inbox.wake = asked.set
        if not driver.inbox.asks:
            asked.wait(60)
        driver.step()
        assert driver.inbox.shut()
        late.sendall(frame_of({"protocol": 1, "what": "stop"}))
        (document,) = reader().feed(late.recv(65536))
        assert document["kind"] == "over"
        way.close()
        assert [each["n"] for each in received(waiting)] == [2]


def test_a_killed_child_of_a_run_does_not_keep_the_way_in_open(folder):
    """A process that was forked during the run has no part in the socket."""
    driver = ScriptedDriver(ScriptedController())
    (read, write), (hears, tells) = os.pipe(), os.pipe()
    with closing(ControlServer(folder, driver.inbox)):
        child = os.fork()
        if child == 0:
            os.close(write)
            os.write(tells, b"I am here")
            os.read(read, 1)
            os._exit(0)
        os.read(hears, 9)
        path = str(folder / SOCKET)
        os.link(path, f"{path}.kept")
    try:
        with closing(socket.socket(socket.AF_UNIX)) as connection, pytest.raises(ConnectionRefusedError):
            connection.connect(f"{path}.kept")
    finally:
        os.close(write)
        os.waitpid(child, 0)
        for end in (read, hears, tells):
            os.close(end)


def test_a_driver_that_does_not_listen_is_named(folder):
    JournalWriter(folder / "journal.jsonl", new_header(1, {})).close()
    lock = WriterLock(folder / "journal.jsonl.lock")
    try:
        with pytest.raises(ControlError, match=f"held by process {os.getpid()} on .*Try again"):
            send(folder, requested({"what": "note", "note": "hello"}), timeout_s=0.0)
    finally:
        lock.release()


def test_a_driver_on_another_machine_is_named(folder, monkeypatch):
    lock = WriterLock(folder / "journal.jsonl.lock")
    facts = {"hostname": "far-away", "pid": 1, "since": 1.0}
    (folder / "journal.jsonl.lock").write_text(json.dumps(facts))
    try:
        with pytest.raises(ControlError, match="process 1 on far-away, which is another machine"):
            send(folder, requested({"what": "stop"}))
    finally:
        lock.release()


def test_a_hundred_clients_at_once_are_each_answered(driver, folder):
    run, found = AttachedRun(folder), []
    clients = [threading.Thread(target=lambda i=i: found.append(run.note(f"client {i}"))) for i in range(100)]
    with raw(folder) as silent:  # Half a request of 1 MB is in their way.
        silent.settimeout(30)
        with suppress(OSError):
            silent.sendall(framed(b"x" * (1 << 20))[: 1 << 19])
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    assert sorted(found) == list(range(2, 102))
    assert len({record.event.note for record in driver.records}) == 100


def test_a_killed_driver_whose_number_another_process_has_is_no_driver(folder):
    JournalWriter(folder / "journal.jsonl", new_header(1, {})).close()
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(folder / SOCKET))
    left.close()
    facts = {"hostname": this_host(), "pid": os.getpid(), "since": 1.0}  # A process that is alive, without the lock.
    (folder / "journal.jsonl.lock").write_text(json.dumps(facts))
    assert send(folder, requested({"what": "note", "note": "hello"})).waits
