"""Options that a dataclass declares with its fields."""

from dataclasses import dataclass

import pytest

from overtone.option import APART, DATA, are_names, at_least, check_options, must, option, options


@dataclass
class Settings:
    plain: int
    tries: int = option(1, "Tries.", changed="taken", check=at_least(1))
    grace: float = option(
        0.5, "Seconds.", changed="", argument="grace_s", config="Config", config_name="patience_s",
        check=at_least(0, "__float__"), recorded=APART,
    )  # fmt: skip
    names: list[str] = option(list, "Names.", changed="taken", check=must(are_names, " must be names"))

    def __post_init__(self):
        check_options(self)


def test_names_follow_from_the_field_and_the_argument():
    tries, grace, _ = options(Settings).values()
    assert (tries.argument, tries.config_name, tries.shown, tries.recorded) == (
        "tries",
        "tries",
        "tries",
        DATA,
    )
    assert (grace.argument, grace.config_name, grace.shown) == ("grace_s", "patience_s", "grace_s")


def test_a_class_as_default_is_called_for_each_object():
    first, second = Settings(1), Settings(1)
    assert first.names == second.names == []
    assert first.names is not second.names


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tries": 0}, "tries=0 must be 1 or more"),
        ({"tries": True}, "tries=True must be a whole number, 1 or more"),
        ({"tries": 1.5}, "tries=1.5 must be a whole number, 1 or more"),
        ({"grace": "soon"}, "grace_s='soon' must be a number, 0 or more"),
        ({"names": [1]}, r"names=\[1\] must be names"),
        ({"names": 1}, "names=1 must be names"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_argument(wrong, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        Settings(1, **wrong)


@pytest.mark.parametrize(
    "right", [{"tries": None}, {"tries": 3}, {"grace": 0}, {"grace": 2.5}, {"names": "a"}]
)
def test_a_right_value_is_kept(right):
    ((name, value),) = right.items()
    assert getattr(Settings(1, **right), name) == value
