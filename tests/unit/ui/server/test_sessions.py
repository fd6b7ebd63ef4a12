"""Tokens: how they are made, and in which files they may be."""

import pytest

from overtone.errors import OvertoneError
from overtone.ui.server.sessions import Sessions, new_token, token_in


def test_tokens_have_32_random_bytes():
    assert len(new_token()) == 43
    assert new_token() != new_token()


@pytest.mark.parametrize("given", ["", "\ud800", "\xff", "a" * 43])
def test_other_texts_are_not_the_token(given):
    assert not Sessions(new_token()).is_token(given)


def test_a_token_file(tmp_path):
    file = tmp_path / "token"
    file.write_text("a" * 43 + "\n")
    file.chmod(0o600)
    assert token_in(file) == "a" * 43


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [(b"a" * 43, 0o640, "other users"), (b"a" * 43, 0o602, "other users"), (b"a" * 31, 0o600, "32 or more"),
     (b"", 0o600, "32 or more"), (b"a b" * 20, 0o600, "without spaces"), (b"a\n" * 40, 0o600, "without spaces"),
     (b"\xff" * 43, 0o600, "ASCII"), (b"a" * 5000, 0o600, "32 or more")],
)  # fmt: skip
def test_files_that_are_refused(tmp_path, content, mode, reason):
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(mode)
    with pytest.raises(OvertoneError, match=reason):
        token_in(file)


def test_a_missing_file(tmp_path):
    with pytest.raises(OvertoneError, match="No such file"):
        token_in(tmp_path / "token")
