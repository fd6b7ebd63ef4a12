"""The public API: `from overtone import tune`.

Each name is imported on first use. Importing this
package is therefore cheap, also in trial processes. `tune.params` and
`tune.checkpoint` return the values of the running trial.
"""

from overtone.lazy import attach

_OF_THE_TRIAL = ("checkpoint", "params")

_attached, _names = attach(__name__)


def __getattr__(name):
    if name in _OF_THE_TRIAL:  # never cached: the values belong to the running trial
        from overtone.tune.session import of_the_trial

        return of_the_trial(name)
    return _attached(name)


def __dir__():
    return [*_names(), *_OF_THE_TRIAL]
