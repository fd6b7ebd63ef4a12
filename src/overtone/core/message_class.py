"""Classes of immutable values that are created by the million."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda decorator: decorator


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def message(kind: type[T]) -> type[T]:
    """Return a dataclass with slots that is frozen for the type checker only.

    An instance that is frozen at run time takes five times as long to create, which was a fifth of
    the time of a simulated search.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
