"""Build the wheel and the sdist, check them, and run the quickstart from the wheel: `make release`.

The quickstart runs with warnings as errors in an empty environment of each Python that the wheel's
classifiers state and that is on this machine, and once more with the lowest versions that the wheel
allows. `make pythons` runs the unit and property tests there, too, which takes minutes for each Python.
Exits with 1 and the output of the command that failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
MOST_BYTES = 2_600_000
"""Largest wheel: nine tenths are our own modules, which no file of the package repeats."""
PACKED = re.compile(r"overtone/ui/web/packed/[0-9a-f]{32}\.br")
UV = [sys.executable, "-m", "uv"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Build and check a release.")
    parser.add_argument(
        "--tests", action="store_true", help="run the unit and property tests with each Python"
    )
    with_tests = parser.parse_args().tests
    began = time.monotonic()
    wheel, sdist = build()
    metadata = check(wheel, sdist)
    versions = re.findall(
        r"^Classifier: Programming Language :: Python :: (\d\.\d+)$", metadata, re.MULTILINE
    )
    pythons = {version: find_python(version) for version in versions}
    found = {version: python for version, python in pythons.items() if python is not None}
    if not found:
        sys.exit(f"none of Python {', '.join(versions)} is on this machine: install one of them")
    for python in found.values():
        try_wheel(wheel, python, with_tests)
    try_wheel(wheel, next(iter(found.values())), with_tests, "--resolution", "lowest-direct")
    try_demo(wheel, next(iter(found.values())))
    try_types(wheel, next(iter(found.values())))
    if missing := [version for version in versions if version not in found]:
        print(f"not found, so not tried: Python {', '.join(missing)}")
    if ".example/" in metadata:
        print("before an upload: [project.urls] in pyproject.toml has a placeholder for the address")
    print(f"release checked in {time.monotonic() - began:.0f} s: {DIST}")


def build() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist; return the wheel and the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    run([sys.executable, "-m", "build", "--installer", "uv", "--outdir", str(DIST), str(ROOT)])
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def check(wheel: Path, sdist: Path) -> str:
    """Check the metadata of both files, and that they have the files in git; return the metadata.

    The wheel has compressed files of the page, too, which are made when it is built.
    """
    run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)])
    # W002: licenses of vendored modules are beside them, and where installers look for licenses
    run([sys.executable, "-m", "check_wheel_contents", "--ignore", "W002,W004", str(wheel)])
    # 8 of 10: there is no address of an author
    run([sys.executable, "-m", "pyroma", "--min", "8", str(sdist)])
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size:,} bytes, and {MOST_BYTES:,} are allowed")
    tracked = set(run(["git", "ls-files", "-z"]).split("\0")) - {""}
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    compare(sdist, names - {"PKG-INFO"}, tracked)
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
    packed = {name for name in names if PACKED.fullmatch(name)}
    if not packed:
        sys.exit(f"{wheel.name} has the page as it is written: the build lacked Brotli or tree-sitter")
    expected = {name.removeprefix("src/") for name in tracked if name.startswith("src/overtone/")}
    compare(wheel, names - packed, expected)
    return text


def compare(file: Path, names: set[str], expected: set[str]) -> None:
    if extra := sorted(names - expected):
        sys.exit(f"{file.name} has files that are not in git: {', '.join(extra)}")
    if missing := sorted(expected - names):
        sys.exit(f"{file.name} lacks files that are in git: {', '.join(missing)}")
    print(f"{file.name}: {file.stat().st_size / 1000:,.0f} kB, {len(names)} files")


def find_python(version: str) -> str | None:
    """Return the path of this Python on this machine, or None; pyenv's are found without being active."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    path = os.pathsep.join([*map(str, root.glob("versions/*/bin")), os.environ["PATH"]])
    command = [*UV, "python", "find", "--system", "--no-project", "--no-python-downloads", version]
    done = subprocess.run(
        command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
    )
    return done.stdout.strip() or None


