"""The end of a script: trains what the constants at its top say, on each of their pairs."""

import argparse

import torch

from clar_tune.script.parts.constants import (
    GRAPH,
    METHOD,
    METRIC,
    NETWORK,
    PAIRS,
    PENALTY,
    PREPROCESSING,
    RULES,
    THREADS,
)
from clar_tune.script.parts.networks.gcn import Network
from clar_tune.script.parts.penalties.none import Penalty
from clar_tune.script.parts.preprocessing import preprocess
from clar_tune.script.parts.scores.accuracy import score
from clar_tune.script.parts.sources.dataset import read_graph
from clar_tune.script.parts.splits.random import split
from clar_tune.script.parts.training import train


def main() -> None:
    """Train and test on each pair; print each score and their mean."""
    parser = argparse.ArgumentParser(description=f"Train {METHOD} and print its test score.")
    parser.add_argument("folder", nargs="?", default="data", help="where the graph's files are")
    parser.add_argument("--pairs", type=int, default=len(PAIRS), help="train on the first ones")
    asked = parser.parse_args()
    torch.set_num_threads(THREADS)
    data = preprocess(read_graph(asked.folder, **GRAPH), **PREPROCESSING)
    classes, scores = int(data.y.max()) + 1, []
    for number, split_seed, init_seed, stored in PAIRS[: asked.pairs]:
        nodes, val, test = split(data, split_seed)
        torch.manual_seed(init_seed)
        network = Network(data.num_features, classes, **NETWORK)
        penalty = Penalty(data.edge_index, len(data.y), **PENALTY)
        logits = train(network, penalty, data, nodes, val, init_seed, **RULES)
        scores.append(score(logits[test], data.y[test]))
        print(f"final {number}: test {METRIC} {scores[-1]:.6f} (stored: {stored:.6f})", flush=True)
    print(f"mean test {METRIC} {sum(scores) / len(scores):.6f} over {len(scores)} finals")


if __name__ == "__main__":
    main()
