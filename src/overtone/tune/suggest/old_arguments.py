"""`max_concurrent` and `reward_attr` of searchers, in the first versions of the API."""

from __future__ import annotations

from typing import Any, TypeVar

from overtone.schedulers.arguments import goal_of

Kind = TypeVar("Kind", bound=type)


def with_old_arguments(kind: Kind) -> Kind:
    """Return a subclass of the searcher `kind` that also accepts `max_concurrent` and `reward_attr`.

    Its limit of concurrent trials is `max_concurrent`, as `ConcurrencyLimiter` sets it.
    """

    def __init__(
        self: Any, *args: Any, max_concurrent: int = 0, reward_attr: str | None = None, **kwargs: Any
    ) -> None:
        super(made, self).__init__(*args, **{**kwargs, **goal_of(reward_attr)})
        self.max_concurrent = max_concurrent

    made: Any = type(kind.__name__, (kind,), {"__init__": __init__, "__doc__": kind.__doc__})
    made.__module__ = f"overtone.tune.suggest.{kind.__module__.rpartition('.')[2]}"  # where pickle finds it
    return made  # type: ignore[no-any-return]
