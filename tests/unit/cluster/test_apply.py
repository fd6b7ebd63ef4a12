"""What `up` and `down` take for theirs: a cluster of this name may be somebody else's, or elsewhere."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from overtone.cluster import apply
from overtone.cluster.config_reading import read_config
from overtone.cluster.listing_of_clusters import config_of, recorded_config
from overtone.cluster.local import start
from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.progress import Progress
from overtone.cluster.providers import local
from overtone.cluster.resource import Resource
from overtone.cluster.run_folder import new_id
from overtone.cluster.run_record import RunRecord
from overtone.cluster.session import Session
from overtone.cluster.state import BusyError, State
from overtone.cluster.touched_hosts import touched
from overtone.errors import OvertoneError
from overtone.file_lock import try_lock

CONFIG = "name: lab\nprovider: {type: local, hosts: [10.0.0.1, 10.0.0.2], user: ada}\nfiles: .\n"


class Machines:
    """A provider whose machines are a list; `start` may fail."""

    def __init__(self):
        self.resources, self.error = [], None

    def check(self, config):
        pass

    def find(self, config):
        return list(self.resources)

    def start(self, config, state, progress, for_run):
        if self.error is not None:
            raise self.error
        if not self.resources:
            self.resources.append(Resource("instance", "i-1", "running", 1.0))

    def stop(self, config, state, progress):
        self.resources.clear()


@pytest.fixture
def machines(tmp_path, monkeypatch):
    monkeypatch.setenv("OVERTONE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    made = Machines()
    monkeypatch.setattr(apply, "provider_of", lambda config: made)
    return made


@pytest.fixture
def config(tmp_path):
    return written(tmp_path / "project")


def written(folder, text=CONFIG, name="c.yaml"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return read_config(folder / name)


def quiet():
    return Progress(stream=io.StringIO())


def test_a_cluster_that_somebody_else_started_stays_after_a_failure(machines, config):
    machines.resources.append(Resource("instance", "i-0", "running", 1.0))
    machines.error = OvertoneError("the key pair is another one")
    with pytest.raises(OvertoneError, match="key pair"):
        apply.up(config, quiet())
    assert [one.id for one in machines.resources] == ["i-0"]


@pytest.mark.parametrize("n_writes", range(7))
def test_a_disk_that_is_full_after_some_writes_leaves_no_machine_and_says_so(
    machines, config, monkeypatch, n_writes
):
    written: list[str] = []

    def full(real):
        def write(*given, **fields):
            if len(written) >= n_writes:
                raise OSError(28, "No space left on device", "cluster.json")
            written.append(real.__name__)
            return real(*given, **fields)

        return write

    for name in ("update", "record"):
        monkeypatch.setattr(State, name, full(getattr(State, name)))
    progress = Progress(stream=io.StringIO())
    with pytest.raises(
        OvertoneError, match="the disk of this machine is full. Make room, and run the command again"
    ):
        apply.up(config, progress)
    assert len(written) == n_writes
    assert machines.resources == []


def test_a_disk_that_is_full_keeps_a_cluster_that_was_up(machines, config, monkeypatch):
    assert apply.up(config, quiet()) is True

    def full(*_, **__):
        raise OSError(28, "No space left on device", "cluster.json")

    monkeypatch.setattr(State, "record", full)
    with pytest.raises(OvertoneError, match="is full"):
        apply.up(config, quiet())
    assert [one.id for one in machines.resources] == ["i-1"]


def test_a_cluster_that_somebody_else_started_was_up_before(machines, config):
    machines.resources.append(Resource("instance", "i-0", "running", 1.0))
    assert apply.up(config, quiet()) is False
    assert State("lab").info()["phase"] == "up"


def test_a_host_that_does_not_answer_is_not_a_cluster_that_is_up(machines, config):
    machines.resources.append(Resource("host", "10.0.0.1", "no answer"))
    assert apply.up(config, quiet()) is True


def test_a_command_that_is_killed_while_it_checks_leaves_a_cluster_up(machines, config):
    assert apply.up(config, quiet()) is True
    phases = []
    machines.start = lambda config, state, progress, for_run: phases.append(state.info()["phase"])
    assert apply.up(config, quiet()) is False
    assert phases == ["up"]


def test_another_cluster_of_the_same_name_keeps_its_records(machines, config, tmp_path):
    apply.up(config, quiet())
    other = written(tmp_path / "other", CONFIG.replace("10.0.0.1", "10.9.9.9"))
    for command in (apply.up, apply.down):
        with pytest.raises(
            OvertoneError,
            match=r"other/c.yaml has the cluster lab on local ada 10\.9\.9\.9.*"
            r"on local ada 10\.0\.0\.1, by .*project/c\.yaml.*overtone down lab",
        ):
            command(other, quiet())
    assert machines.resources
    apply.down(config, quiet())
    assert apply.up(other, quiet()) is True


def test_a_cluster_goes_on_after_its_head_was_taken_off_the_list(machines, config, tmp_path):
    """The head died: the same file, without it, is the same cluster; another file is not."""
    apply.up(config, quiet())
    without_head = CONFIG.replace("10.0.0.1, ", "")
    with pytest.raises(OvertoneError, match="has started another lab"):
        apply.up(written(tmp_path / "other", without_head), quiet())
    moved = CONFIG.replace("10.0.0.1, 10.0.0.2", "10.0.0.2, 10.0.0.1")  # the old head may be up
    with pytest.raises(OvertoneError, match="has started another lab"):
        apply.up(written(tmp_path / "project", moved), quiet())
    shorter = written(tmp_path / "project", without_head)
    apply.up(shorter, quiet())
    assert State("lab").info()["place"] == "local ada 10.0.0.2"
    apply.down(shorter, quiet())
    assert not machines.resources


def test_the_recorded_config_sees_paths_as_the_file_did(machines, config, tmp_path):
    (tmp_path / "work").mkdir()
    os.symlink(tmp_path / "project" / "c.yaml", tmp_path / "work" / "c.yaml")
    apply.up(read_config(tmp_path / "work" / "c.yaml"), quiet())
    assert recorded_config(State("lab")).files == tmp_path / "work"


def test_the_recorded_config_is_that_of_the_last_up(machines, config, tmp_path):
    apply.up(config, quiet())
    apply.up(written(tmp_path / "project", CONFIG.replace("10.0.0.2", "10.0.0.2, 10.0.0.3")), quiet())
    assert recorded_config(State("lab")).provider.settings["hosts"][-1] == "10.0.0.3"


def test_a_cluster_goes_down_by_its_name_after_its_folder_was_deleted(machines, config, tmp_path):
    apply.up(config, quiet())
    (tmp_path / "project" / "c.yaml").unlink()
    (tmp_path / "project").rmdir()
    apply.down(config_of("lab"), quiet())
    assert not machines.resources


def test_a_folder_of_the_clusters_name_does_not_hide_it(machines, config, tmp_path):
    apply.up(config, quiet())
    (tmp_path / "lab").mkdir()
    assert config_of("lab").name == "lab"


def test_a_host_that_the_config_has_lost_goes_down_too(machines, config, tmp_path):
    apply.up(config, quiet())
    State("lab").update(touched=["10.0.0.1", "10.0.0.2"])
    shorter = written(tmp_path / "project", CONFIG.replace(", 10.0.0.2", ""))
    hosts = local._hosts(shorter)
    assert hosts.addresses == ["10.0.0.1"]
    assert [hosts[one].address for one in touched(shorter)] == ["10.0.0.1", "10.0.0.2"]


def test_results_come_to_the_folder_that_was_uploaded(machines, config, tmp_path):
    # Another config of the cluster's name, or its name alone, attaches to the run.
    record = RunRecord(State.open(config).folder, new_id())
    record.note({"files": "/elsewhere"})
    session = Session(config, None, record, quiet(), None)
    assert session.results._place("/root/overtone_work/lab/out/digits", "/root") == Path(
        "/elsewhere/out/digits"
    )


def test_hosts_of_clouds_have_new_keys_in_each_life(machines, tmp_path):
    config = written(tmp_path / "aws", "name: lab\nprovider: {type: aws, region: eu-west-1}\n")
    state = State.open(config)
    (state.folder / "known_hosts").write_text("10.0.0.7 ssh-ed25519 AAAA")
    apply.up(config, quiet())
    assert not (state.folder / "known_hosts").exists()


def test_a_cluster_goes_down_while_its_records_cannot_be_written(machines, config, monkeypatch):
    apply.up(config, quiet())

    def full(path, data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("overtone.cluster.state.replace_file", full)
    progress = quiet()
    apply.down(config, progress)
    assert not machines.resources
    assert "records cannot be written" in progress._stream.getvalue()


def test_a_listing_at_the_same_moment_does_not_make_a_command_fail(config, machines, monkeypatch):
    state = State.open(config)
    listing = os.open(state.folder / "lock", os.O_RDWR | os.O_CREAT)
    assert try_lock(listing, is_shared=True)
    monkeypatch.setattr("overtone.cluster.state.time.sleep", lambda seconds: os.close(listing))
    with state.hold("overtone up"):
        assert state.holder()["command"] == "overtone up"
        with pytest.raises(BusyError, match="overtone up"), State("lab").hold("overtone down"):
            pass


def test_a_cluster_that_another_machine_started_keeps_its_token(machines, config):
    state = State.open(config)
    assert state.token() != "token-of-the-other"
    head = SimpleNamespace(check=lambda command: "token-of-the-other")
    hosts = type("Hosts", (), {"head": "10.0.0.1", "__getitem__": lambda self, address: head})()
    up = HostFacts(processes=[("gcs_server", 1.0), ("raylet", 1.0)], claim={"id": "other", "began": 1.0})
    assert start._adopt(config, {"10.0.0.1": up}, hosts, state)
    assert state.token() == "token-of-the-other"
    assert (state.folder / "token").stat().st_mode & 0o777 == 0o600
    assert state.info()["id"] == "other"
