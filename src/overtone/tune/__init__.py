"""The public API: `from overtone import tune`.

Each name is imported on first use. Importing this
package is therefore cheap, also in trial processes. `tune.params` and
`tune.checkpoint` return the values of the running trial.
"""

from overtone.lazy import attach as _attach

_OF_THE_TRIAL = ("checkpoint", "params")

_attached, _names = _attach(__name__)
_is_explained = False


def __getattr__(name):
    if name in _OF_THE_TRIAL:  # never cached: the values belong to the running trial
        from overtone.tune.session import of_the_trial

        return of_the_trial(name)
    if name in ("create_study", "load_study"):
        raise AttributeError(f'tune has no {name!r}: use tune.ask_tell(space, metric="loss", mode="min")')
    _explain()
    return _attached(name)


def _explain():
    """Let uncaught errors be shown in short from the first use of a public name on."""
    global _is_explained
    if not _is_explained:
        from overtone.errors import TuneError
        from overtone.uncaught import explain_uncaught

        explain_uncaught(TuneError)
        _is_explained = True


def __dir__():
    return [*_names(), *_OF_THE_TRIAL]
