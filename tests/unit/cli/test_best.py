from __future__ import annotations


def test_the_best_trial(overtone, search):
    done = overtone("best", "search")
    assert done.code == 0
    assert "358bb_00000, the best of 3 by the last value" in done.out
    data = overtone("best", "search", "--json").data
    assert (data["trial_id"], data["value"], data["config"]) == ("358bb_00000", 0.2, {"lr": 0.1, "layers": 2})
    assert (data["metric"], data["mode"], data["scope"], data["checkpoint"]) == ("loss", "min", "last", None)


def test_by_its_best_value_and_by_another_metric(overtone, tell):
    told = tell()
    told.run({}, 0.1, 0.9)
    told.run({}, 0.5, 0.4)
    told.close()
    assert overtone("best", "exp", "--json").data["index"] == 1
    over_all = overtone("best", "exp", "--scope", "all", "--json").data
    assert (over_all["index"], over_all["value"], over_all["best_iteration"]) == (0, 0.1, 1)
    assert "0.1 at iteration 1 (best value)" in overtone("best", "exp", "--scope", "all").out
    assert "0.4 at iteration 2 (last value)\n" in overtone("best", "exp").out
    assert overtone("best", "exp", "--mode", "max", "--json").data["index"] == 0
    later = overtone("best", "exp", "--metric", "training_iteration", "--mode", "max", "--json").data
    assert later["value"] == 2


def test_errors_speak_of_options(overtone, search, tell):
    assert "--mode max or --mode min" in overtone("best", "search", "--metric", "time_total_s").err
    told = tell(metric=[], mode=[])
    trial = told.add({})
    told.start(trial)
    told.report(trial, a=1.0, b=2.0)
    told.close()
    done = overtone("best", "exp")
    assert done.code == 1
    assert "--metric 'a' --mode max or min" in done.err


def test_none_is_best_where_none_reported(overtone, tell):
    tell().close()
    done = overtone("best", "exp")
    assert done.code == 1
    assert "no best trial" in done.err


def test_what_breaks_a_constraint_is_not_the_best(overtone, tell):
    told = tell(constraints={"size": 4})
    for loss, size in ((0.1, 9), (0.3, 4), (0.2, 5)):
        trial = told.add({})
        told.start(trial)
        told.report(trial, loss=loss, size=size)
    told.close()
    assert overtone("best", "exp", "--json").data["index"] == 1
    assert overtone("show", "exp", "--json").data["best"]["value"] == 0.3
    assert "0.3" in overtone("ls").out
