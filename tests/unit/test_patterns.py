"""Regular expressions that are compiled late are no others."""

from __future__ import annotations

import re

from polybuild.patterns import pattern

WORDS = pattern(r"^(\w+) *", re.MULTILINE)
BYTES = pattern(rb"\d+")


def test_they_do_what_compiled_ones_do():
    same = re.compile(r"^(\w+) *", re.MULTILINE)
    text = "one two\nthree"
    assert [each.group(1) for each in WORDS.finditer(text)] == same.findall(text) == ["one", "three"]
    assert WORDS.match(text, 4) is None
    assert (WORDS.sub("", text), WORDS.pattern, WORDS.flags) == (same.sub("", text), same.pattern, same.flags)
    assert BYTES.fullmatch(b"12")
