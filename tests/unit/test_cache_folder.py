from __future__ import annotations

from pathlib import Path

import pytest

from overtone.cache_folder import cache_folder
from overtone.store.cache import local_folder


@pytest.mark.parametrize(
    ("given", "base"), [("/c", "/c"), ("", "/h/.cache"), ("rel", "/h/.cache"), (None, "/h/.cache")]
)
def test_a_relative_folder_is_ignored(given, base, monkeypatch):
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache_folder() == Path(base, "overtone")
    assert local_folder("s3://bucket/x") == Path(base, "overtone/s3/bucket/x")


def test_without_a_home_there_is_none(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(FileNotFoundError, match="no home"):
        cache_folder()
