"""Help and lists come at once: they import nothing heavy."""

import os
import re
import subprocess
import sys
from pathlib import Path

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


def test_shells_wait_for_nothing_before_they_complete_a_name() -> None:
    code = (
        "from clar_tune.cli import main\nfrom click.shell_completion import ShellComplete\n"
        "complete = ShellComplete(main, {}, 'clar-tune', 'NONE').get_completions\n"
        "assert complete(['run', '--graphs'], 'co') and complete(['run', '--methods'], 'gc')\n"
        "assert complete(['run', '--space'], 'het') and complete(['show'], 'la')\n"
        "import sys\nheavy = {'torch', 'ray', 'numba', 'optuna'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_bash_takes_what_the_documentation_tells_it_to_evaluate() -> None:
    usage = Path(__file__).parents[2] / "docs/USAGE.md"
    (line,) = re.findall(r"^eval .*bash_source.*$", usage.read_text(), re.MULTILINE)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-c", f"set -e; {line}; complete -p clar-tune"],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("complete -o nosort -F _clar_tune_completion")


def test_a_plan_for_the_native_engine_is_made_without_numba() -> None:
    code = (
        "from clar_tune.space import Options, load_space, make_plan\n"
        "plan = make_plan(load_space('quickstart'), Options(engine='native'))\n"
        "assert {study.engine for study in plan.studies} == {'native'}\n"
        "import sys\nassert 'numba' not in sys.modules"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
