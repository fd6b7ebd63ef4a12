"""The text of a report about one experiment: facts, the best configuration, settings."""

from __future__ import annotations

import json
import shlex
from typing import Any

from overtone.analysis.page.html import facts, lines, short, text
from overtone.analysis.page.tables import config_text
from overtone.control.overview import counted
from overtone.observers.display.plain_text import duration, number
from overtone.quantity_text import size_text

_MOST_SETTINGS = 40


def heading(overview: dict[str, Any], header: dict[str, Any]) -> str:
    """Return the title, and facts about the run.

    Args:
        overview: The experiment as `overtone show --json` has it.
        header: The journal's header.
    """
    of = f" of {overview['planned']} planned" if (overview["planned"] or 0) > overview["trials"] else ""
    results = f"{overview['results']:,} result{'' if overview['results'] == 1 else 's'}"
    versions = [f"Overtone {header.get('overtone', '')}", f"Python {header.get('python', '')}"]
    packages = header.get("packages")
    if isinstance(packages, dict):
        versions += [f"{name} {version}" for name, version in packages.items()]
    return f"<h1>{short(overview['name'], 120)}</h1>" + facts([
        ("state", text(overview["state"])),
        ("trainable", text(overview["trainable"] or "")),
        ("trials", f"{overview['trials']:,}{of}: {text(counted(overview['statuses']))}; {results}"),
        ("goal", text(_goal(header))),
        ("started", _started(overview["started"]) + _resumed(overview["runs"])),
        ("ran for", text(duration(overview["duration_s"])) if overview["duration_s"] is not None else ""),
        ("machine", text(f"{header.get('hostname', '')}, {header.get('platform', '')}")),
        ("command", short(_command(header), 400)),
        ("directory", text(header.get("directory", ""))),
        ("versions", text(", ".join(versions))),
        ("code", text(_commit(header))),
        ("seed", text(header.get("seed", ""))),
        ("folder", f"{text(overview['path'])} ({size_text(overview['size_bytes'] or 0)})"),
    ])  # fmt: skip


def _started(moment: str | None) -> str:
    return text((moment or "").replace("T", " ").replace("Z", " UTC"))


def _resumed(runs: int) -> str:
    if runs < 2:
        return ""
    return ", resumed once" if runs == 2 else f", resumed {runs - 1} times"


def _goal(header: dict[str, Any]) -> str:
    parts = _parts(header)
    metrics, modes = parts.get("metric") or [], parts.get("mode") or []
    return ", ".join(f"{mode} {metric}" for metric, mode in zip(metrics, modes, strict=False))


def _command(header: dict[str, Any]) -> str:
    command = header.get("command")
    return shlex.join(map(str, command)) if isinstance(command, list) else ""


def _commit(header: dict[str, Any]) -> str:
    git = header.get("git")
    if not isinstance(git, dict) or not git.get("commit"):
        return ""
    return f"git commit {git['commit']}{', with uncommitted changes' if git.get('dirty') else ''}"


def _parts(header: dict[str, Any]) -> dict[str, Any]:
    parts = header.get("parts")
    return parts if isinstance(parts, dict) else {}


def best_configuration(
    trial: Any, metric: str, value: float, t: int, on_the_way: tuple[float, int] | None
) -> str:
    """Return the best trial with its whole configuration.

    Args:
        trial: The `RecordedTrial`.
        metric: The metric that ranks trials.
        value: Its last value.
        t: The iteration of that value.
        on_the_way: Its best value and that iteration, if it was better on the way.
    """
    better = ""
    if on_the_way is not None and on_the_way[0] != value:
        better = f"<p class=small>best on the way: {number(on_the_way[0])} at iteration {on_the_way[1]:,}</p>"
    return (
        "<h2>Best configuration</h2>\n<div class=card>"
        f"<p><span class=value>{short(metric)} = {number(value)}</span></p>"
        f"<p class=small>{text(trial.trial_id)}, trial number {trial.index}; "
        f"its last value, at iteration {t:,}</p>"
        f"{better}<pre>{lines(config_text(trial.config))}</pre></div>"
    )


def settings(header: dict[str, Any]) -> str:
    """Return scheduler, searcher and stop condition, with their arguments."""
    parts = _parts(header)
    pairs = [(name, _part(parts.get(name))) for name in ("scheduler", "searcher", "stop")]
    return f"<h2>Search settings</h2>\n{facts(pairs)}" if any(html for _, html in pairs) else ""


def _part(part: Any) -> str:
    if part is None:
        return ""
    if not isinstance(part, dict) or "path" not in part:
        return short(json.dumps(part, ensure_ascii=False, default=str), 300)
    arguments = part.get("arguments")
    given = list(arguments.items())[:_MOST_SETTINGS] if isinstance(arguments, dict) else []
    shown = ", ".join(
        f"{short(name)}={short(json.dumps(value, ensure_ascii=False, default=str), 120)}"
        for name, value in given
        if value is not None
    )
    return f'{text(str(part["path"]).rpartition(".")[2])}<br><span class="faint small">{shown}</span>'
