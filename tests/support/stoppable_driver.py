"""A driver that writes rows until a file says that it is enough; a test may stop it anywhere.

`python stoppable_driver.py STORE TRIALS`: opens the run `it` and brings it to that many trials of
three repeats each, which depend on nothing but their numbers, and flushes after each. It prints
the key of each row that it was told is safe. Errors end it as they end ``clar-tune``.
"""

import sys

from support.stored_rows import final_row, repeat_row, trial_row

from clar_tune.errors import ClarTuneError
from clar_tune.rows import RepeatRow
from clar_tune.store import Access, Store, tables

REPEATS = 3


def main(url: str, trials: int) -> None:
    """Do what is left of the run."""
    tables.ROWS_PER_PART, tables.TRIALS_PER_PART = 8, 3  # several parts
    store = Store.open(url, access=Access(say=lambda text: None))
    run = store.reopen("it")
    keys = set(store.table("repeats", "it", ["key"])["key"].to_pylist())
    ended = {row.trial for row in store.trials("it") if row.state == "complete"}
    # As a search is restored: repeats that never arrived are done again, whatever a trial says.
    done = {trial for trial in ended if keys >= {row.key for row in repeats_of(trial)}}
    finals = set(store.table("finals", "it", ["key"])["key"].to_pylist())
    for trial in range(trials):
        if trial in done:
            continue
        run.append([trial_row(trial)])
        fresh = [row for row in repeats_of(trial) if row.key not in keys]
        run.append([*fresh, trial_row(trial, state="complete", repeats=REPEATS)])
        told([row.key for row in fresh])
        run.flush()
    if final_row(0).key not in finals:
        run.append([final_row(0)])
        told([final_row(0).key])
    run.close(state="finished")


def repeats_of(trial: int) -> list[RepeatRow]:
    """The repeats of a trial."""
    return [repeat_row(trial * REPEATS + repeat) for repeat in range(REPEATS)]


def told(keys: list[str]) -> None:
    """Say that rows are safe."""
    sys.stdout.write("".join(f"{key}\n" for key in keys))
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except ClarTuneError as error:
        sys.exit(f"clar-tune: {error}")
