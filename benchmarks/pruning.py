"""What pruning saves and costs: a search with ASHA against one that trains every repeat.

Both search the heterophily space on texas, cornell and chameleon with all methods, 9 repeats and
the same seed. Trainings are cut at 50 epochs (patience 20), so that two processors can carry
it. Runs are kept in benchmarks/results/pruning: started again, the script goes on where it was.

    python -m benchmarks.pruning
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from clar_tune.space import shipped_spaces

FOLDER = Path(__file__).parent / "results" / "pruning"
ARMS = {"asha": [], "every-repeat": ["--no-pruning"]}


def main() -> None:
    """Run both arms, or go on with them, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default="texas,cornell,chameleon")
    parser.add_argument("--trials", default="12")
    parser.add_argument("--time-budget", default="12h")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args()
    folder: Path = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    space = folder / "heterophily-short.yaml"
    text = Path(str(shipped_spaces()["heterophily"])).read_text()
    space.write_text(shortened(text))
    for arm, options in ARMS.items():
        run(arm, [*options, "--space", str(space)], given)
    print_table(folder)


def shortened(text: str) -> str:
    """The space with short trainings."""
    old = next(line for line in text.splitlines() if line.startswith("training:"))
    return text.replace(old, "training: {max_epochs: 50, patience: 20}", 1)


def run(arm: str, options: list[str], given: argparse.Namespace) -> None:
    """Start one arm, or go on with it."""
    budget = ["--store", str(given.folder / "store"), "--time-budget", given.time_budget]
    known = {line["run"] for line in told(["runs"], given.folder)}
    if arm in known:
        command = ["resume", arm, *budget]
    else:
        command = ["run", *options, "--graphs", given.graphs, "--trials", given.trials]
        command += ["--repeats", "9", "--finals", "1", "--name", arm, *budget]
    subprocess.run(
        [sys.executable, "-m", "clar_tune", *command], check=True, stdout=subprocess.DEVNULL
    )


def told(command: list[str], folder: Path) -> Any:
    """What a command prints as JSON."""
    store = ["--store", str(folder / "store"), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "clar_tune", *command, *store],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def print_table(folder: Path) -> None:
    """Repeats trained and best validation scores, per graph and in all."""
    studies = {
        arm: {(s["graph"], s["method"]): s for s in told(["show", arm], folder)["studies"]}
        for arm in ARMS
    }
    asha, full = studies.values()
    print(
        f"{'graph':<10} {'studies':>7} {'repeats':>8} {'of':>6} {'saved':>6} "
        f"{'best val':>9} {'of':>6} {'lost':>6}"
    )
    graphs = list(dict.fromkeys(graph for graph, _ in full))
    for name in [*graphs, "all"]:
        chosen = [study for study in full if name in (study[0], "all")]
        pruned, trained = (sum(arm[s]["repeats"] for s in chosen) for arm in (asha, full))
        means = [
            100 * sum(arm[s]["val_score"] for s in chosen) / len(chosen) for arm in (asha, full)
        ]
        print(
            f"{name:<10} {len(chosen):>7} {pruned:>8} {trained:>6} {1 - pruned / trained:>6.1%} "
            f"{means[0]:>9.2f} {means[1]:>6.2f} {means[1] - means[0]:>+6.2f}"
        )


if __name__ == "__main__":
    main()
