"""Space files that nobody should write: those that ship, changed at random, and hostile ones."""

import json
import random
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache

import yaml

from clar_tune.space import shipped_spaces


class Pairs(list["list[Node]"]):
    """A mapping as pairs of key and value, so that a key can stand twice."""


class Items(list["Node"]):
    """A list."""


Node = Pairs | Items | str
"""A text stands in the file as it is."""

HEAD = "graphs: [cora]\nmethods: [gcn+clar]\nprotocol: balanced-60-20-20\n"

NUMBERS = (
    *("0", "-1", "1", "2", "1.5", "-0.0", "1e-3", "1e308", "-1e308", "5e-324", "1e999", "0x10"),
    *("1_000", "1000001", "4294967296", "9007199254740993", "99999999999", "1" + "0" * 18),
    *("9" * 400, "9" * 5000, "0" * 30, ".nan", ".inf", "-.inf", "NaN", "Infinity", "1:30"),
)
WORDS = (
    *("", "null", "~", "true", "no", "grid", "gp", "gcn", "gcn+clar", "gat+nl", "mlp", "texas"),
    *("cora@0123", "planetoid", "whole-graph", "none:None", "a:b", "json:loads", "+", "+clar"),
    *("low-pass", "text", '"a\\nb"', '"\\ud800"', '"\\UFFFFFFFF"', '"\\0"', "'\u202e\u2028'"),
    *("漢字", "🧪", "x" * 3000, "!!float nan", "!!int x", "!!bool x", "!!binary aGk=", "!!map {}"),
    *(
        "!!python/object/apply:os.getcwd []",
        "!!set {a, b}",
        "2001-01-01",
        "[]",
        "{}",
        "[[]]",
        "*a",
    ),
)
KEYS = (
    *("graphs", "methods", "protocol", "settings", "conditions", "sweep", "tuned", "paper", "<<"),
    *("training", "search", "finals", "trials", "repeats", "reduction", "sampler", "pruning"),
    *("shared", "backbones", "regularizers", "low", "high", "log", "integer", "choices", "value"),
    *("when", "columns", "correlate", "spearman", "pearson", "of", "max_epochs", "lr", "hidden"),
    *("layers", "K", "alpha", "samples", "drop_edges", "filter", "band", "1", "null", "? [a]"),
    *("released", "preprocessing", "margin", "ablation", "half_width", "at_least", "at_most"),
)
COUNTS = (1, 2, 3, 50, 5000)
LONGEST = 200_000
"""Characters that a change may add: a file is too long with half of them."""
NOISE = "\t\n\r \0\x07\x85\ufeff&*!|>'\"%@`[]{},:?-#<=~0aé漢🧪"


def doubling(link: str, count: int = 40) -> str:
    """A list of anchors, each of which holds the last one twice."""
    chain = [f"&b{n} {link.replace('LAST', f'*b{n - 1}')}" for n in range(1, count)]
    return f"[&b0 {{a: 1}}, {', '.join(chain)}]"


def space(shared: str, rest: str = "") -> str:
    """A small space."""
    return f"{HEAD}{rest}settings: {{tuned: {{shared: {{{shared}}}}}}}\n"


def swept(*names: str, values: int = 30) -> str:
    """Conditions of every combination of some values."""
    listed = ", ".join(f"{name}: {list(range(1, values + 1))}" for name in names)
    return f"conditions: [{{sweep: {{{listed}}}}}]\n"


