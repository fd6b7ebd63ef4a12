"""Multiples of a quantum, without the dust of binary fractions."""

from __future__ import annotations

from overtone.errors import SpaceError

_TOLERANCE = 1e-9


def decimals(q: float) -> int:
    """Return the number of decimal places of `q`: 1 for 0.1, 5 for 5e-05."""
    mantissa, _, exponent = repr(float(q)).partition("e")
    fraction = mantissa.partition(".")[2].rstrip("0")
    return max(0, len(fraction) - int(exponent or 0))


def multiple(k: int, q: float, digits: int) -> float:
    """Return `k * q` as people write it: 0.3 for k=3, q=0.1."""
    return round(k * q, digits) if digits else float(k * q)


def is_multiple(value: float, q: float) -> bool:
    """Return whether `value` is a multiple of `q`, up to rounding errors."""
    ratio = value / q
    return abs(ratio - round(ratio)) <= _TOLERANCE * max(1.0, abs(ratio))


def inner(lower: float, upper: float, q: float) -> tuple[int, int]:
    """Return the first and the last k for which k * q is within the bounds."""
    first, last = lower / q, upper / q
    near = _TOLERANCE * max(1.0, abs(first), abs(last))
    return int(-((near - first) // 1)), int((last + near) // 1)


def check_quantum(call: str, lower: float, upper: float, q: float, must_divide: bool = True) -> None:
    """Refuse a quantum that does not fit the bounds.

    Raises:
        SpaceError: q is not above 0, wider than the range, or a bound is not its multiple.
    """
    if q <= 0:
        raise SpaceError(f"{call}: q={q!r} must be above 0")
    if q > (upper - lower) * (1 + _TOLERANCE):
        raise SpaceError(f"{call}: q={q!r} is wider than the range from {lower!r} to {upper!r}")
    for name, bound in (("lower", lower), ("upper", upper)) if must_divide else ():
        if not is_multiple(bound, q):
            below = multiple(int(bound // q), q, decimals(q))
            above = multiple(int(bound // q) + 1, q, decimals(q))
            raise SpaceError(
                f"{call}: {name}={bound!r} is not a multiple of q={q!r}; {below:g} or {above:g} would be"
            )
