"""Help and lists come at once: they import nothing heavy."""

import subprocess
import sys

import pytest

CODE = """
import sys
from clar_tune.cli import main
try:
    main({arguments})
except SystemExit:
    pass
sys.exit(", ".join({heavy} & set(sys.modules)) or 0)
"""
HEAVY = {"torch", "ray", "numba", "pandas", "pyarrow", "numpy", "optuna", "yaml", "rich"}
GRAPHS = {"torch", "torch_geometric", "scipy", "rich"}


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["graphs", "--help"], GRAPHS),
        (["graphs", "verify", "--help"], GRAPHS),
        (["graphs"], {"torch", "torch_geometric"}),
        (["compare", "--help"], {"scipy", "pyarrow", "rich", "numpy", "torch"}),
        (["query", "--help"], {"duckdb", "pyarrow", "rich", "numpy", "torch"}),
        (["spaces", "show", "--help"], {"torch", "numpy", "yaml", "rich"}),
        (["run", "--help"], HEAVY),
        (["extend", "--help"], HEAVY),
    ],
)
def test_light_commands_import_nothing_heavy(arguments: list[str], heavy: set[str]) -> None:
    code = CODE.format(arguments=arguments, heavy=heavy)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "statement", ["import clar_tune.api", "from clar_tune import run, resume"]
)
def test_a_program_waits_for_nothing_before_it_calls_a_function(statement: str) -> None:
    code = f"{statement}\nimport sys\nsys.exit(', '.join({HEAVY} & set(sys.modules)) or 0)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_a_plan_for_the_native_engine_is_made_without_numba() -> None:
    code = (
        "from clar_tune.space import Options, load_space, make_plan\n"
        "plan = make_plan(load_space('quickstart'), Options(engine='native'))\n"
        "assert {study.engine for study in plan.studies} == {'native'}\n"
        "import sys\nassert 'numba' not in sys.modules"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
