"""Text that UTF-8 can encode."""


def encodable(text: str) -> str:
    """Return `text` in a form that UTF-8 can encode: a lone surrogate is escaped, as in "\\ud800"."""
    if text.isascii():
        return text
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
