"""Pictures of a report, to look at: wide and narrow, on light and dark screens.

    python benchmarks/pictures.py EXP [EXP ...] -o FOLDER

Needs Chromium. EXP is what `overtone report` takes; each EXP gets FOLDER/NAME_WIDTH_SCHEME.png.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = (900, 390)
LEAST_WINDOW = 500  # Chromium makes no narrower one: a frame in it is as narrow as asked
QUIET = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def picture(chromium: str, page: Path, output: Path, width: int, height: int, is_dark: bool) -> None:
    """Draw a page as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        frame = Path(folder) / "frame.html"
        frame.write_text(
            "<style>html,body{margin:0}iframe{border:0;color-scheme:light dark}</style>"
            f'<iframe src="{page.as_uri()}" width={width} height={height}></iframe>'
        )
        scheme = ["--blink-settings=preferredColorScheme=0", "--force-dark-mode"] if is_dark else []
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *QUIET, *scheme,
             f"--user-data-dir={folder}/profile", f"--window-size={max(width, LEAST_WINDOW)},{height}",
             f"--screenshot={output}", frame.as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiments", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--height", type=int, default=9000)
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("chromium is not installed")
    folder = Path(args.output).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for experiment in args.experiments:
        name = Path(experiment).name
        page = folder / f"{name}.html"
        subprocess.run([sys.executable, "-m", "overtone", "report", experiment, "-o", str(page)], check=True)
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                output = folder / f"{name}_{width}_{scheme}.png"
                picture(chromium, page, output, width, args.height, scheme == "dark")
                print(output)


if __name__ == "__main__":
    main()
