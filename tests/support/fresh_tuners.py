"""``clar-tune`` that begins a new Tuner after every few trials of Tune."""

from clar_tune.cli import main
from clar_tune.cluster import prepare

if __name__ == "__main__":
    prepare("local")
    from clar_tune.cluster import tune_hooks

    tune_hooks.TRIALS_PER_TUNER = 4
    main()
