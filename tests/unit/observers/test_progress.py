from __future__ import annotations

from typing import Any

from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.messages import Moved, Record, Requested, Resumed, Ruled, Steered
from overtone.core.table import TrialTable
from overtone.core.types import Why
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.progress import Best, Progress
from overtone.observers.display.sentences import summary
from overtone.testing.scripted_records import Story

NAN = float("nan")


def facts(**more: Any) -> ConsoleFacts:
    return ConsoleFacts("exp", "/results/exp", "local engine", lambda: 0.0, **more)


def apply(progress: Progress, record: Record) -> None:
    progress.table.apply(record)
    progress.apply(record)


def folded(story: Story, progress: Progress) -> Progress:
    for record in story.records:
        apply(progress, record)
    return progress


def one_trial() -> tuple[Story, str]:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    return story, trial


def test_nan_never_wins_and_min_is_min() -> None:
    story, trial = one_trial()
    for loss in (NAN, 0.5, 0.7, NAN, 0.4, "0.1", None):
        story.report(trial, loss=loss)
    progress = folded(story, Progress(facts(metric="loss", mode="min"), TrialTable()))
    assert progress.best is not None
    assert (progress.best.value, progress.best.t, progress.best.trial_id) == (0.4, 5, trial)
    assert (progress.best.best_value, progress.best.best_t) == (0.4, 5)
    assert progress.n_results == 7


def test_a_whole_number_beyond_all_floats_counts_as_infinite() -> None:
    story, trial = one_trial()
    for loss in (0.5, -(10**400), 10**400):
        story.report(trial, loss=loss)
    story.end(trial)
    progress = folded(story, Progress(facts(metric="loss", mode="min"), TrialTable()))
    assert progress.best is None


def test_the_best_value_on_the_way_is_that_of_the_best_trial() -> None:
    story, other = one_trial()
    best = story.add({})
    story.start(best)
    for loss in (0.1, 0.9):
        story.report(other, loss=loss)
    for loss in (0.4, 0.2, 0.2, 0.3):
        story.report(best, loss=loss)
    progress = folded(story, Progress(facts(metric="loss", mode="min"), TrialTable()))
    assert progress.best == Best(0.3, best, 4, {}, best_value=0.2, best_t=2)


def test_what_breaks_a_constraint_is_never_the_best() -> None:
    story, trial = one_trial()
    for loss, size in ((0.5, 3), (0.1, 9), (0.4, 4)):
        story.report(trial, loss=loss, size=size)
    limits = Goal("loss", "min", constraints={"size": 4})
    progress = folded(story, Progress(facts(metric="loss", mode="min", limits=limits), TrialTable()))
    assert progress.best == Best(0.4, trial, 3, {"lr": 0.1}, best_value=0.4, best_t=3)
    apply(progress, story.report(trial, loss=0.2, size=9))
    assert progress.best is None  # the last result counts


def test_results_without_the_goal_still_count() -> None:
    story, trial = one_trial()
    story.report(trial, other=1)
    progress = folded(story, Progress(facts(metric="acc"), TrialTable()))
    assert (progress.n_results, progress.best) == (1, None)


def test_goal_may_be_nested() -> None:
    story, trial = one_trial()
    story.report(trial, eval={"acc": 0.9})
    best = folded(story, Progress(facts(metric="eval/acc"), TrialTable())).best
    assert best is not None
    assert best.value == 0.9


def test_goal_may_be_found_with_the_first_result() -> None:
    goal: list[tuple[str | None, str | None]] = [(None, None)]
    progress = Progress(facts(goal=lambda: goal[0]), TrialTable())
    story, trial = one_trial()
    folded(story, progress)
    assert progress.metric is None
    goal[0] = ("loss", "min")
    apply(progress, story.report(trial, loss=2.0))
    apply(progress, story.report(trial, loss=3.0))
    assert progress.best is not None
    assert (progress.best.value, progress.best.best_value) == (3.0, 2.0)


