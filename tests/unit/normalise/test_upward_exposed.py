"""Which variables the code after a region may read before it writes them."""

from __future__ import annotations

import pytest
from pycparser import c_ast, c_parser

from polybuild.normalise.upward_exposed import read_after

REGION = "\n#pragma polybuild begin 0\ns = 1;\n#pragma polybuild end 0\n"

# (body of a function with the region, whether the value of s at its end may be read)
CASES = [
    (f"{REGION}", False),
    (f"{REGION} a[0] = s;", True),
    (f"{REGION} s = 0; a[0] = s;", False),
    (f"{REGION} s = s + 1;", True),
    (f"{REGION} s += 1;", True),
    (f"{REGION} s++;", True),
    (f"a[0] = s; {REGION}", False),
    (f"{REGION} for (s = 0; s < n; s++) a[s] = 0; a[0] = s;", False),
    (f"{REGION} for (k = 0; k < n; k++) s = 0; a[0] = s;", True),
    (f"{REGION} for (k = 0; k < n; k++) {{ s = 0; a[k] = s; }}", False),
    (f"{REGION} if (n) s = 0; else s = 1; a[0] = s;", False),
    (f"{REGION} if (n) s = 0; a[0] = s;", True),
    (f"{REGION} if (n && (s = 2)) a[0] = 1; a[1] = s;", True),
    (f"{REGION} k = n ? s : 0;", True),
    (f"{REGION} while (s > 0) s = 0;", True),
    (f"{REGION} do {{ s = 1; }} while (0); a[0] = s;", False),
    (f"{REGION} do {{ if (n) break; s = 1; }} while (0); a[0] = s;", True),
    (f"{REGION} do {{ s = 1; }} while (s > n);", False),
    (f"{REGION} do {{ if (n) continue; s = 1; }} while (s > n);", True),
    (f"{REGION} switch (n) {{ case 0: s = 1; break; default: a[0] = s; }}", True),
    (f"for (k = 0; k < n; k++) {{ a[k] = s; {REGION} }}", True),
    (f"for (k = 0; k < n; k++) {{ s = 0; a[k] = s; {REGION} }}", False),
    (f"for (k = 0; k < n; k++) {{ {REGION} if (a[k]) break; s = 0; }} a[0] = s;", True),
    (f"while (s < n) {{ {REGION} }}", True),
    (f"if (n) {{ {REGION} }} s = 0; a[0] = s;", False),
    (f"if (n) {{ {REGION} }} a[0] = s;", True),
    (f"{REGION} {{ int s; s = 0; }} a[0] = s;", True),
    (f"{REGION} a[0] = sizeof s;", False),
    (f"again: {REGION} s = 0; if (n) goto again;", True),
    (f"{REGION} return s;", True),
    (f"{REGION} p->s = 0;", False),
    (f"{REGION} s.x = 0;", False),
    (f"{REGION} s.x = 0; a[0] = s.x;", False),
    (f"{REGION} s.x = 0; a[0] = s.y;", True),
    (f"{REGION} s.x = 0; t = s;", True),
    (f"{REGION} s = t; a[0] = s.x.y;", False),
    (f"{REGION} s.x = t; a[0] = s.x.y;", False),
    (f"{REGION} s.x += 1;", True),
    (f"{REGION} if (n) s.x = 0; a[0] = s.x;", True),
    (f"{REGION} s.x[0] = 0;", True),
    (f"{REGION} s->x = 0;", True),
]


@pytest.mark.parametrize(("body", "live"), CASES)
def test_read_after(body, live):
    text = f"int f(int n, int *a, struct q *p, int s) {{ int k; {body} }}"
    tree = c_parser.CParser().parse(text)
    function = next(each for each in tree.ext if isinstance(each, c_ast.FuncDef))
    assert ("s" in read_after(function, 0)) == live
