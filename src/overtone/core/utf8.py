"""Texts as UTF-8 can hold them."""


def encodable(text: str) -> str:
    """`text` as UTF-8 can hold it: half of a surrogate pair is spelled out, as in "\\ud800"."""
    if text.isascii():
        return text
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
