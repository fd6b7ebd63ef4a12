"""Scripts without comments and indentation; tests/ui/js/compact.test.js compares their tokens."""

from __future__ import annotations

import pytest

from overtone.ui.compact import CompactError, compact, compact_style


def test_leaves_out_comments_and_indentation_and_keeps_lines():
    text = "/** Twice.\n * @param {number} n */\nconst twice = (n) => {\n  return n * 2; // fast\n};\n"
    assert compact(text) == "\n\nconst twice=(n)=>{\nreturn n*2;\n};\n"


@pytest.mark.parametrize("text", ["`a", "`a${b", "`a${`b}`", "}", "f('a", "a = /b"])
def test_text_without_an_end_is_an_error(text):
    with pytest.raises(CompactError):
        compact(text)


def test_style_keeps_strings():
    text = '/* a */ .a {\n  content: "/* b */";\n}\n'
    assert compact_style(text) == ' .a {\ncontent: "/* b */";\n}\n'
