"""Any text as LaTeX that sets it: nothing in it is a command, and pdflatex knows every sign."""

import re

_SIGNS = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\ttfamily\char34}",
    # Alone they are letters; behind the end of a line, or doubled, they would be more.
    **{sign: f"{{{sign}}}" for sign in "[]*`"},
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
    "±": r"$\pm$",
    "×": r"$\times$",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"$\mathsection$",
    "¶": r"$\mathparagraph$",
    "⊥": r"$\bot$",
    "−": "$-$",
    "•": r"$\bullet$",
    **{raised: rf"\textsuperscript{{{place}}}" for place, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
_LETTERS = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ")
"""Letters beyond ASCII that the usual fonts have."""


def escaped(text: str) -> str:
    """LaTeX that shows ``text``; signs that pdflatex cannot set become ``[U+1F600]``."""
    safe = "".join(map(_sign, text))
    # Doubled signs would melt into dashes and quotation marks.
    safe = re.sub(r"-(?=-)", "-{}", safe) if "--" in text else safe
    safe = re.sub(r"'(?=')", "'{}", safe)
    return re.sub(r"(?<![\w.}-])-(?=\d)", "$-$", safe)


def _sign(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isascii() or character in _LETTERS:
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"
