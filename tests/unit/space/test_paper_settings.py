"""The key of a space that names a table of the paper."""

import pytest

from clar_tune.errors import SpaceError
from clar_tune.paper import TABLES
from clar_tune.space import load_space, parse_space

TEXT = """\
graphs: [texas]
methods: [gcn]
protocol: balanced-60-20-20
{}
settings: {{tuned: {{}}}}
"""


def space(line):
    return parse_space(TEXT.format(line), "mine", "mine.yaml")


def test_a_space_may_name_a_table():
    assert [space(f"paper: {table}").paper for table in TABLES] == list(TABLES)
    assert space("").paper is None


@pytest.mark.parametrize("given", ["VII", "3", "iii", "null", "true"])
def test_other_tables_are_refused_with_their_place(given):
    with pytest.raises(SpaceError, match=r"^mine\.yaml:4: paper: unknown table of the paper "):
        space(f"paper: {given}")


def test_a_list_is_refused():
    with pytest.raises(SpaceError, match=r"mine\.yaml:4: paper: a single value is needed"):
        space("paper: [III]")


def test_shipped_spaces_name_their_table():
    named = {name: load_space(name).paper for name in ("heterophily", "homophily", "all")}
    assert named == {"heterophily": "III", "homophily": "III", "all": "III"}
    assert load_space("quickstart").paper is None
