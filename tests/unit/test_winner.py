"""Which trial wins."""

from types import SimpleNamespace

from clar_tune.winner import Winner, winner


def trial(number, repeats, score, loss=1.0, state="complete"):
    return SimpleNamespace(
        trial=number, state=state, repeats=repeats, val_score=score, val_loss=loss
    )


def test_the_highest_mean_among_those_with_most_repeats_wins():
    trials = [trial(0, 1, 0.99, state="pruned"), trial(1, 9, 0.7), trial(2, 9, 0.8)]
    assert winner(trials, "accuracy", 9) == Winner(2, full=True)


def test_ties_go_to_the_lower_loss_and_then_to_the_lower_number():
    assert winner([trial(0, 9, 0.8, 0.5), trial(1, 9, 0.8, 0.4)], "accuracy", 9).trial == 1
    assert winner([trial(3, 9, 0.8, 0.4), trial(1, 9, 0.8, 0.4)], "accuracy", 9).trial == 1


def test_a_winner_below_full_fidelity_is_flagged():
    trials = [trial(0, 3, 0.8, state="pruned"), trial(1, 1, 0.9, state="pruned")]
    assert winner(trials, "accuracy", 9) == Winner(0, full=False)


def test_failed_and_unfinished_trials_never_win():
    trials = [trial(0, 8, 0.9, state="failed"), trial(1, 8, 0.9, state="running")]
    assert winner(trials, "accuracy", 9) is None
    assert winner([*trials, trial(2, 1, 0.1)], "accuracy", 9).trial == 2


def test_an_error_is_better_when_lower():
    assert winner([trial(0, 9, 0.8), trial(1, 9, 0.2)], "mse", 9).trial == 1


def test_a_study_without_a_search_has_a_winner_without_repeats():
    only = trial(0, 0, None, None)
    assert winner([only], "accuracy", 0) == Winner(0, full=True)
