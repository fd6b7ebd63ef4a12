"""The command line of a trial: placeholders, the macros of W&B's sweep files, and Hydra's overrides."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from overtone.errors import ArgumentError
from overtone.lazy import nearest
from overtone.program.hydra_values import override

_PLACEHOLDER = re.compile(r"\{\{([\w./+~@-]+)\}\}|(?<!\$)\{([A-Za-z_+~][\w./+~@-]*)\}")
_MACRO = re.compile(r"\$\{(\w+)\}")
_VARIABLE = re.compile(r"\$\{envvar:(\w+)\}")

MACROS = frozenset(
    {
        "args", "args_no_equals", "args_no_hyphens", "args_no_boolean_flags", "args_json", "args_json_file",
        "args_append_hydra", "args_override_hydra",
    }
)  # fmt: skip
"""Macros of W&B that stand for all parameters."""

FACTS = ("trial_id", "trial_dir", "checkpoint_dir", "experiment", "seed")
"""Placeholders that every trial has."""


def filled(
    template: Sequence[str], config: Mapping[str, Any], facts: Mapping[str, Any], json_file: str, hydra: bool
) -> list[str]:
    """Return the command of a trial.

    Args:
        template: The words of the command.
        config: The parameters, which `{name}`, `{branch.name}` and the macros stand for.
        facts: Values of `FACTS`.
        json_file: The path that `${args_json_file}` stands for.
        hydra: Whether parameters are appended as Hydra's overrides.

    Raises:
        ArgumentError: A placeholder is not a parameter.
    """
    words: list[str] = []
    for word in with_all_parameters(template, config, hydra):
        macro = _MACRO.fullmatch(word)
        if macro and macro[1] in MACROS:
            words += _expanded(macro[1], config, json_file)
            continue
        word = _VARIABLE.sub(lambda found: os.environ.get(found[1], found[1]), word)
        words.append(_PLACEHOLDER.sub(lambda found: _shown(found, config, facts), word))
    if hydra:
        words += [override(name, value) for name, value in _leaves(config) if not _mentioned(template, name)]
        if not any(word.startswith("hydra.run.dir=") for word in words):
            words.append(override("hydra.run.dir", facts["trial_dir"]))
    return words


def without_interpreter(words: Sequence[str], program: str | None = None) -> list[str]:
    """Return the words of a command with the macros that are equal for all trials filled in.

    Args:
        program: The script that `${program}` stands for.

    Raises:
        ArgumentError: `${program}` stands for nothing.
    """
    values = {"${env}": "/usr/bin/env", "${interpreter}": sys.executable, "${program}": program}
    found = [values.get(word, word) for word in words]
    if None in found:
        raise ArgumentError(
            "${program} is in the command, and the sweep file has no program: name the script"
        )
    return [word for word in found if word is not None]


def with_all_parameters(template: Sequence[str], config: Mapping[str, Any], hydra: bool) -> list[str]:
    """Return the template with `${args}` at its end, if it names no parameter.

    Raises:
        ArgumentError: It names some of the parameters, but not all.
    """
    words = list(template)
    if hydra or not config or any((found := _MACRO.fullmatch(word)) and found[1] in MACROS for word in words):
        return words
    names = [name for name, _ in _leaves(config)]
    missing = [name for name in names if not _mentioned(words, name)]
    if len(missing) == len(names):
        return [*words, "${args}"]
    if missing:
        raise ArgumentError(
            f"parameter {missing[0]!r} is not in the command: add --{missing[0]} {{{missing[0]}}}, "
            "or leave out all placeholders to get every parameter as --name=value"
        )
    return words


def _mentioned(words: Sequence[str], name: str) -> bool:
    """Return whether a command names a parameter, or a branch that it belongs to."""
    named = {
        found[2].replace("/", ".") for word in words for found in _PLACEHOLDER.finditer(word) if found[2]
    }
    parts = name.split(".")
    return any(".".join(parts[:count]) in named for count in range(1, len(parts) + 1))


def _expanded(macro: str, config: Mapping[str, Any], json_file: str) -> list[str]:
    """Return the words that a macro of W&B stands for, as W&B's agent writes them."""
    if macro == "args_json":
        return [json.dumps(config, default=str)]
    if macro == "args_json_file":
        return [json_file]
    pairs = list(config.items())
    if macro == "args_no_equals":
        return [word for name, value in pairs for word in (f"--{name}", str(value))]
    if macro == "args_no_boolean_flags":
        return [
            f"--{name}" if value is True else f"--{name}={value}"
            for name, value in pairs
            if value is not False
        ]
    before = {"args": "--", "args_append_hydra": "+", "args_override_hydra": "++"}.get(macro, "")
    return [f"{before}{name}={value}" for name, value in pairs]


def _shown(found: re.Match[str], config: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    if found[1]:
        return f"{{{found[1]}}}"
    name = found[2]
    value: Any = config
    for part in re.split(r"[./]", name) if name not in config else [name]:
        if not isinstance(value, Mapping) or part not in value:
            break
        value = value[part]
    else:
        return json.dumps(value, default=str) if isinstance(value, (Mapping, list, tuple)) else str(value)
    if name in facts:
        return str(facts[name])
    known = [*(one for one, _ in _leaves(config)), *FACTS]
    raise ArgumentError(
        f"{found[0]} is not a parameter{nearest(name, known)}: the command may name "
        f"{', '.join(known)}. Write {{{found[0]}}} for the text itself"
    )


def _leaves(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return the name, such as "model.layers", and the value of each parameter."""
    found: list[tuple[str, Any]] = []
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            found += _leaves(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", value))
    return found
