"""The commit and the packages that the header of a journal names."""

import os
import shutil
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from overtone import tune
from overtone.journal.lines import header
from overtone.run.header import code_facts
from overtone.run.header.code_facts import CodeFacts, packages_of

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="Git is not installed")


def train(config):
    import hypothesis

    tune.report({"loss": np.float64(0.5), "n": len(hypothesis.__name__)})


def test_packages_of_the_module_and_of_the_code_are_named():
    found = packages_of(train)
    assert found["numpy"] == np.__version__
    assert found["hypothesis"]
    assert found["pytest"] == pytest.__version__
    assert not {"os", "overtone", "shutil"} & found.keys()


def test_lazy_objects_of_the_module_do_not_end_the_run(monkeypatch):
    class Lazy:
        def __getattribute__(self, name):
            raise RuntimeError("not configured")

    monkeypatch.setattr(sys.modules[__name__], "settings", Lazy(), raising=False)
    assert packages_of(train)["numpy"] == np.__version__


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Return functions that run Git in a new repository, and that import its module."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)

    def git(*arguments):
        known = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *known, *arguments], cwd=folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def facts():
        monkeypatch.setattr(code_facts, "_begun", {})
        monkeypatch.setattr(code_facts, "_known", {})
        return CodeFacts(import_module("tracked_code").train).data()

    (folder / "tracked_code.py").write_text("def train(config):\n    pass\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "tracked_code", raising=False)
    git("init", "-q", "-b", "trunk")
    return folder, git, facts


@needs_git
def test_the_commit_is_named(repository):
    folder, git, facts = repository
    assert "commit" not in facts()  # there is none yet
    git("add", ".")
    git("commit", "-qm", "one")
    assert (facts()["commit"], facts()["is_modified"]) == (git("rev-parse", "HEAD"), False)
    (folder / "notes.txt").write_text("not under version control")
    assert facts()["is_modified"] is False
    (folder / "tracked_code.py").write_text("def train(config):\n    return 1\n")
    assert facts()["is_modified"] is True


@needs_git
def test_packed_and_detached_heads_and_work_trees(repository, tmp_path, monkeypatch):
    folder, git, facts = repository
    git("add", ".")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    git("pack-refs", "--all")
    assert facts()["commit"] == commit
    git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "side")
    assert code_facts._commit(tmp_path / "other") == commit
    git("checkout", "-q", "--detach")
    assert facts()["commit"] == commit


@needs_git
def test_the_programs_of_a_repositorys_configuration_are_not_run(repository, tmp_path):
    folder, git, facts = repository
    git("add", ".")
    git("commit", "-qm", "one")
    git("config", "core.fsmonitor", f"touch {tmp_path}/ran; false")
    assert facts()["is_modified"] is False
    assert not (tmp_path / "ran").exists()


@needs_git
@pytest.mark.parametrize(
    "script", ["#!/bin/sh\nexit 128\n", "#!/bin/sh\nexec sleep 100\n"], ids=["it fails", "it hangs"]
)
def test_without_an_answer_of_git_it_is_not_known(repository, tmp_path, monkeypatch, script):
    folder, git, facts = repository
    git("add", ".")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(script)
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(code_facts, "PATIENCE_S", 0.05)
    assert (facts()["commit"], facts()["is_modified"]) == (commit, None)


def test_a_damaged_repository_is_none(tmp_path):
    for text in ("", "ref: refs/heads/nowhere", "ref: ../../../etc/passwd", "\udcff", "x" * 40):
        place = tmp_path / str(len(text))
        (place / ".git").mkdir(parents=True)
        (place / ".git" / "HEAD").write_bytes(text.encode(errors="surrogateescape"))
        assert code_facts._commit(place) == ""


def test_the_header_and_each_resume_name_the_code(tmp_path):
    options = {"name": "exp", "storage_path": str(tmp_path), "engine": "inline", "verbose": 0}
    tune.run(train, num_samples=1, **options)
    assert header(tmp_path / "exp" / "journal.jsonl")["code"]["packages"]["numpy"] == np.__version__
    tune.run(train, num_samples=2, resume=True, **options)
    text = (tmp_path / "exp" / "journal.jsonl").read_text()
    assert text.count('"code":{"packages"') == 2


@needs_git
def test_in_a_hook_of_another_repository_the_own_one_counts(repository, tmp_path, monkeypatch):
    folder, git, facts = repository
    git("add", ".")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert facts() == {"packages": {}, "commit": commit, "is_modified": False}
