"""Rewrite what compilers accept beyond standard C into what pycparser reads.

Only the text handed to pycparser is changed, never the user's file. Lines stay
lines, and columns stay where possible.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from polybuild.c.tokens import CHARACTER, KEYWORDS, STRING, matching_bracket, tokens
from polybuild.patterns import pattern

OPAQUE = "__polybuild_opaque"
"""Called, in the syntax tree, in place of code that cannot be represented (GNU
statement expressions, inline assembly); its arguments are the names the code
mentions. It has no declaration, so a region that contains it is refused."""

FAILED = "__polybuild_failed"
"""Called, in the syntax tree, where an assertion fails that is a statement expression."""

UNKNOWN_TAG = "__polybuild_unknown"
"""Tag of the structure that stands for a type pycparser cannot read."""

# Spelling variants: each becomes the standard keyword.
_SPELLINGS = {
    "__inline": "inline",
    "__inline__": "inline",
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__const": "const",
    "__const__": "const",
    "__volatile": "volatile",
    "__volatile__": "volatile",
    "__signed": "signed",
    "__signed__": "signed",
    "__thread": "_Thread_local",
    "__alignof__": "_Alignof",
    "__alignof": "_Alignof",
    "__complex__": "_Complex",
    "__complex": "_Complex",
    "__builtin_offsetof": "offsetof",
    "__extension__": "",
}
_ATTRIBUTES = frozenset({"__attribute__", "__attribute", "__declspec"})
_ASSEMBLY = frozenset({"__asm__", "__asm", "asm"})
_SPECIAL = pattern(
    rf"{STRING}|{CHARACTER}|\#[^\n]*"
    rf"|(?P<word>\b(?:{'|'.join([*_SPELLINGS, *_ATTRIBUTES, *_ASSEMBLY])})\b)"
    r"|(?P<statement>\(\s*\{)|(?P<bracketed>\[\s*\[)",
    re.DOTALL,
)
_TYPE_CHANGING = pattern(r"\b(?:__)?(?:vector_size|ext_vector_type|mode|altivec|neon_vector_type)(?:__)?\b")
_ASM_QUALIFIERS = pattern(
    r"\s*(?:(?:volatile|__volatile__|__volatile|inline|__inline__|__inline|goto)\b\s*)*(?=\()"
)

_ASSERTION = pattern(r"\(\s*\{\s*if\s*(?=\()")
_OTHERWISE = pattern(r"\s*;\s*else\s+__assert\w*\s*\(")

# Types the compiler knows without a declaration, in terms of those pycparser knows.
_BUILT_IN_TYPES = {
    "__builtin_va_list": f"struct {UNKNOWN_TAG}",
    "_Float16": f"struct {UNKNOWN_TAG}",
    "__fp16": f"struct {UNKNOWN_TAG}",
    "__bf16": f"struct {UNKNOWN_TAG}",
    "_Float32": "float",
    "_Float64": "double",
    "_Float32x": "double",
    "_Float64x": "long double",
    "_Float128": f"struct {UNKNOWN_TAG}",
    "__float128": f"struct {UNKNOWN_TAG}",
    "__float80": f"struct {UNKNOWN_TAG}",
    "_Decimal32": f"struct {UNKNOWN_TAG}",
    "_Decimal64": f"struct {UNKNOWN_TAG}",
    "_Decimal128": f"struct {UNKNOWN_TAG}",
    "__int128_t": f"struct {UNKNOWN_TAG}",
    "__uint128_t": f"struct {UNKNOWN_TAG}",
}


def built_in_typedefs(words: Collection[str]) -> list[tuple[str, str]]:
    """(name, typedef) for the compiler's own types among ``words``."""
    return [(name, f"typedef {base} {name};") for name, base in _BUILT_IN_TYPES.items() if name in words]


def changes_types(text: str) -> bool:
    """Whether an attribute in ``text`` makes its type another one (vectors, machine modes)."""
    return bool(_TYPE_CHANGING.search(text)) and any(
        token.text in _ATTRIBUTES
        and _TYPE_CHANGING.search(text, token.end, matching_bracket(text, token.end) or token.end)
        for token in tokens(text)
    )


def lower_dialect(text: str, typedefs: Collection[str]) -> str:
    """``text`` (without line markers) in the C that pycparser reads, with the same lines.

    ``typedefs`` are names that cannot be arguments of a call.
    """
    parts: list[str] = []
    position = 0
    while match := _SPECIAL.search(text, position):
        parts.append(text[position : match.start()])
        end = match.end()
        new = match.group()
        if match["word"] in _SPELLINGS:
            new = _SPELLINGS[match["word"]].ljust(len(new))
        elif match["word"] in _ATTRIBUTES or match["bracketed"]:
            opening = match.start() if match["bracketed"] else text.find("(", end)
            closing = matching_bracket(text, opening) if opening >= 0 else None
            if closing is not None and not text[end:opening].strip():
                end, new = closing, _blank(text[match.start() : closing])
        elif match["word"] in _ASSEMBLY:
            end, new = _assembly(text, match.start(), end, typedefs)
        elif match["statement"] and (closing := matching_bracket(text, match.start())) is not None:
            end, new = closing, opaque_call(text[match.start() : closing], typedefs)
        parts.append(new)
        position = end
    return "".join(parts) + text[position:]


def opaque_call(text: str, typedefs: Collection[str]) -> str:
    """A call of ``OPAQUE`` that mentions the variables of ``text`` and has as many lines.

    That of an assertion says what is asserted: ``((x) ? (void)0 : FAILED())``.
    """
    asserted = _ASSERTION.match(text)
    closing = matching_bracket(text, asserted.end()) if asserted else None
    if asserted and closing is not None and _OTHERWISE.match(text, closing):
        condition = text[asserted.end() : closing]
        lines = text.count("\n") - condition.count("\n")
        return f"({condition} ? (void)0 : {FAILED}())" + "\n" * lines
    names: dict[str, None] = {}
    found = [token for token in tokens(text) if token.text[0] != "#"]
    following = [token.text for token in found[1:]] + [""]
    previous = ""
    for token, after in zip(found, following, strict=True):
        usable = token.is_word and token.text not in KEYWORDS and token.text not in typedefs
        if usable and previous not in {".", "->", "goto", "struct", "union", "enum"} and after != "(":
            names[token.text] = None
        previous = token.text
    return f"{OPAQUE}({', '.join(names)})" + "\n" * text.count("\n")


def _blank(text: str) -> str:
    """Blanks in place of ``text``, line ends kept."""
    return re.sub(r"[^\n]", " ", text)


def _assembly(text: str, start: int, end: int, typedefs: Collection[str]) -> tuple[int, str]:
    """What stands for an ``asm``: nothing after a declarator, an opaque call as a statement."""
    qualifiers = _ASM_QUALIFIERS.match(text, end)
    closing = matching_bracket(text, qualifiers.end()) if qualifiers else None
    if qualifiers is None or closing is None:
        return end, text[start:end]
    whole = text[start:closing]
    statement = (
        text[:start].rstrip()[-1:] in {"", ";", "{", "}", ":"} or qualifiers.group().strip() or ":" in whole
    )
    return closing, opaque_call(whole, typedefs) if statement else _blank(whole)
