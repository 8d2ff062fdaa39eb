import shutil
from pathlib import Path

import numpy as np
import pytest

from clar_tune.errors import GraphError, UnknownName
from clar_tune.graphs.catalogue import DATASETS, NOTES
from clar_tune.graphs.loading import facts_of, load, load_raw, locate
from clar_tune.graphs.pyg import raw_paths
from clar_tune.testing import check_graph

REAL = [name for name, dataset in DATASETS.items() if dataset.source]
WITH_CLASS = [name for name in REAL if DATASETS[name].source.pyg_class]
# The dense features of these two take gigabytes in torch-geometric's own code.
ONE_PER_FORMAT = ["cora", "photo", "texas", "actor", "cornell-corrected", "minesweeper"]


def copy_of(name: str, data_folder: Path, root: Path) -> Path:
    """A folder with this graph only; its raw folder."""
    raw = root / DATASETS[name].source.folder
    shutil.copytree(data_folder / DATASETS[name].source.folder, raw, copy_function=shutil.copy)
    raw.chmod(0o755)
    for path in raw.iterdir():
        path.chmod(0o644)
    return raw


@pytest.mark.parametrize("name", REAL)
def test_contents_are_those_of_the_table(name, data_folder):
    graph = load_raw(name, data_folder)
    assert facts_of(graph) == DATASETS[name].facts
    assert (graph.name, graph.metric) == (name, DATASETS[name].metric)
    check_graph(graph)


@pytest.mark.parametrize("name", WITH_CLASS)
def test_the_table_knows_the_files_torch_geometric_reads(name, tmp_path):
    source = DATASETS[name].source
    expected = [tmp_path / source.folder / file for file in source.files]
    assert raw_paths(source.pyg_class, tmp_path, source.folder.split("/")[0]) == expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ONE_PER_FORMAT)
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_give_one_graph_error(name, data_folder, tmp_path):
    raw = copy_of(name, data_folder, tmp_path)
    for file in DATASETS[name].source.files[:8]:
        content = (raw / file).read_bytes()
        (raw / file).write_bytes(content[: len(content) // 2])
        with pytest.raises(GraphError, match=str(raw)):
            load_raw(name, tmp_path)
        (raw / file).unlink()
        with pytest.raises(GraphError, match=f"{file} is missing"):
            load_raw(name, tmp_path)
        (raw / file).write_bytes(content)
    assert load_raw(name, tmp_path).hash == DATASETS[name].facts.hash


@pytest.mark.parametrize("name", ONE_PER_FORMAT)
@pytest.mark.filterwarnings("ignore")
def test_a_changed_byte_is_refused_unless_it_changes_nothing(name, data_folder, tmp_path):
    raw = copy_of(name, data_folder, tmp_path)
    refused = 0
    for file in DATASETS[name].source.files[:8]:
        content = (raw / file).read_bytes()
        middle = len(content) // 2
        (raw / file).write_bytes(
            content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        )
        try:
            assert load_raw(name, tmp_path).hash == DATASETS[name].facts.hash
        except GraphError as error:
            assert str(raw) in str(error)
            refused += 1
        (raw / file).write_bytes(content)
    assert refused


def test_another_version_goes_by_its_own_name(data_folder, tmp_path):
    raw = copy_of("cornell", data_folder, tmp_path)
    with (raw / "out1_graph_edges.txt").open("a") as file:
        file.write("0\t182\n")
    with pytest.raises(GraphError) as refusal:
        load_raw("cornell", tmp_path)
    message = str(refusal.value)
    assert str(raw) in message
    assert DATASETS["cornell"].facts.hash in message
    name = message.rstrip(".").split()[-1]
    assert name.startswith("cornell@")
    graph = load_raw(name, tmp_path)
    assert graph.name == name
    assert graph.hash.startswith(name.removeprefix("cornell@"))
    assert load(name, data=tmp_path).name == name
    for wrong in ("cornell@00000000", "cornell@", f"{name}0"):
        with pytest.raises(GraphError, match=name):
            load_raw(wrong, tmp_path)


def test_generated_graphs_need_no_folder(cache):
    assert locate("csbm-homophily") is None
    assert load("csbm-homophily").preprocessing == "undirected"
    name = f"csbm-homophily@{DATASETS['csbm-homophily'].facts.hash[:8]}"
    assert load_raw(name).name == name
    with pytest.raises(GraphError, match="generated"):
        load_raw("csbm-homophily@00000000")
    assert not cache.exists()


def test_unknown_names_are_refused(cache):
    for use in (load, load_raw, locate):
        with pytest.raises(UnknownName, match="Did you mean 'cora'"):
            use("coras")


def test_folders_are_searched_in_order(cache, tmp_path, monkeypatch):
    given, variable = tmp_path / "given", tmp_path / "variable"
    source = DATASETS["texas"].source
    assert locate("texas") is None
    for root in (cache, variable, given):
        (root / source.folder).mkdir(parents=True)
        for file in source.files:
            (root / source.folder / file).touch()
    assert locate("texas") == cache
    monkeypatch.setenv("CLAR_TUNE_DATA", str(variable))
    assert locate("texas") == variable
    assert locate("texas", given) == given
    assert locate("cora", given) is None
    (cache / source.folder / source.files[-1]).unlink()
    monkeypatch.delenv("CLAR_TUNE_DATA")
    assert locate("texas") is None


def test_a_folder_that_does_not_exist_is_refused(cache, tmp_path, monkeypatch):
    with pytest.raises(GraphError, match="--data: there is no folder .*nowhere"):
        load_raw("texas", tmp_path / "nowhere")
    monkeypatch.setenv("CLAR_TUNE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(GraphError, match="CLAR_TUNE_DATA"):
        locate("texas")


def test_an_incomplete_folder_names_the_missing_file(cache, tmp_path):
    (tmp_path / "texas" / "raw").mkdir(parents=True)
    with pytest.raises(GraphError, match="out1_node_feature_label.txt is missing"):
        load_raw("texas", tmp_path)


def test_notes_say_what_users_must_know():
    marked = {note: {n for n, row in DATASETS.items() if note in row.notes} for note in NOTES}
    assert marked == {
        "directed": {"actor", "chameleon", "squirrel", "cornell", "texas"},
        "leaky": {"chameleon", "squirrel"},
        "same nodes as texas": {"cornell"},
        "synthetic": {"csbm-homophily", "csbm-heterophily"},
    }


def test_cornell_has_the_nodes_of_texas(data_folder):
    cornell, texas = load_raw("cornell", data_folder), load_raw("texas", data_folder)
    assert np.array_equal(cornell.features.toarray(), texas.features.toarray())
    assert np.array_equal(cornell.labels, texas.labels)
