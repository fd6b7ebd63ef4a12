"""Requests as sentences."""

from overtone.core.messages import Requested
from overtone.reading.request_text import asked


def test_a_note_is_shown_whole_with_each_of_its_lines():
    event = Requested(1.0, "note", note=" first\nsecond\n", who="user1 from Python")
    assert asked(event) == "note by user1 from Python: first\nsecond"
    assert asked(Requested(1.0, "stop")) == "was asked to stop the experiment"
