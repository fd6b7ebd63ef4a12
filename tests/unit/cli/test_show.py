from __future__ import annotations


def test_an_experiment_and_its_trials_best_first(overtone, search):
    done = overtone("show", "search")
    lines = done.out.split("\n")
    assert done.code == 0
    assert lines[0].split() == ["experiment", "search"]
    assert "trials      4: 3 done, 1 failed; 6 results" in lines
    assert "best        loss=0.2 by 358bb_00000 (last value)" in lines
    assert "its config  lr=0.1, layers=2" in lines
    table = [line.split()[0] for line in lines if line.startswith("358bb")]
    assert table == ["358bb_00000", "358bb_00002", "358bb_00001", "358bb_00003"]
    assert "asha at rung 1: 2 of 3" in done.out
    assert "ValueError: lr is too high" in done.out


def test_the_goal_has_all_objectives(overtone, tell):
    tell("two", metric=["loss", "acc"], mode=["min", "max"]).close()
    assert "goal        min loss, max acc: ranked by the first" in overtone("show", "two").out
    ranked = overtone("show", "two", "--metric", "acc", "--mode", "max").out
    assert "goal        max acc, min loss: ranked by the first" in ranked


def test_nodes_are_shown_if_trials_ran_on_several(overtone, tell):
    told = tell()
    for node in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
        told.start(told.add({"lr": 0.1}), node=node)
    told.write()
    lines = overtone("show", "exp").out.split("\n")
    assert next(line for line in lines if line.startswith("trial ")).split()[-1] == "node"
    rows = [line for line in lines if line.startswith("358bb")]
    assert [row.split()[-1] for row in rows] == ["10.0.0.1", "10.0.0.1", "10.0.0.2"]
    assert "10.0.0" not in overtone("show", "exp", "-n", 2).out
    assert "node       10.0.0.2" in overtone("show", "exp", 2).out


def test_newest_failed_and_how_many(overtone, search):
    def ids(*options: object) -> list[str]:
        out = overtone("show", "search", *options).out
        return [line.split()[0][-1] for line in out.split("\n") if line.startswith("358bb")]

    assert ids("--newest") == ["3", "2", "1", "0"]
    assert ids("--failed") == ["3"]
    assert ids("-n", 1) == ["0"]
    assert ids("--metric", "loss", "--mode", "max") == ["1", "2", "0", "3"]


def test_the_shape_for_scripts(overtone, search):
    data = overtone("show", "search", "--json").data
    assert set(data) - set(overtone("ls", "--json").data[0]) == {
        "seed", "command", "directory", "code", "parts", "trial_list",
    }  # fmt: skip
    first = data["trial_list"][0]
    assert first == {
        "trial_id": "358bb_00000",
        "index": 0,
        "name": "train_358bb_00000",
        "status": "TERMINATED",
        "end": "finished",
        "config": {"lr": 0.1, "layers": 2},
        "value": 0.2,
        "training_iteration": 4,
        "time_total_s": 4.0,
        "results": 4,
        "why": {
            "rule": "returned", "t": None, "rung": None, "cutoff": None, "rank": None, "of": None,
            "against": [], "note": "", "bracket": None,
        },
        "failures": 0,
        "error": None,
        "path": f"{search}/358bb_00000",
    }  # fmt: skip


def test_all_trials_are_in_the_json_where_nobody_asks_for_fewer(overtone, tell):
    told = tell()
    for i in range(30):
        told.run({"x": i}, 1.0)
    told.close()
    assert len(overtone("show", "exp", "--json").data["trial_list"]) == 30
    assert len(overtone("show", "exp", "--json", "-n", 5).data["trial_list"]) == 5
    assert "... 10 more" in overtone("show", "exp").out


def test_one_trial_with_its_traceback(overtone, search):
    done = overtone("show", "search", 3)
    assert done.code == 0
    assert "config lr      9" in done.out
    assert "Traceback ..." in done.out
    data = overtone("show", "search", 3, "--json").data
    assert (data["status"], data["failures"], data["last_result"]) == ("ERROR", 1, None)


def test_a_metric_that_nobody_reported(overtone, search):
    done = overtone("show", "search", "--metric", "los")
    assert done.code == 1
    assert "did you mean 'loss'" in done.err


def test_numbers_that_json_does_not_know_are_texts(overtone, tell):
    told = tell()
    trial = told.add({"x": float("inf")})
    told.start(trial)
    told.report(trial, loss=float("nan"), other=float("-inf"))
    told.close()
    data = overtone("show", "exp", 0, "--json").data
    assert (data["value"], data["config"]["x"], data["last_result"]["other"]) == ("nan", "inf", "-inf")


def test_an_experiment_of_which_nothing_is_known_yet(overtone, tell):
    tell(metric=[], mode=[]).close()
    done = overtone("show", "exp")
    assert done.code == 0
    assert "trials      0: none; 0 results" in done.out


def test_trials_rank_by_their_last_value_or_in_another_scope(overtone, tell):
    told = tell()
    told.run({"x": 1}, 0.1, 0.9)
    told.run({"x": 2}, 0.5, 0.4)
    told.close()
    out = overtone("show", "exp").out
    assert "loss=0.4 by 358bb_00001 (last value)\n" in out
    assert "best loss (iter)" in out
    assert "0.1 (1)" in out  # on the way, of the other trial
    out = overtone("show", "exp", "--scope", "all").out
    assert "loss=0.1 by 358bb_00000 (best value)\n" in out
    assert "loss (all)" in out
    best = overtone("show", "exp", "--json", "--mode", "max").data["best"]
    assert best == {
        "trial_id": "358bb_00000", "value": 0.9, "scope": "last", "best_value": 0.9, "best_iteration": 2,
    }  # fmt: skip


def test_what_the_nodes_did(overtone, search):
    from overtone.store.folder_mark import FolderMark
    from overtone.worker.machines.ring import Ring
    from overtone.worker.machines.sample import MachineSample

    assert "CPU" not in overtone("show", "search").out
    ring = Ring(FolderMark(str(search)), "worker-2")
    for cpu, used in ((float("nan"), 1 << 30), (0.5, 3 << 30), (0.7, 2 << 30)):
        ring.put(MachineSample(0.0, cpu, 4, used, 8 << 30, 1, 2))
    ring.close()
    assert "worker-2: CPU 60% on average, memory up to 3.22 GB of 8.59 GB" in overtone("show", "search").out
