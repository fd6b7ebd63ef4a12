"""A program as a child process."""

import pytest

from overtone.errors import TrainableError
from overtone.program import child


@pytest.mark.parametrize("word", ["a\0b", "a\ud800b"])
def test_a_word_that_no_program_can_get_is_an_error_of_the_trial(monkeypatch, tmp_path, word):
    monkeypatch.setattr(child.process_tree, "adopt_orphans", lambda: None)
    with pytest.raises(TrainableError, match="cannot be passed to a program"):
        child.Child(["true", word], {}, str(tmp_path))
