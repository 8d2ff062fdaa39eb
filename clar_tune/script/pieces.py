"""Parts of a script, put into one text in the order in which they need each other."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

PARTS = Path(__file__).parent / "parts"
PACKAGE = "clar_tune.script.parts."

_TYPES = re.compile(r"  # type: ignore\[.*?\]")


class Pieces:
    """The parts that one of them needs, itself included.

    Args:
        chosen: of the folders that hold parts for one purpose, such as ``networks``, the part
            that is taken, whichever is imported.
        given: what stands in the place of a part.
    """

    def __init__(self, chosen: Mapping[str, str], given: Mapping[str, str]) -> None:
        self.chosen, self.given = chosen, given
        self.modules: set[str] = set()
        self.names: dict[str, set[str]] = {}
        self.texts: dict[str, str] = {}

    def add(self, part: str) -> None:
        """Add a part, behind those that it imports."""
        folder, _, name = part.rpartition(".")
        name = self.chosen.get(folder, name)
        part = f"{folder}.{name}" if folder else name
        if part in self.texts:
            return
        self.texts[part] = ""  # no part needs itself
        text = self.given.get(part) or (PARTS / f"{part.replace('.', '/')}.py").read_text()
        tree = ast.parse(text)
        last = 1
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._take(node)
                last = node.end_lineno or last
        title = (ast.get_docstring(tree) or "").partition("\n")[0]
        body = "\n".join(text.splitlines()[last:]).strip("\n")
        del self.texts[part]  # it stands behind what it needs
        self.texts[part] = f"# {title}\n\n\n{_TYPES.sub('', body)}\n" if body else ""

    def _take(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            self.modules |= {ast.unparse(ast.Import([alias])) for alias in node.names}
        elif node.module is not None and node.module.startswith(PACKAGE):
            self.add(node.module.removeprefix(PACKAGE))
        else:
            wanted = {ast.unparse(alias) for alias in node.names}
            self.names.setdefault(node.module or "", set()).update(wanted)

    def text(self) -> str:
        """The whole script but for what it says of itself."""
        return "\n\n".join([self._imports(), *filter(None, self.texts.values())])

    def _imports(self) -> str:
        standard, others = list[str](), list[str]()
        for line in self._lines():
            own = line.split()[1].partition(".")[0] in sys.stdlib_module_names
            (standard if own else others).append(line)
        return "\n".join([*standard, "", *others]) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from sorted(self.modules)
        for module, names in sorted(self.names.items()):
            yield f"from {module} import {', '.join(sorted(names))}"


def arguments_of(part: str, of: str) -> tuple[str, ...]:
    """Which values the class ``of`` in a part takes behind the two that the graph decides."""
    tree = ast.parse((PARTS / f"{part.replace('.', '/')}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == of:
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    return tuple(argument.arg for argument in method.args.args[3:])
    return ()


def has_part(part: str) -> bool:
    """Whether there is such a part."""
    return (PARTS / f"{part.replace('.', '/')}.py").is_file()
