"""The domain of several values, each as likely as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, listed, unit
from overtone.space.samplers import Grid, Sampler, Uniform

if TYPE_CHECKING:
    from random import Random


class Categorical(Domain):
    """One of `categories`, which may be anything.

    A category that is a dict or a list with domains in it is a branch: only the branch that is
    chosen is drawn further. Every other category is taken as it stands.

    Attributes:
        grids: Whether every category is tried, as `grid_search` does, in the place of drawing one.
    """

    def __init__(self, categories: Any, grids: bool = False) -> None:
        self.name = "grid_search" if grids else "choice"
        self.categories: list[Any] = listed(self.name, categories)
        self.grids = grids

    def arguments(self) -> dict[str, Any]:
        return {"categories": self.categories}

    def uniform(self) -> Categorical:
        """Return a choice of one of the categories, each as likely as any other."""
        return Categorical(self.categories)

    def grid(self) -> Categorical:
        """Return all categories, each of them tried: `grid_search(categories)`."""
        return Categorical(self.categories, grids=True)

    def get_sampler(self) -> Sampler:
        return Grid() if self.grids else Uniform()

    def with_sampler(self, sampler: Sampler) -> Categorical:
        if not isinstance(sampler, (Uniform, Grid)):
            raise SpaceError(f"{self!r} has no sampler {sampler}: give Uniform() or Grid()")
        return Categorical(self.categories, isinstance(sampler, Grid))

    @property
    def domain_str(self) -> str:
        return str(self.categories)

    def draw(self, rng: Random) -> Any:
        from overtone.space.draw import sample  # late: a process that only makes domains needs no trees

        return sample({"": self.uniform()}, lambda _: rng)[""]

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

    def __getitem__(self, index: int) -> Any:
        return self.categories[index]
