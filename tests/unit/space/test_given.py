"""A space by name, as a file, as text, as a dictionary, or ready-made."""

import numpy as np
import pytest
import yaml

import clar_tune as ct
from clar_tune.errors import SpaceError, UnknownName

TEXT = """\
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
finals: 2
settings:
  tuned:
    protocol: random-60-20-20
    shared: {lr: {low: 0.00001, high: 0.1, log: true}}
    regularizers: {clar: {alpha: {choices: [0, 1]}, clamp: null}}
"""


def content():
    return yaml.safe_load(TEXT)


def test_all_forms_give_the_same_space(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(TEXT)
    spaces = [ct.load_space(given) for given in (file, str(file), TEXT, content())]
    assert all(isinstance(space, ct.Space) and space.name == "own" for space in spaces)
    assert len({space.studies for space in spaces}) == 1
    assert all(space.settings == spaces[0].settings for space in spaces)
    assert yaml.safe_load(spaces[3].text) == content()


def test_a_shipped_space_and_a_ready_one_are_taken_as_they_are():
    space = ct.load_space("quickstart")
    assert space.name == "quickstart" and ct.load_space(space) is space


def test_a_space_without_a_file_has_the_name_that_it_is_given():
    assert ct.load_space(content(), name="mine").name == "mine"
    with pytest.raises(SpaceError, match="'My Space' is no name of a space. Use small letters"):
        ct.load_space(TEXT, name="My Space")


def test_a_list_that_occurs_twice_and_tuples_are_written_out():
    space, weights = content(), (0, 0.5)
    clar = space["settings"]["tuned"]["regularizers"]["clar"]
    clar["alpha"] = clar["beta"] = {"choices": weights}
    assert "&" not in ct.load_space(space).text


@pytest.mark.parametrize("value", [np.float64(0.1), object(), {1, 2}])
def test_what_a_space_cannot_hold_is_refused(value):
    space = content()
    space["settings"]["tuned"]["shared"]["hidden"] = value
    with pytest.raises(SpaceError):
        ct.load_space(space)


def test_a_mistake_is_told_with_its_place():
    with pytest.raises(UnknownName, match="'quickstat'. Did you mean 'quickstart'"):
        ct.load_space("quickstat")
    with pytest.raises(SpaceError, match="space own"):
        ct.load_space(TEXT.replace("finals: 2", "finals: none"))
