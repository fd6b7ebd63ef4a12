"""Makes docs/images/dashboard.png and dashboard-dark.png: the overview of the demo's search while it runs.

    python benchmarks/dashboard_picture.py [-o FOLDER] [--experiment EXP]

Needs the extra `ui`, playwright, Pillow and Chromium. The picture is taken when two thirds of the demo's
trials have ended; --experiment takes an experiment that is there. Colours are reduced to a palette, so that
a picture has less than 250 kB.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from dashboard_browser import browser, server
from PIL import Image

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
MOST_BYTES = 250_000
TRIALS, ENDED = 60, 40


def take(folder: Path, output: Path) -> None:
    """Draw the overview of the experiment in `folder`, on a light and on a dark screen."""
    with browser() as chromium, server(folder) as (_, address):
        for scheme, name in (("light", "dashboard.png"), ("dark", "dashboard-dark.png")):
            context = chromium.new_context(viewport=SIZE, color_scheme=scheme, locale="en-GB")
            tab = context.new_page()
            tab.goto(f"{address}&next={quote(f'/e/{quote(folder.name)}/overview')}", wait_until="commit")
            tab.locator("main canvas").first.wait_for()
            tab.wait_for_timeout(2500)
            save(tab.screenshot(), output / name)
            context.close()


def save(png: bytes, file: Path) -> None:
    """Write a picture with at most 256 colours."""
    with Image.open(io.BytesIO(png)) as picture:
        reduced = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        reduced.save(file, optimize=True)
    size = file.stat().st_size
    print(f"{file}: {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        sys.exit(f"{file} is larger than {MOST_BYTES / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=IMAGES)
    parser.add_argument("--experiment", type=Path)
    args = parser.parse_args()
    if args.experiment is not None:
        take(args.experiment, args.output)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "digits")
        command = [sys.executable, "-m", "overtone.demo.search", str(folder), "--trials", str(TRIALS)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
            while run.poll() is None and n_ended(folder / "journal.jsonl") < ENDED:
                time.sleep(0.2)
            take(folder, args.output)
            run.terminate()


def n_ended(journal: Path) -> int:
    return journal.read_bytes().count(b'"e":"ended"') if journal.exists() else 0


if __name__ == "__main__":
    main()
