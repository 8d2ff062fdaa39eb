"""The table of planted defects is whole; defects.py asks whether each is caught."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from frozen.defects import COUNT, ROOT, check_table, read_table

DEFECTS = read_table()


def functions_in(path: Path) -> set[str]:
    """Names of the tests that a file defines, those of its classes as ``Class::name``."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {f"{owner}{each.name}" for each in inner if isinstance(each, ast.FunctionDef)}
    return found


def test_there_are_enough_and_each_has_one_place():
    check_table(DEFECTS)
    assert len({defect.name for defect in DEFECTS}) == COUNT
    assert set(Counter((defect.file, defect.old) for defect in DEFECTS).values()) == {1}


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_changes_code_that_survives_a_move(defect):
    assert defect.file.startswith("clar_tune/")
    for text in (defect.old, defect.new):
        assert not re.search(r"^\s*(from|import)\s|clar_tune\.", text, re.MULTILINE)
    content = (ROOT / defect.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(defect.planted(content))) != ast.dump(ast.parse(content))


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_tests_that_catch_a_defect_are_there(defect):
    assert 1 <= len(defect.caught_by) <= 3
    for test in defect.caught_by:
        path, _, name = test.partition("::")
        assert name.partition("[")[0] in functions_in(ROOT / path), test
