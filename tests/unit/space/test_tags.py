from overtone.space import (
    choice,
    flatten,
    grid_search,
    loguniform,
    randint,
    sample_from,
    tag,
    uniform,
    variables,
)


class Net:
    pass


def test_tags_are_sorted_and_short():
    space = {"momentum": uniform(0, 1), "lr": loguniform(1e-5, 1), "k": 3}
    assert tag(space, {"lr": 0.000312345, "momentum": 0.31, "k": 3}, 6) == "6_lr=0.0003123,momentum=0.31"


def test_ambiguous_names_get_their_whole_path():
    space = {"a": {"lr": uniform(0, 1)}, "b": {"lr": uniform(0, 1)}, "n": randint(0, 10**9)}
    assert (
        tag(space, {"a": {"lr": 0.1}, "b": {"lr": 0.2}, "n": 123456789}, 0)
        == "0_a.lr=0.1,b.lr=0.2,n=123456789"
    )


def test_branches_show_what_is_in_them_and_lists_their_name():
    space = {
        "opt": choice([{"name": "sgd", "m": uniform(0, 1)}, {"name": "adam"}]),
        "l": [1, {"x": 2}, choice([3])],
    }
    config = {"opt": {"name": "adam"}, "l": [1, {"x": 2}, 3]}
    assert tag(space, config, 1) == "1_l.2=3,opt=name_adam"
    config["opt"] = {"name": "sgd", "m": 0.5}
    assert tag(space, config, 1) == "1_l.2=3,m=0.5,name=sgd"


def test_nothing_unfit_for_a_file_name():
    space = {
        "p": grid_search(["/tmp/x y", Net]),
        "f": sample_from(lambda c: {"a": [1, 2]}),
        "v/w": choice([len]),
    }
    shown = tag(space, {"p": "/tmp/x y", "f": {"a": [1, 2]}, "v/w": len}, 2)
    assert shown == "2_f=a_1_2,p=tmp_x_y,w=len"
    assert tag(space, {"p": Net, "f": 1, "v/w": len}, 2) == "2_f=1,p=Net,w=len"
    assert len(tag(space, {"p": "x" * 999, "f": 1, "v/w": len}, 2)) <= 160


def test_without_variables_only_the_index():
    assert tag({"a": 1}, {"a": 1}, 4) == "4"


def test_flatten():
    assert flatten({"a": {"b": 1, "c": {}}, "d": [1]}) == {"a/b": 1, "a/c": {}, "d": [1]}


def test_variables_are_the_paths_that_may_differ():
    space = {
        "use_gpu": True,
        "lr": uniform(0, 1),
        "net": {"width": choice([1, 2]), "depth": 3},
        "optimizer": choice([{"name": "sgd", "momentum": uniform(0, 1)}, {"name": "adam"}]),
        "layers": grid_search([[1], [2]]),
    }
    assert variables(space) == ["lr", "net/width", "optimizer/name", "optimizer/momentum", "layers"]
