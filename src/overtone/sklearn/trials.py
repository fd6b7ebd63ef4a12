"""The trials of a search: each step evaluates a fold, or trains all folds a part further."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.sklearn.evaluation import METRIC
from overtone.worker.trainables.trainable import Trainable

if TYPE_CHECKING:
    from overtone.sklearn.evaluation import Evaluation, Outcome

PARAMS = "one-of"
"""The key of a config below which the estimator's parameters are, if the search has several spaces.

No parameter has this name, since it is not an identifier.
"""


class FoldTrial(Trainable):
    """A candidate whose step evaluates one more fold."""

    def setup(self, config: dict[str, Any], evaluation: Evaluation) -> None:  # type: ignore[override]
        self._evaluation, self._outcomes = evaluation, list[Any]()

    def step(self) -> dict[str, Any]:
        shared, outcomes = self._evaluation, self._outcomes
        try:
            outcomes.append(shared.evaluate(params_of(self.config), len(outcomes)))
        except Exception as error:
            shared.keep_failure(error)
            raise
        return {
            **outcomes[-1],
            METRIC: shared.mean_score(outcomes),
            "done": len(outcomes) == len(shared.splits),
        }

    def save_checkpoint(self, checkpoint_dir: str) -> dict[str, list[Outcome]]:
        return {"outcomes": self._outcomes}

    def load_checkpoint(self, checkpoint: dict[str, list[Outcome]]) -> None:
        self._outcomes = list(checkpoint["outcomes"])


class PartTrial(Trainable):
    """A candidate whose step trains the estimators of all folds one part further."""

    def setup(self, config: dict[str, Any], evaluation: Evaluation) -> None:  # type: ignore[override]
        self._evaluation, self._parts = evaluation, evaluation.parts(params_of(config))

    def step(self) -> dict[str, Any]:
        shared = self._evaluation
        try:
            outcomes = [shared.evaluate_part(parts, fold) for fold, parts in enumerate(self._parts)]
        except Exception as error:
            shared.keep_failure(error)
            raise
        is_done = self._parts[0].n_trained >= shared.max_iters
        return {"folds": outcomes, METRIC: shared.mean_score(outcomes), "done": is_done}

    def save_checkpoint(self, checkpoint_dir: str) -> dict[str, Any]:
        return {"parts": self._parts}

    def load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        params = params_of(self.config)  # A scheduler may have changed them.
        self._parts = checkpoint["parts"]
        for parts in self._parts:
            parts.estimator.set_params(**params)


def params_of(config: dict[str, Any]) -> dict[str, Any]:
    """Return the estimator's parameters in a config."""
    nested: dict[str, Any] = config.get(PARAMS, config)
    return nested