HOSTILE = (
    "[" * 5000,
    "{a: " * 5000,
    "- " * 5000,
    HEAD + "conditions: " + doubling("[LAST, LAST]"),
    HEAD + "conditions: " + doubling("{<<: [LAST, LAST]}"),
    HEAD + "conditions: " + doubling("{<<: LAST, a: LAST}"),
    HEAD + "settings: &a {tuned: {<<: *a}}",
    HEAD + "settings: &a [*a]",
    space("lr: 0.1", "search: {trials: 99999999999}\n"),
    space("lr: {low: 0.1, high: 1}", "search: {trials: 1000000, repeats: 1000000}\n"),
    space("lr: {low: 0.1, high: 1}", "search: {reduction: 1000000, repeats: 1000000}\n"),
    space("lr: {low: 0.1, high: 1}", "search: {trials: 100000, repeats: 9}\n"),
    space("lr: 0.1", swept("hidden", "layers", "alpha", "beta", "clamp", "scale")),
    space("lr: 0.1", swept("hidden", "layers", values=60)),
    space("lr: {choices: [0.1, 0.2]}", swept("scale", values=1000)),
    space(f"alpha: {{choices: {list(range(9000))}}}", swept("scale", values=3)),
    space(f"alpha: {{choices: {list(range(9000))}}}", swept("scale", values=1000)),
    space(f"alpha: {{choices: {list(range(20000))}}}"),
    space("alpha: {low: 1, high: 1000000000000000000, integer: true}"),
    space("alpha: {low: 1, high: 9007199254740992, integer: true}", "search: {sampler: grid}\n"),
    space("alpha: {low: -1e308, high: 1e308}"),
    space("hidden: 65536, layers: 64"),
    space("K: {choices: [2, 1000000000]}").replace("gcn+clar", "cheby"),
    space(f"K: {{choices: {list(range(1024))}}}").replace("gcn+clar", "cheby"),
    space(
        "alpha: {choices: [1, 2, 3, 4]}, "
        "beta: {choices: [1, 2, 3, 4], when: {alpha: [1, 2, 3]}}, "
        "clamp: {choices: [1, 2, 3, 4], when: {alpha: [1, 2], beta: [1, 2, 3]}}, "
        "scale: {choices: [1, 2, 3, 4], when: {alpha: [1, 2], beta: [1, 2, 3], clamp: [1, 2]}}, "
        "lr: {choices: [1, 2, 3, 4], when: {alpha: 1, beta: 1, clamp: [1, 2, 3], scale: [1, 2]}}"
    ),
    space("lr: 0.1").replace("[cora]", f"[{', '.join(f'cora@{n}' for n in range(4000))}]"),
    space("lr: 0.1") + f"description: {'x' * 90_000}\n",
    "%YAML 1." + "9" * 5000 + "\n---\n" + space("lr: 0.1"),
)


def mutated(seed: int, number: int) -> bytes:
    """The file of one case; the same for the same seed and number."""
    draw = random.Random(f"{seed}/{number}")
    if draw.random() < 0.15:
        text = draw.choice(HOSTILE)
    elif draw.random() < 0.3:
        text = draw.choice(_texts())
    else:
        text = _changed_structure(draw)
    if draw.random() < 0.3:
        text = _changed_text(draw, text)
    content = text.encode(errors="surrogatepass")
    return _with_noise(draw, content) if draw.random() < 0.05 else content


@cache
def _texts() -> list[str]:
    return [file.read_text(encoding="utf-8") for file in shipped_spaces().values()]


@cache
def _trees() -> list[Pairs]:
    """The spaces that ship, most of them with two graphs: all of them take longer to check."""
    roots = [_node(yaml.compose(text, yaml.SafeLoader)) for text in _texts()]
    for given in map(dict, roots):
        blocks = [dict(block) for _, block in given["settings"]]
        if all(isinstance(block.get("protocol"), str) for block in blocks):
            del given["graphs"][2:]
    return roots


def _changed_structure(draw: random.Random) -> str:
    """A space that ships with some of its keys and values changed."""
    root = deepcopy(draw.choice(_trees()))
    for _ in range(draw.choice((0, 1, 1, 1, 2, 4))):
        draw.choice(CHANGES)(draw, root)
    return "\n".join(f"{_written(key)}: {_written(value)}" for key, value in root) + "\n"


def _node(node: yaml.Node) -> Node:
    if isinstance(node, yaml.MappingNode):
        return Pairs([_node(key), _node(value)] for key, value in node.value)
    if isinstance(node, yaml.SequenceNode):
        return Items(map(_node, node.value))
    plain = re.fullmatch(r"[\w.+/-]+", node.value)
    return str(node.value) if plain else json.dumps(node.value)


def _written(node: Node) -> str:
    if isinstance(node, Pairs):
        return "{" + ", ".join(f"{_written(k)}: {_written(v)}" for k, v in node) + "}"
    return f"[{', '.join(map(_written, node))}]" if isinstance(node, Items) else node


def _spots(node: Node) -> Iterator[tuple[list[Node], int]]:
    """Every value below a node: what holds it, and its place in there."""
    for index, child in enumerate(node if isinstance(node, Items) else ()):
        yield node, index
        yield from _spots(child)
    for pair in node if isinstance(node, Pairs) else ():
        yield pair, 1
        yield from _spots(pair[1])


def _containers(root: Pairs) -> list[Pairs | Items]:
    found = [holder[index] for holder, index in _spots(root)]
    return [root, *(node for node in found if node and not isinstance(node, str))]


