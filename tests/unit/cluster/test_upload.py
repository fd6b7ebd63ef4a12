"""What is uploaded, and where a script runs then."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from overtone.cli.arguments import parsed
from overtone.cluster import submit, upload
from overtone.cluster.config import ClusterConfig, Provider
from overtone.cluster.upload import check_upload, excluded, large_files, script_place
from overtone.errors import OvertoneError


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "project" / "code").mkdir(parents=True)
    (tmp_path / "project" / "code" / "train.py").touch()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def config(files):
    return ClusterConfig("digits", Provider("local"), files=files)


def test_a_script_runs_where_it_is_called_from(project, monkeypatch):
    made = config(project)
    assert script_place(made, "code/train.py") == ("~/overtone_work/digits", "code/train.py")
    monkeypatch.chdir(project / "code")
    assert script_place(made, "train.py") == ("~/overtone_work/digits/code", "train.py")
    monkeypatch.chdir(project.parent)
    assert script_place(made, "project/code/train.py") == ("~/overtone_work/digits", "code/train.py")


def test_without_files_the_script_alone_is_there(project):
    assert script_place(config(None), "code/train.py") == ("~/overtone_work/digits", "train.py")


def test_a_script_that_is_not_uploaded_is_an_error(project):
    (project.parent / "other.py").touch()
    with pytest.raises(OvertoneError, match=r"other\.py: must be in the uploaded folder .*project"):
        script_place(config(project), "../other.py")
    with pytest.raises(OvertoneError, match="there is no such script"):
        script_place(config(project), "nothing.py")


def test_environments_experiments_and_the_users_own_patterns_stay_here(project):
    (project / "env").mkdir()
    (project / "env" / "pyvenv.cfg").touch()
    (project / "runs" / "digits").mkdir(parents=True)
    (project / "runs" / "digits" / "journal.jsonl").touch()
    (project / ".overtoneignore").write_text("# large\n/data\n\n*.ckpt\n")
    patterns = excluded(project)
    assert {"/env", "/runs/digits", "/data", "*.ckpt", ".git"} <= set(patterns)
    assert not any("large" in pattern for pattern in patterns)


def test_a_negated_pattern_is_an_error(project):
    (project / ".overtoneignore").write_text("data\n!data/small\n")
    with pytest.raises(OvertoneError, match=r"\.overtoneignore:2: !data/small"):
        excluded(project)


def test_a_large_upload_names_its_largest_folder(project):
    (project / "data").mkdir()
    with (project / "data" / "images").open("wb") as file:
        file.truncate(600_000_000)
    assert large_files(project) == (
        f"uploading 600 MB from {project}, 600 MB of it data; list files to leave out in {project}/.overtoneignore"
    )
    (project / ".overtoneignore").write_text("data\n")
    assert large_files(project) == ""


@pytest.mark.parametrize(
    "argv",
    [
        ["c.yaml", "s.py", "a", "--start", "--stop", "--", "--args"],
        ["c.yaml", "--start", "s.py", "--stop", "a", "--", "--args"],
        ["--start", "--stop", "c.yaml", "s.py", "--", "a", "--args"],
    ],
)
def test_options_of_submit_may_stand_anywhere(argv):
    args = parsed(["submit", *argv])
    assert (args.config, args.script, args.start, args.stop) == ("c.yaml", "s.py", True, True)
    assert [*args.arguments, *args.rest] == ["a", "--args"]


def test_an_unknown_option_of_submit_is_an_error(capsys):
    with pytest.raises(SystemExit):
        parsed(["submit", "c.yaml", "s.py", "--args"])
    assert "--args" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed")
def test_an_experiment_with_any_name_stays_here(project, tmp_path):
    for name in ("lr=[1]", "a*b", "back\\slash"):
        (project / name).mkdir()
        (project / name / "journal.jsonl").touch()
    words = ["rsync", "-r", *(f"--exclude={one}" for one in excluded(project)), f"{project}/", tmp_path / "there"]
    subprocess.run(words, check=True)
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["code"]


def test_a_script_that_looks_like_an_option_is_a_script(project):
    (project / "-m").touch()
    assert script_place(config(project), "./-m")[1] == "./-m"
    assert script_place(config(None), "./-m")[1] == "./-m"


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "home" / "ada" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / "ada" / ".ssh" / "id_ed25519").write_bytes(b"x" * 2_000_000)
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "ada"))
    return tmp_path / "home" / "ada"


def test_a_home_folder_is_not_uploaded_without_a_word(home):
    with pytest.raises(OvertoneError, match=r"is your home folder \(2 MB\), with your keys and passwords; name the folder"):
        check_upload(config(home))
    with pytest.raises(OvertoneError, match="is a folder above your home folder"):
        check_upload(config(home.parent))
    (home.parent / "link").symlink_to(home)
    with pytest.raises(OvertoneError, match="is your home folder"):
        check_upload(config(home.parent / "link"))


def test_the_root_of_all_files_is_not_uploaded_without_a_word(home, monkeypatch):
    monkeypatch.setattr(upload, "_MOST_COUNTED", 100)
    with pytest.raises(OvertoneError, match=r"is the root of this machine's files \(at least .*B\)"):
        check_upload(config(Path("/")))


def test_a_person_is_asked_about_a_home_folder_and_no_is_the_default(home):
    asked = []

    def ask(question, *, default=True, within_s=None):
        asked.append((question, default))
        return len(asked) > 1

    with pytest.raises(OvertoneError, match="nothing was uploaded or started"):
        check_upload(config(home), ask)
    check_upload(config(home), ask)
    assert [default for _, default in asked] == [False, False]
    assert asked[0][0].endswith("what to leave out. Upload all of it?")


def test_other_folders_and_a_home_with_a_list_are_uploaded(home):
    (home / "digits").mkdir()
    check_upload(config(home / "digits"))
    check_upload(config(None))
    (home / ".overtoneignore").write_text(".*\n")
    check_upload(config(home))


def test_nothing_is_started_for_a_home_folder_that_nobody_confirms(home, monkeypatch):
    monkeypatch.setattr(submit.apply, "up", lambda *_, **__: pytest.fail("the cluster is started"))
    monkeypatch.setenv("OVERTONE_HOME", str(home / "state"))
    program = submit.Program((None, "train.py"), "~", "train.py", ())
    with pytest.raises(OvertoneError, match="is your home folder"):
        submit.submit(config(home), program)


def test_of_the_root_what_is_on_no_disk_is_left_out():
    assert {"/proc", "/sys", "/dev", "/run"} <= set(excluded(Path("/")))


def test_a_folder_named_proc_is_uploaded_elsewhere(tmp_path):
    assert "/proc" not in excluded(tmp_path)
