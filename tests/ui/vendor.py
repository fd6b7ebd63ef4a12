"""Fetch the vendored modules of the page from npm: `python tests/ui/vendor.py`, which needs npm.

Writes `src/overtone/ui/web/vendor/`: each module as its package has it, without the reference to its source
map; uPlot, whose small form is a script, with an `export` at its end. To take newer versions, change the
table below and run it.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).parents[2] / "src" / "overtone" / "ui" / "web" / "vendor"

# package, version, licence, copyright, licence file, {our file: (the package's file, name in imports, what is added)}
PACKAGES = [
    ("preact", "11.2.0", "MIT", "2015-present Jason Miller", "LICENSE-preact.txt",
     {"preact.js": ("dist/preact.mjs", "preact", ""), "hooks.js": ("hooks/dist/hooks.mjs", "preact/hooks", "")}),
    ("@preact/signals-core", "1.14.5", "MIT", "2022-present Preact Team", "LICENSE-signals.txt",
     {"signals-core.js": ("dist/signals-core.mjs", "@preact/signals-core", "")}),
    ("@preact/signals", "2.11.4", "MIT", "2022-present Preact Team", "LICENSE-signals.txt",
     {"signals.js": ("dist/signals.mjs", "@preact/signals", "")}),
    ("htm", "3.1.1", "Apache-2.0", "2018 Google Inc.", "LICENSE-htm.txt",
     {"htm.js": ("dist/htm.mjs", "htm", "")}),
    ("uplot", "1.6.32", "MIT", "2022 Leon Sorokin", "LICENSE-uplot.txt",
     {"uplot.js": ("dist/uPlot.iife.min.js", "uplot", "export{uPlot as default};\n"),
      "uplot.css": ("dist/uPlot.min.css", None, "")}),
]  # fmt: skip


def main() -> None:
    VENDOR.mkdir(parents=True, exist_ok=True)
    entries = []
    for package, version, licence, copyright, licence_file, files in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            command = ["npm", "pack", "--silent", f"{package}@{version}"]
            name = subprocess.run(
                command, cwd=folder, check=True, capture_output=True, text=True
            ).stdout.strip()
            with tarfile.open(Path(folder, name)) as archive:
                read = {
                    member.name: archive.extractfile(member).read() for member in archive if member.isfile()
                }
        VENDOR.joinpath(licence_file).write_bytes(read["package/LICENSE"])
        for ours, (theirs, imported, added) in files.items():
            text = read[f"package/{theirs}"].decode()
            text = re.sub(r"//# sourceMappingURL=.*", "", text).rstrip() + "\n" + added
            VENDOR.joinpath(ours).write_text(text, "utf-8")
            entries.append(
                {
                    "file": ours, "import": imported, "package": package, "version": version, "source": theirs,
                    "licence": licence, "copyright": copyright, "licence_file": licence_file,
                    "sha512": hashlib.sha512(text.encode()).hexdigest(),
                }
            )  # fmt: skip
    VENDOR.joinpath("vendor.json").write_text(json.dumps(entries, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
