"""Graphs that are one numpy file."""

from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data


def read_graph(folder: str, path: str) -> Data:
    """Features, labels, edges listed once, and perhaps a row of masks per split."""
    with np.load(Path(folder) / path, allow_pickle=False) as file:
        masks = {
            f"{part}_mask": torch.from_numpy(file[f"{part}_masks"]).t()
            for part in ("train", "val", "test")
            if f"{part}_masks" in file
        }
        once = torch.from_numpy(file["edges"]).long().t()
        return Data(
            x=torch.from_numpy(file["node_features"]).float(),
            y=torch.from_numpy(file["node_labels"]).long(),
            edge_index=torch.cat([once, once.flip(0)], dim=1),
            **masks,
        )
