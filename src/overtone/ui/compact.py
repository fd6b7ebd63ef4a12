"""JavaScript without comments, indentation and spaces between tokens: what a browser is sent.

Tokens stay as they are, and so do line breaks: a line keeps its number, and no statement ends elsewhere.
"""

from __future__ import annotations

import re

# Runs without anything of interest are skipped in one step.
_PLAIN = r"[^\s\"'`/{}]+"
_STRING = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_COMMENT = r"//[^\n]*|/\*[\s\S]*?\*/"
_TOKEN = re.compile(rf"(?P<space>(?:\s|{_COMMENT})+)|(?P<plain>{_PLAIN}|{_STRING})|(?P<mark>[`/{{}}])")
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_CHARACTERS = re.compile(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*")
_INDENTATION = re.compile(r"\n[ \t]+")
_STYLE_COMMENT = re.compile(rf"({_STRING})|/\*[\s\S]*?\*/")
# A slash after one of these words begins a regular expression, after another name a division.
_OPERATORS = re.compile(r"(?<![\w$.])(?:return|typeof|case|in|of|void|delete|await|yield|else|do)$")
_WORD = re.compile(r"[\w$\\#]|[^\x00-\x7f]")


class CompactError(ValueError):
    """Text that is not JavaScript, such as a template without an end."""


def compact(text: str) -> str:
    """Return the module's text without what only its readers need.

    Templates that are tagged `html` lose the indentation of their lines: their markup ignores it.

    Raises:
        CompactError: If a template, a string or a comment has no end.
    """
    parts: list[str] = []
    end = _code(text, 0, parts)
    if end < len(text):
        raise CompactError(f'line {text.count(chr(10), 0, end) + 1}: "}}" closes nothing')
    return "".join(parts)


def compact_style(text: str) -> str:
    """Return the style sheet without comments and indentation."""
    return re.sub(r"\n\s+", "\n", _STYLE_COMMENT.sub(lambda match: match[1] or "", text))


def _code(text: str, at: int, parts: list[str]) -> int:
    """Add code from `at` on to `parts`, to the brace that closes it or to the end; return where that is."""
    depth = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CompactError(f"line {text.count(chr(10), 0, at) + 1}: a string has no end")
        at = match.end()
        token = match[0]
        if match.lastgroup == "space":
            parts.append(_separator(token, parts, text[at : at + 1]))
        elif token == "`":
            at = _template(text, at, parts)
        elif token == "/" and _begins_regex(parts):
            regex = _REGEX.match(text, at - 1)
            if regex is None:
                raise CompactError(f"line {text.count(chr(10), 0, at) + 1}: a regular expression has no end")
            parts.append(regex[0])
            at = regex.end()
        elif token == "}" and depth == 0:
            return at - 1
        else:
            depth += (token == "{") - (token == "}")
            parts.append(token)
    return at


def _template(text: str, at: int, parts: list[str]) -> int:
    """Add a template, whose first backtick is before `at`; return where it ends."""
    is_html = bool(parts) and re.search(r"(?<![\w$.])html$", parts[-1]) is not None
    parts.append("`")
    while True:
        characters = _CHARACTERS.match(text, at)
        assert characters is not None  # it matches nothing, too
        parts.append(_INDENTATION.sub("\n", characters[0]) if is_html else characters[0])
        at = characters.end()
        mark = text[at : at + 1]
        if mark == "`":
            parts.append("`")
            return at + 1
        if mark != "$":
            raise CompactError(f"line {text.count(chr(10), 0, at) + 1}: a template has no end")
        parts.append("${")
        at = _code(text, at + 2, parts)
        if at == len(text):
            raise CompactError("a template has no end")
        parts.append("}")
        at += 1


def _separator(space: str, parts: list[str], following: str) -> str:
    """Return what must stand in place of white space and comments."""
    if "\n" in space:
        return "\n" * space.count("\n")
    before = _last(parts)[-1:]
    if _WORD.match(before) and _WORD.match(following):
        return " "
    return " " if before == following and before in "+-/" and before else ""


def _begins_regex(parts: list[str]) -> bool:
    """Return whether a slash after `parts` begins a regular expression."""
    before = _last(parts)
    return not before or (
        before[-1] not in ")]}\"'`" and (not _WORD.match(before[-1]) or _OPERATORS.search(before) is not None)
    )


def _last(parts: list[str]) -> str:
    """Return the last part that is not white space."""
    return next((part for part in reversed(parts) if part.strip()), "")
