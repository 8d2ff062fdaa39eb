"""Compare both engines; each part can be interrupted, the same command goes on.

python -m benchmarks.equivalence mathematics
"""

from pathlib import Path

import click
import torch

from benchmarks.equivalence import (
    accuracy as accuracies,
    mathematics as trajectories,
    steps as distributions,
    streams as statistics,
)
from benchmarks.equivalence.cases import CASES

FOLDER = click.option(
    "--folder", default=Path("benchmarks/equivalence/results"), show_default=True, type=Path
)


@click.group()
def main() -> None:
    """The native engine against the torch path."""
    torch.set_num_threads(1)


@main.command()
@FOLDER
@click.option("--graphs", default="texas,cora", show_default=True)
@click.option("--cases", default=",".join(CASES), show_default=True)
@click.option("--pairs", default=trajectories.PAIRS, show_default=True)
def mathematics(folder: Path, graphs: str, cases: str, pairs: int) -> None:
    """Trajectories without dropout: equal, and how far from 64 bit."""
    trajectories.run(folder, graphs.split(","), cases.split(","), pairs)


@main.command()
@FOLDER
@click.option("--graphs", default="cora,chameleon", show_default=True)
@click.option("--cases", default=",".join(distributions.PROGRAMS), show_default=True)
@click.option("--draws", default=distributions.DRAWS, show_default=True)
def steps(folder: Path, graphs: str, cases: str, draws: int) -> None:
    """Outputs and gradients of one step with dropout: equal means and variances."""
    distributions.run(folder, graphs.split(","), cases.split(","), draws)


@main.command()
@FOLDER
def streams(folder: Path) -> None:
    """Rates, independence and uniformity of random numbers."""
    statistics.run(folder)


@main.command()
@FOLDER
@click.option("--graphs", default="cora,chameleon,texas", show_default=True)
@click.option("--cases", default=",".join(accuracies.CHEAPEST_FIRST), show_default=True)
@click.option("--rerun", default=0, show_default=True, help="1: another set of pairs.")
@click.option("--at-most", default=10**9, help="Pairs to train in this piece.")
def accuracy(folder: Path, graphs: str, cases: str, rerun: int, at_most: int) -> None:
    """Test accuracies over many pairs, by two one-sided tests."""
    accuracies.run(folder, graphs.split(","), cases.split(","), rerun, at_most)


if __name__ == "__main__":
    main()
