"""Appendix A.1 of the ASHA paper: how many configurations are trained to the end despite stragglers."""

import pytest

from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.successive_halving import SuccessiveHalving
from overtone.testing.stragglers import completed


def asha():
    return ASHAScheduler(max_t=256, reduction_factor=4, rule="promote")


def synchronous():
    return SuccessiveHalving(max_t=256, reduction_factor=4, n=256)


@pytest.mark.parametrize(
    ("make", "sd", "paper"),
    [
        (asha, 1, 31),
        (synchronous, 1.5, 16),
        *(
            pytest.param(*one, marks=pytest.mark.full)
            for one in [(asha, 0, 53), (asha, 1.5, 22), (synchronous, 0, 43), (synchronous, 1, 21)]
        ),
    ],
)
def test_25_workers(make, sd, paper):
    counts = [completed(make(), sd, seed) for seed in range(25)]
    assert sum(counts) / len(counts) == pytest.approx(paper, rel=0.1)
