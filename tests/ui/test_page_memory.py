"""A page that is open for days draws again and again, and keeps nothing of what it drew before."""

import pytest

N_DRAWINGS = 300
MOST_BYTES_A_DRAWING = 2000
"""With the trees of all drawings kept, one is 11,000 bytes and more; without, the browser's own records are below 700."""


def heap_bytes(protocol):
    """Return what the page's script uses after a garbage collection."""
    protocol.send("HeapProfiler.collectGarbage")
    return protocol.send("Runtime.getHeapUsage")["usedSize"]


@pytest.mark.parametrize("keys", [("ArrowDown", "ArrowUp"), ("ArrowDown", "Space", "Space", "ArrowUp")])
def test_a_table_keeps_no_earlier_drawing(served, page, keys):
    """The first keys draw two rows anew, of which parts are the same; the second ones draw all parts of a row."""
    page.goto(served.at("asha", "trials"))
    grid = page.get_by_role("grid")
    grid.focus()
    protocol = page.context.new_cdp_session(page)
    used = []
    for _ in range(2):
        for _ in range(N_DRAWINGS // len(keys)):
            for key in keys:
                grid.press(key)
        used.append(heap_bytes(protocol))
    assert used[1] - used[0] < MOST_BYTES_A_DRAWING * N_DRAWINGS
