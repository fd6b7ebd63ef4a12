"""Operators whose parts come from functions, as scripts wrote trainings before there were operators."""

from __future__ import annotations

from typing import Any

import torch

from overtone.errors import UsageError


class CreatorOperator:
    """The part of an operator that calls creator functions in `setup`; see `from_creators`."""

    _creators: dict[str, Any]

    def setup(self: Any, config: dict[str, Any]) -> None:
        """Call the creators, and register what they return."""
        creators = self._creators
        models = creators["model_creator"](config)
        optimizers = creators["optimizer_creator"](models, config)
        parts = {}
        if "loss_creator" in creators:
            creator = creators["loss_creator"]
            is_class = isinstance(creator, type) and issubclass(creator, torch.nn.Module)
            parts["criterion"] = creator() if is_class else creator(config)
        if "scheduler_creator" in creators:
            parts["schedulers"] = creators["scheduler_creator"](optimizers, config)
        self.register(models=models, optimizers=optimizers, **parts)
        if "data_creator" in creators:
            train_loader, validation_loader = loaders(creators["data_creator"](config))
            self.register_data(train_loader=train_loader, validation_loader=validation_loader)


def with_creators(base: type[Any], **creators: Any) -> type[Any]:
    """Return an operator that trains what the functions make, with the loops of `base`.

    Args:
        base: The class of operator.
        creators: The functions by name; None where there is none.

    Raises:
        UsageError: One of them cannot be called, or the model's or the optimizer's is missing.
    """
    for name, creator in creators.items():
        is_needed = name in ("model_creator", "optimizer_creator")
        if not callable(creator) and (creator is not None or is_needed):
            raise UsageError(
                f"{name}={creator!r:.100}: must be a function of the config that returns the object"
            )
    own = {name: creator for name, creator in creators.items() if creator is not None}
    return type("CreatorOperator", (CreatorOperator, base), {"_creators": own, "__module__": __name__})


def loaders(given: Any) -> tuple[Any, Any]:
    """Return the loaders for training and validation of what a data creator returned.

    Raises:
        UsageError: There are more than two.
    """
    if not isinstance(given, (list, tuple)):
        return given, None
    if not 1 <= len(given) <= 2:
        raise UsageError(
            f"data_creator returned {len(given)} loaders: it must return train_loader, or (train_loader, "
            "validation_loader)"
        )
    return given[0], given[1] if len(given) == 2 else None