def try_wheel(wheel: Path, python: str, with_tests: bool, *options: str) -> None:
    """Install the wheel into an empty environment with these options, run the quickstart, list its results."""
    with tempfile.TemporaryDirectory(prefix="overtone-release-") as folder:
        home = Path(folder)
        script = shutil.copy(ROOT / "examples" / "quickstart.py", home)
        run([*UV, "venv", "--quiet", "--no-project", "--python", python, str(home / "venv")])
        installed = str(home / "venv" / "bin" / "python")
        run([*UV, "pip", "install", "--quiet", "--python", installed, *options, str(wheel)])
        began = time.monotonic()
        best = strictly([installed, script], home).splitlines()[-1]
        listed = strictly([str(home / "venv" / "bin" / "overtone"), "ls"], home)
        if not best.startswith("{'x': ") or "train_" not in listed:
            fail([installed, script], f"{best}\n{listed}")
        number = run([installed, "-c", "import platform; print(platform.python_version())"]).strip()
        versions = "lowest versions" if options else "newest versions"
        print(
            f"Python {number}, {versions}: quickstart in {time.monotonic() - began:.1f} s, {best}", flush=True
        )
        if with_tests:
            began = time.monotonic()
            tests(installed)
            print(f"Python {number}, {versions}: tests in {time.monotonic() - began:.0f} s", flush=True)


def try_demo(wheel: Path, python: str) -> None:
    """Run the demo from the wheel in an empty environment: in the terminal, and with its page."""
    with tempfile.TemporaryDirectory(prefix="overtone-release-") as folder:
        home, began = Path(folder), time.monotonic()
        installed = str(home / "venv" / "bin" / "python")
        demo = [str(home / "venv" / "bin" / "overtone"), "demo", "--trials", "12", "--passes", "2"]
        run([*UV, "venv", "--quiet", "--no-project", "--python", python, str(home / "venv")])
        run([*UV, "pip", "install", "--quiet", "--python", installed, str(wheel)])
        alone = strictly(demo, home, with_errors=True)
        if 'pip install "overtone[ui]"' not in alone or "12 trials" not in alone:
            fail(demo, alone)
        run([*UV, "pip", "install", "--quiet", "--python", installed, f"{wheel}[ui]"])
        shown = strictly([*demo, "--no-browser"], home, with_errors=True)
        address = re.search(r"page of this search: http://127\.0\.0\.1:\d+/#token=", shown)
        if address is None or "12 trials" not in shown:
            fail(demo, shown)
        print(f"demo from the wheel: {time.monotonic() - began:.0f} s with its installations", flush=True)


def try_types(wheel: Path, python: str) -> None:
    """Check the types of a user's script against the installed wheel, by mypy and by pyright."""
    with tempfile.TemporaryDirectory(prefix="overtone-release-") as folder:
        home, began = Path(folder), time.monotonic()
        script = shutil.copy(ROOT / "tests" / "packaging" / "typed_use.py", home)
        installed = str(home / "venv" / "bin" / "python")
        run([*UV, "venv", "--quiet", "--no-project", "--python", python, str(home / "venv")])
        run([*UV, "pip", "install", "--quiet", "--python", installed, str(wheel)])
        strict = ["--strict", "--config-file", os.devnull, "--cache-dir", str(home / "cache")]
        run([sys.executable, "-m", "mypy", *strict, "--python-executable", installed, script])
        run([sys.executable, "-m", "pyright", "--pythonpath", installed, script])
        print(f"types of a user's script: mypy and pyright in {time.monotonic() - began:.0f} s", flush=True)


def tests(python: str) -> None:
    """Run the unit and property tests on the installed package, and what all schedulers and plots must do."""
    contracts = ["halving_schedulers", "population_schedulers", "ray_schedulers", "plot_figures", "plot_numbers"]
    files = [f"tests/conformance/test_{name}.py" for name in contracts]
    run([*UV, "pip", "install", "--quiet", "--python", python, "--group", "unit"])
    workers = ["-n", "logical", "--maxprocesses", "4", "--dist", "loadfile"]
    run([python, "-m", "pytest", "-p", "no:cacheprovider", *workers, "tests/unit", "tests/property", *files], 3600)


def strictly(command: list[str], home: Path, with_errors: bool = False) -> str:
    """Run the command with warnings as errors, also in its child processes; return what it prints.

    Args:
        with_errors: Whether what it prints to standard error is returned, too.
    """
    environment = {"HOME": str(home), "PATH": os.defpath, "PYTHONWARNINGS": "error"}
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=120)
    # a warning where nobody catches it, as in __del__, does not change the exit status
    if done.returncode or re.search(r"Warning|Exception ignored|Traceback", done.stdout + done.stderr):
        fail(command, done.stdout + done.stderr)
    return done.stdout + done.stderr if with_errors else done.stdout


def run(command: list[str], timeout_s: float = 600) -> str:
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout_s
    )
    if done.returncode:
        fail(command, done.stdout)
    return done.stdout


def fail(command: list[str], output: str) -> None:
    sys.exit(f"{output}\nfailed: {' '.join(command)}")


if __name__ == "__main__":
    main()