def _drop(draw: random.Random, root: Pairs) -> None:
    container = draw.choice(_containers(root))
    if container:
        del container[draw.randrange(len(container))]


def _repeat(draw: random.Random, root: Pairs) -> None:
    container = draw.choice(_containers(root))
    if not container:
        return
    chosen, count = draw.choice(container), draw.choice(COUNTS)
    if isinstance(container, Pairs):
        pair = [_written(part) for part in chosen]
        container += [[*pair] for _ in range(min(count, LONGEST // (len("".join(pair)) + 1)))]
    else:
        text = _written(chosen)
        container += [text] * min(count, LONGEST // (len(text) + 1))


def _number(draw: random.Random, root: Pairs) -> None:
    """Mostly where a number stands."""
    spots = list(_spots(root))
    numbers = [(h, i) for h, i in spots if isinstance(h[i], str) and h[i][:1].isdigit()]
    holder, index = draw.choice(numbers or spots)
    holder[index] = draw.choice(NUMBERS)


def _word(draw: random.Random, root: Pairs) -> None:
    holder, index = draw.choice(list(_spots(root)))
    holder[index] = draw.choice(WORDS)


def _copy(draw: random.Random, root: Pairs) -> None:
    (source, at), (holder, index) = (draw.choice(list(_spots(root))) for _ in range(2))
    holder[index] = deepcopy(source[at])


def _rename(draw: random.Random, root: Pairs) -> None:
    pairs = [pair for node in _containers(root) if isinstance(node, Pairs) for pair in node]
    if pairs:
        draw.choice(pairs)[0] = draw.choice(KEYS)


def _add(draw: random.Random, root: Pairs) -> None:
    holders = [node for node in _containers(root) if isinstance(node, Pairs)]
    value = draw.choice((draw.choice(NUMBERS), draw.choice(WORDS), Items(["1", "2"])))
    draw.choice(holders).append([draw.choice(KEYS), value])


def _nest(draw: random.Random, root: Pairs) -> None:
    holder, index = draw.choice(list(_spots(root)))
    opening, closing = draw.choice((("[", "]"), ("{a: ", "}"), ("{when: ", "}"), ("{<<: ", "}")))
    depth = draw.choice(COUNTS)
    holder[index] = opening * depth + _written(holder[index]) + closing * depth


def _alias(draw: random.Random, root: Pairs) -> None:
    """One value named, and put in place of others or merged into them."""
    spots = list(_spots(root))
    holder, index = draw.choice(spots)
    for other, at in draw.choices(spots, k=draw.choice((1, 2, 5))):
        if isinstance(other[at], Pairs) and draw.random() < 0.7:
            other[at].append(["<<", draw.choice(("*a", "[*a, *a]"))])
        elif draw.random() < 0.5:
            other[at] = "*a"
    holder[index] = f"&a {_written(holder[index])}"


def _bomb(draw: random.Random, root: Pairs) -> None:
    holder, index = draw.choice(list(_spots(root)))
    link = draw.choice(("[LAST, LAST]", "{<<: [LAST, LAST]}", "{<<: LAST, b: LAST}"))
    holder[index] = doubling(link, draw.choice((3, 10, 40)))


Change = Callable[[random.Random, Pairs], None]

CHANGES: tuple[Change, ...] = (
    *(_drop, _repeat, _number, _number, _number, _word, _copy, _rename, _add, _nest, _alias),
    _bomb,
)


def _changed_text(draw: random.Random, text: str) -> str:
    """Lines dropped, doubled or moved, text cut off, characters put in."""
    lines = text.splitlines() or [""]
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    change = draw.randrange(6)
    if change == 0:
        return text[: draw.randrange(len(text) + 1)]
    if change == 1:
        del lines[at]
    elif change == 2:
        lines.insert(other, lines[at])
    elif change == 3:
        lines[at] = draw.choice((" ", "  ", "\t", "- ")) + lines[at]
    elif change == 4:
        lines[at] = re.sub(r"\d[\d.e-]*", lambda _: draw.choice(NUMBERS), lines[at], count=1)
    else:
        place = draw.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:place] + draw.choice(NOISE) + lines[at][place:]
    return "\n".join(lines) + "\n"


def _with_noise(draw: random.Random, content: bytes) -> bytes:
    """Some bytes changed, so that it may be no text at all."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 2, 8)) if changed else 0):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)
