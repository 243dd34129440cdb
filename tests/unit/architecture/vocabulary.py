"""Names that are not the field's: where they may not stand, and how they are found."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping

from package_modules import Modules, classes

NEVER = {
    "ladder": "fallback strategies",
    "road": "pipeline",
    "attempts": "fallback strategies",
    "apart": "isolated worker",
    "lost": "crashes",
    "dates": "time stamps (prefix schedule)",
    "supersets": "over-approximation",
    "superset": "over-approximation",
    "coarse": "over-approximation",
    "held": "scalar replacement",
    "settles": "guard simplification (gist)",
    "inspection": "inspector",
    "coverage": "instance-coverage check",
    "roles": "micro-kernel: M, N and K",
    "slopes": "dependence cone",
    "slope": "dependence cone",
    "leaning": "skewing",
    "relaxing": "reduction parallelisation",
    "copying": "array expansion",
    "swaps": "pointer rotation",
    "exotic": "unsupported syntax",
    "leaving": "control-flow escapes",
    "neutral": "dialect lowering",
    "most": "maximum",
    "least": "minimum",
}
"""Words that no name of a module, class, function, argument, variable or attribute has, and the field's."""

NOT_DEFINED = {
    "known": "guard simplification (gist)",
    "ends": "minimum and maximum subscript",
    "site": "micro-kernel",
    "short": "small-trip-count loops",
    "places": "allocation scope",
    "history": "extent invalidation",
}
"""Plain words that may name a variable, but not what a reader looks up: a module, class or function."""

NO_MODULE = {
    "iterations": "privatisable definitions",
    "sources": "last writers",
    "copies": "array expansion",
    "pieces": "scope check",
    "uses": "upward-exposed reads",
}
"""Words that are fine but for a module."""

REFUSED = {
    "module": NEVER | NOT_DEFINED | NO_MODULE,
    "class": NEVER | NOT_DEFINED,
    "function": NEVER | NOT_DEFINED,
    "variable": NEVER,
}
"""The words refused in the name of each kind of thing."""

PHRASES = {
    r"\bladder\b": "fallback strategies",
    r"\broads?\b": "pipeline",
    r"\bof use\b": "reduction parallelisation",
    r"\bdefin\w+ anew\b": "privatisable definitions",
    r"\bthose behind\b": "last writers",
    r"\bcertainly (?:are )?two\b": "provably distinct",
    r"\bleaning\b": "skewing",
    r"\bdates\b": "time stamps",
    r"\bexotic\b": "unsupported syntax",
    r"\bcoarse\b": "over-approximation",
    r"\bsupersets\b": "over-approximation",
    r"\brelaxing\b": "reduction parallelisation",
}
"""What prose (docstrings, comments, messages, docs) does not say, and the field's word."""

PROSE = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
"""The tokens that people read; since Python 3.12 a formatted string is several."""

TERMS = ("instance coverage", "call site")
"""Terms of the field that have one of these words."""

EXCEPTIONS = {
    "report.explain.pictures.iterations: module iterations": "a picture of a nest's iterations",
}
"""Names that may stay, each with its reason."""


def repeated_classes(modules: Modules) -> list[str]:
    """Names that more than one class has, with the modules of these classes."""
    homes = defaultdict(list)
    for module in modules.values():
        for each in classes(module):
            homes[each.name].append(module.name)
    return [f"{name}: {', '.join(where)}" for name, where in sorted(homes.items()) if len(where) > 1]


def invented_names(modules: Modules) -> list[str]:
    """The definitions whose names contain a word that is not the field's, with the field's."""
    found = set()
    for module in modules.values():
        for kind, name in _names(module.name, module.tree):
            if f"{module.name}: {kind} {name}" in EXCEPTIONS:
                continue
            refused = REFUSED[kind]
            for word in _words(name):
                if word in refused:
                    found.add(f"{module.name}: {kind} {name}: {refused[word]}")
    return sorted(found)


def _names(module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    yield "module", module.rpartition(".")[2]
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield "class", name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield "function", name
            case (
                ast.arg(arg=name)
                | ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
            ):
                yield "variable", name
            case ast.alias(asname=str(name)):
                yield "variable", name


def _words(name: str) -> list[str]:
    """The words of a name in any style: ``AtLeast``, ``at_least`` and ``AT_LEAST`` have the same.

    Those of a term are left out.
    """
    words = " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)).lower()
    for term in TERMS:
        words = words.replace(term, "")
    return words.split()


def prose(text: str) -> str:
    """The comments and strings of a Python module, docstrings among them, on the lines where they stand."""
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in PROSE:
            for number, line in enumerate(token.string.splitlines(), token.start[0] - 1):
                lines[number] += f" {line}"
    return "\n".join(lines)


def invented_phrases(texts: Mapping[str, str]) -> list[str]:
    """The lines of ``texts`` (by name) whose prose says what is not the field's."""
    return [
        f"{name}:{number}: {found[0]}: {better}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        for phrase, better in PHRASES.items()
        if (found := re.search(phrase, line, re.IGNORECASE))
    ]
