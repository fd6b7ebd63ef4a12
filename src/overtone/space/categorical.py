"""One of several values, each as likely as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, global_rng, listed, unit

if TYPE_CHECKING:
    from random import Random


class Categorical(Domain):
    """One of `categories`, which may be anything.

    A category that is a dict or a list with domains in it is a branch: only the branch that is
    chosen is drawn further. Every other category is taken as it stands.
    """

    name = "choice"

    def __init__(self, categories: Any) -> None:
        self.categories: list[Any] = listed("choice", categories)

    def arguments(self) -> dict[str, Any]:
        return {"categories": self.categories}

    def sample(self, rng: Random | None = None) -> Any:
        from overtone.space.draw import sample  # late: a process that only makes domains needs no trees

        generator = rng or global_rng()
        return sample({"": self}, lambda _: generator)[""]

    def quantile(self, u: float) -> Any:
        """Return the category at `u`, as it stands: the domains of a branch stay domains."""
        return self.categories[min(int(unit(u) * len(self.categories)), len(self.categories) - 1)]

    def cdf(self, value: Any) -> float:
        index = self._index(value)
        if index is None:
            raise SpaceError(f"{value!r} is none of the categories of {self!r}")
        return (index + 0.5) / len(self.categories)

    def contains(self, value: Any) -> bool:
        return self._index(value) is not None

    def _index(self, value: Any) -> int | None:
        from overtone.space.match import option_of
        from overtone.space.tree import Pick, parse

        pick = parse({"": self}).items[""]
        assert isinstance(pick, Pick)
        return option_of(pick, value)

    def __len__(self) -> int:
        return len(self.categories)
