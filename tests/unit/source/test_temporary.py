"""Arrays named as temporary: which regions know of them, and what speaks against a pragma."""

from __future__ import annotations

import pytest
from reading import Reader, function

LOOP = "#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 1;\n#pragma endscop\n"


def test_the_regions_that_follow_in_the_function(read: Reader) -> None:
    first, second = "#pragma polybuild temporary(a)\n", "#pragma polybuild temporary( b )\n"
    text = f"double *b = a;\n{LOOP}{first}{LOOP}{second}{LOOP}"
    source = read(function(text) + function(LOOP).replace("f(", "g("))
    assert not source.diagnostics
    assert [each.temporaries for each in source.regions] == [(), ("a",), ("a", "b"), ()]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (f"#pragma polybuild temporary\n{LOOP}", "temporary-syntax", "no list"),
        (f"#pragma polybuild temporary(a[0])\n{LOOP}", "temporary-syntax", "no list"),
        (f"{LOOP}#pragma polybuild temporary(a)\n", "temporary-place", "no region follows"),
        (f"#pragma polybuild temporary(n)\n{LOOP}", "temporary-array", "'n' is no array"),
        (f"#pragma polybuild temporary(other)\n{LOOP}", "temporary-array", "'other' is no array"),
    ],
)
def test_misuse(read: Reader, text: str, code: str, said: str) -> None:
    source = read(function(text))
    (problem,) = source.diagnostics
    assert problem.code == code
    assert said in str(problem)
    assert (
        problem.location.line
        == source.text.splitlines().index(
            next(each for each in source.text.splitlines() if "temporary" in each)
        )
        + 1
    )
    assert [each.temporaries for each in source.regions] == [()]
