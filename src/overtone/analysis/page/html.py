"""A page that loads nothing and runs nothing, and the elements that reports are made of."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape

from overtone.analysis.drawing.labels import printable, shortened
from overtone.analysis.drawing.svg_style import style_sheet

_MOST_LETTERS = 20_000  # of one text

_RULES = """
body { margin: 0 auto; padding: 16px 16px 48px; max-width: 868px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .6rem 0 .2rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .3rem 0; } .faint { color: var(--faint); } .small { font-size: .86rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .8rem 0;
  font-size: .9rem; }
dt { color: var(--faint); } dd { margin: 0; min-width: 0; }
.card { border: 1px solid var(--grid); border-left: 4px solid var(--best); border-radius: 6px;
  padding: .7rem 1rem; }
.value { font-size: 1.5rem; font-weight: 650; color: var(--best); }
pre { margin: .5rem 0 0; padding: .6rem .8rem; background: var(--grid); border-radius: 4px; font-size: .84rem;
  line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--grid); text-align: left;
  vertical-align: top; overflow-wrap: normal; }
th { color: var(--faint); font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.long { min-width: 14rem; overflow-wrap: anywhere; } tr.best td { font-weight: 650; color: var(--best); }
figure { margin: 1.6rem 0 0; }
figure svg { max-width: 100%; height: auto; display: block; }
.narrow { display: none; overflow-x: auto; }
figure .narrow svg { max-width: none; }
@media (max-width: 700px) { .wide { display: none; } .narrow { display: block; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .4rem; } }
"""


def text(value: object) -> str:
    """Return a text as HTML shows it: escaped, in one line, without control characters."""
    return escape(printable(str(value)[:_MOST_LETTERS]))


def lines(value: str) -> str:
    """Return a text of several lines as HTML shows it."""
    return "\n".join(text(line) for line in value[:_MOST_LETTERS].split("\n"))


def short(value: object, most: int = 48) -> str:
    """Return a text of at most `most` letters; a longer one shows all of it under the pointer."""
    whole = str(value)
    cut = shortened(whole, most)
    if cut == whole:
        return text(cut)
    return f'<span title="{text(whole[:2000])}">{text(cut)}</span>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a list of (name, HTML) pairs; pairs without HTML are left out."""
    return f"<dl>{''.join(f'<dt>{text(name)}</dt><dd>{html}</dd>' for name, html in pairs if html)}</dl>"


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), best: int | None = None
) -> str:
    """Return a table that scrolls where it is too wide.

    Args:
        heads: HTML of the heads.
        rows: HTML of the cells.
        numbers: The indices of columns that hold numbers.
        best: The index of the row that is marked.
    """
    kinds = dict.fromkeys(numbers, ' class="number"')
    head = "".join(f"<th{kinds.get(i, '')}>{one}</th>" for i, one in enumerate(heads))
    body = []
    for i, row in enumerate(rows):
        cells = "".join(f"<td{kinds.get(j, '')}>{cell}</td>" for j, cell in enumerate(row))
        mark = ' class="best"' if i == best else ""
        body.append(f"<tr{mark}>{cells}</tr>")
    inside = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="scroll"><table>{inside}</table></div>'


def still_style() -> str:
    """Return the style sheet of pages that run nothing."""
    return style_sheet(":root") + _RULES


def page(title: str, body: Iterable[str]) -> str:
    """Return a whole page.

    Its policy allows the style sheet in it, by its checksum, and nothing else: no script, no request.
    """
    style = still_style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{text(title)}</title><style>{style}</style></head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body></html>\n"
    )