def test_redone_results_are_not_counted() -> None:
    story, trial = one_trial()
    story.report(trial, loss=1.0)
    record = story.report(trial, Ruled(trial, 1, "redone"), loss=0.1)
    progress = folded(story, Progress(facts(metric="loss", mode="min"), TrialTable()))
    assert record.choices
    assert progress.n_results == 1
    assert progress.best is not None
    assert progress.best.value == 1.0


def test_endings_carry_their_reason_and_statuses_are_the_user_s() -> None:
    story = Story()
    trials = [story.add({"lr": i}) for i in range(4)]
    for trial in trials[:3]:
        story.start(trial)
    why = Why("asha", rung=3)
    story.report_stopped(trials[0], why, acc=0.1)
    story.end(trials[0], "halted", why)
    story.end(trials[1], "raised", error="ValueError: x")
    progress = folded(story, Progress(facts(metric="acc"), TrialTable()))
    assert [(one.row.id, one.why and one.why.rule) for one in progress.endings] == [
        (trials[0], "asha"),
        (trials[1], "raised"),
    ]
    assert progress.counts == {"TERMINATED": 1, "ERROR": 1, "RUNNING": 1, "PENDING": 1}
    assert (progress.n_ended, progress.rules, list(progress.running)) == (2, {"asha": 1}, [trials[2]])
    progress.clear_news()
    assert (progress.endings, progress.n_endings_before) == ([], 2)


def test_a_trial_that_recovers_has_not_ended() -> None:
    story, trial = one_trial()
    story.recover(trial, "ValueError: x")
    progress = folded(story, Progress(facts(), TrialTable()))
    assert (progress.endings, progress.running, progress.counts) == ([], {}, {"PENDING": 1})


def test_one_that_is_tried_again_on_request_has_not_failed() -> None:
    story, trial = one_trial()
    other = story.add({"lr": 0.2})
    story.start(other)
    for one in (trial, other):
        story.end(one, "raised", error="ValueError: x")
    progress = folded(story, Progress(facts(metric="acc"), TrialTable()))
    apply(progress, Record(len(story.records) + 1, Resumed(9.0, Limits()), (Moved(trial, "PENDING", 1),)))
    assert [row.id for row in progress.failed] == [other]
    assert summary(progress, 1.0)[1:3] == ["failed: 1, tracebacks in /results/exp/358bb_00001/error.txt",
                                           "results: /results/exp"]  # fmt: skip


def test_finished_trials_are_ranked_and_all_but_the_best_forget_their_metrics() -> None:
    progress = Progress(facts(metric="acc"), TrialTable())
    story = Story()
    values = [NAN, *(i / 100 for i in range(100)), None]
    for value in values:
        trial = story.add({"lr": 1})
        story.start(trial)
        story.report(trial, acc=value, other=1)
        story.end(trial)
    folded(story, progress)
    ranked = [row.metrics["acc"] for _, _, row in progress.best_ended]
    assert ranked == [i / 100 for i in range(99, 35, -1)]
    kept = [row for row in progress.table.rows.values() if "other" in row.metrics]
    assert len(kept) == len(ranked)
    assert all("acc" in row.metrics for row in progress.table.rows.values())


def test_news_that_nobody_takes_stays_bounded() -> None:
    progress = Progress(facts(metric="acc"), TrialTable(), keeps_results=True)
    story, trial = one_trial()
    folded(story, progress)
    template = story.report(trial, acc=0.1)
    for n in range(10_500):
        apply(progress, Record(template.n + n, template.event))
    assert progress.n_results == 10_500
    assert len(progress.results) == 10_000


def test_the_total_follows_limits_and_counts_added_trials() -> None:
    story, _ = one_trial()
    progress = folded(story, Progress(facts(total=lambda: 1), TrialTable()))
    assert progress.total == 1
    story.add({"lr": 0.2})
    apply(progress, story.records[-1])
    assert progress.total == 2
    apply(progress, Record(90, Resumed(9.0, Limits(total=5)), ()))
    assert progress.total == 5
    apply(
        progress,
        Record(
            91, Requested(9.5, "set_limits", limits={"num_samples": 7}), (Steered(limits=Limits(total=7)),)
        ),
    )
    assert progress.total == 7
    apply(progress, Record(92, Resumed(9.9, Limits()), ()))
    assert progress.total is None
