"""Measures every figure of the documentation that depends on the machine, one after the other.

    python benchmarks/session.py OUT --syne SYNE/bin/python --optuna-dashboard PEER/bin/python
    python benchmarks/session.py OUT overhead plots            these alone
    python benchmarks/session.py --list                        the commands

OUT gets a file for each measurement: its command, when it began and how long it took, the machine and its
load, and what the command printed. A measurement that OUT has is not repeated; one that failed is. Nothing
else should run on the machine: the load before each measurement is in its file. Modules of all Pythons are
compiled first, since without that each process would compile what it imports, and a peer with more modules
would seem slower than it is. All take about 45 minutes on two cores.

The Pythons are those that `make` keeps in .venv, with what a benchmark needs beside: optuna, msgspec and
coco-experiment in .venv, tensorboardX in .venv/ray, pandas in .venv/ui. SYNE has `syne-tune==0.16.*`, PEER
has optuna-dashboard.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE_S, GRACE_S = 3600, 20


@dataclass(frozen=True)
class Measurement:
    """One command: the environment whose Python runs it, and the script of this folder with its arguments.

    In the arguments, {ray}, {syne} and {dashboard} stand for Pythons, and {out} for the folder of outputs.
    """

    environment: str
    command: str

    def peers(self) -> set[str]:
        """Return the Pythons that the arguments name."""
        return set(re.findall(r"{(\w+)}", self.command)) - {"out"}


MEASUREMENTS = {
    "overhead": Measurement("own", "throughput.py --peer ray --peer-python {ray} --json {out}/overhead.json"),
    "searchers": Measurement("own", "search.py speed"),
    "optuna": Measurement("own", "search_overhead.py"),
    "simulated": Measurement("own", "simulated.py --peer {syne}"),
    "ask_tell": Measurement("own", "ask_tell.py"),
    "ray": Measurement("ray", "ray_throughput.py"),
    "sharing": Measurement("ray", "sharing.py"),
    "gangs": Measurement("training", "gangs.py"),
    "peer_gangs": Measurement("ray", "peer_gangs.py"),
    "dashboard": Measurement("ui", "dashboard.py scale"),
    "dashboard_live": Measurement("ui", "dashboard.py live"),
    "dashboard_follow": Measurement("ui", "dashboard.py follow --minutes 3"),
    "dashboard_server": Measurement("ui", "ui_server.py"),
    "dashboard_tasks": Measurement("ui", "dashboard_tasks.py --peer {dashboard}"),
    "plots": Measurement("own", "plots.py"),
    "report": Measurement("own", "plots.py --report"),
    "import_results": Measurement("own", "import_results.py"),
    "scikit_learn": Measurement("own", "sklearn_search.py overhead"),
    "trackers": Measurement("integrations", "trackers.py --rounds 2 --wait 4"),
    "resume": Measurement("own", "resume.py"),
    "resume_algorithms": Measurement("own", "resume.py --only algorithms"),
    "columns": Measurement("own", "trial_columns.py"),
    "codec": Measurement("own", "journal_codec.py"),
    "event_files": Measurement("own", "event_files.py"),
    "steering": Measurement("own", "control.py"),
    "output": Measurement("own", "trial_output.py"),
}


ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def compile_modules(python: str) -> None:
    """Compile the modules that a Python has installed, and Overtone's."""
    packages = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = subprocess.run([python, "-c", packages], capture_output=True, text=True, check=True).stdout
    compiled = [python, "-m", "compileall", "-q", "-j", "0", folder.strip(), str(ROOT / "src")]
    subprocess.run(compiled, env=ENVIRONMENT, capture_output=True, check=False)  # templates are no modules


def load() -> str:
    return " ".join(f"{one:.2f}" for one in os.getloadavg())


def end(process: subprocess.Popen[str]) -> None:
    """End a command and all that it started: as by Ctrl-C, and after GRACE_S by force."""
    os.killpg(process.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def measure(name: str, command: list[str], path: Path) -> bool:
    """Run a command and keep what it prints; return whether it succeeded."""
    head = (
        f"$ python benchmarks/{MEASUREMENTS[name].command}\n"
        f"# began {time.strftime('%Y-%m-%d %H:%M:%S %Z')}, load {load()}\n"
        f"# {platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores\n"
    )
    began = time.monotonic()
    with subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            printed, errors = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            end(process)
            printed, errors = "", f"ended after {PATIENCE_S} s\n"
        except BaseException:
            end(process)
            raise
    took = f"# took {time.monotonic() - began:.0f} s, load {load()}, exit code {process.returncode}\n"
    is_done = process.returncode == 0
    path.with_suffix(".txt" if is_done else ".failed").write_text(
        head + took + printed + ("" if is_done else errors[-4000:]), "utf-8"
    )
    return is_done


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "benchmarks" / "results" / "session")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}")
    parser.add_argument("--list", action="store_true", help="print the commands")
    parser.add_argument("--syne", default="python3", help="a Python with syne-tune")
    parser.add_argument("--optuna-dashboard", default="python3", help="a Python with optuna-dashboard")
    args = parser.parse_args()
    if args.list:
        for name, one in MEASUREMENTS.items():
            print(f"{name:18} {one.environment:13} {one.command}")
        return
    if unknown := set(args.names) - MEASUREMENTS.keys():
        parser.error(f"no measurement {', '.join(sorted(unknown))}: choose among {', '.join(MEASUREMENTS)}")
    out = args.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    own = ROOT / ".venv"
    pythons = {"own": str(own / "bin" / "python")}
    pythons |= {one: str(own / one / "bin" / "python") for one in ("ray", "training", "ui", "integrations")}
    pythons |= {"syne": args.syne, "dashboard": args.optuna_dashboard}
    missing = [name for name in args.names or MEASUREMENTS if not (out / f"{name}.txt").exists()]
    needed = {pythons[MEASUREMENTS[name].environment] for name in missing}
    needed |= {pythons[one] for name in missing for one in MEASUREMENTS[name].peers()}
    for python in sorted(needed):
        print(f"{time.strftime('%H:%M:%S')} compiling the modules of {python}", flush=True)
        compile_modules(python)
    failed = []
    for name in missing:
        path, one = out / f"{name}.txt", MEASUREMENTS[name]
        script, *arguments = one.command.format(**pythons, out=out).split()
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        if measure(name, [pythons[one.environment], str(ROOT / "benchmarks" / script), *arguments], path):
            path.with_suffix(".failed").unlink(missing_ok=True)
        else:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; see {out}/*.failed")


if __name__ == "__main__":
    main()
