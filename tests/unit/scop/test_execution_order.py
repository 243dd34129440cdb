"""The model's instances, in its order, are what gcc's program runs; so are the counters' last values."""

from __future__ import annotations

import itertools
import re
import subprocess

import islpy as isl
import pytest
from plain_regions import scop_in

_dim = isl.dim_type
SIZES = range(-2, 8)

# (name, region; RUN(k, counters...) is statement k, parameters, declarations before, counters to print after)
CASES = {
    "up": ("for (int i = 0; i < n; i++) RUN(0, i);", "int n", "", ""),
    "down": ("for (int i = n; i > 0; --i) RUN(0, i);", "int n", "", ""),
    "stride": ("for (int i = 1; i <= n; i += 3) RUN(0, i);", "int n", "", ""),
    "stride down": ("for (int i = n - 1; i >= m; i -= 2) RUN(0, i);", "int n, int m", "", ""),
    "stride spelled out": ("for (int i = m; i < n; i = 2 + i) RUN(0, i);", "int n, int m", "", ""),
    "not equal": ("for (int i = 0; i != n; i++) RUN(0, i);", "int n", "", ""),
    "not equal down": ("for (int i = n; i != m; i--) RUN(0, i);", "int n, int m", "", ""),
    "not equal stride": ("for (int i = 0; i != n; i += 2) RUN(0, i);", "int n", "", ""),
    "two bounds": ("for (int i = 0; i < n && i < 2 * m; i++) RUN(0, i);", "int n, int m", "", ""),
    "either bound": ("for (int i = 0; i < n || i < m; i++) RUN(0, i);", "int n, int m", "", ""),
    "hole": ("for (int i = 0; i < n && i != m; i++) RUN(0, i);", "int n, int m", "", ""),
    "bound with modulus": ("for (int i = m; i % 4 < 3 && i < n; i++) RUN(0, i);", "int n, int m", "", ""),
    "mirrored bound": ("for (int i = 0; n > i; i++) RUN(0, i);", "int n", "", ""),
    "doubled counter": ("for (int i = -3; 2 * i + 1 < n; i++) RUN(0, i);", "int n", "", ""),
    "triangle": ("for (int i = 0; i < n; i++) for (int j = i; j >= 0; j--) RUN(0, i, j);", "int n", "", ""),
    "order in block": (
        """for (int i = 0; i < n; i++) {
             RUN(0, i);
             for (int j = 0; j < m; j++) { RUN(1, i, j); RUN(2, i, j); }
             RUN(3, i);
           }
           RUN(4, 0);""",
        "int n, int m",
        "",
        "",
    ),
    "if else": (
        "for (int i = 0; i < n; i++) if (i == m || i > 3) RUN(0, i); else { RUN(1, i); }",
        "int n, int m",
        "",
        "",
    ),
    "not": ("for (int i = -n; i < n; i++) if (!(i > m && i < 4)) RUN(0, i);", "int n, int m", "", ""),
    "truncating division": (
        "for (int i = -n; i < n; i++) if (i / 3 == m / 2) RUN(0, i); else if (i % 3 == -1) RUN(1, i);",
        "int n, int m",
        "",
        "",
    ),
    "negative divisor": (
        "for (int i = -n; i < n; i++) { if (i / -2 > m) RUN(0, i); if (i % -3 == 1) RUN(1, i); }",
        "int n, int m",
        "",
        "",
    ),
    "shift and mask": (
        "for (int i = -n; i < n; i++) if ((i & 3) == 1 && i >> 1 < m << 1) RUN(0, i);",
        "int n, int m",
        "",
        "",
    ),
    "minimum": ("for (int i = 0; i < (n < m ? n : m); i++) RUN(0, i);", "int n, int m", "", ""),
    "comparison as value": ("for (int i = 0; i < n + (m > 2); i++) RUN(0, i);", "int n, int m", "", ""),
    "plain value": ("for (int i = -n; i < n; i++) if (i - m) RUN(0, i);", "int n, int m", "", ""),
    "same counter twice": (
        "for (int i = 0; i < n; i++) RUN(0, i); for (int i = m; i > 0; i--) RUN(1, i);",
        "int n, int m",
        "",
        "",
    ),
    "unsigned": ("for (unsigned i = 0; i < n; i++) RUN(0, i);", "unsigned n", "", ""),
    "unsigned short by one": ("for (unsigned i = 0; i < n - 1; i++) RUN(0, i);", "unsigned n", "", ""),
    "unsigned sum that wraps back": (
        "for (unsigned i = 0; i < n - 1 + m; i++) RUN(0, i);",
        "unsigned n, unsigned m",
        "",
        "",
    ),
    "unsigned down": (
        "for (unsigned long i = n; i > m; i--) RUN(0, i);",
        "unsigned long n, unsigned m",
        "",
        "",
    ),
    "mixed signs": ("for (int i = m; i < n; i++) RUN(0, i);", "unsigned n, int m", "", ""),
    "narrow counter": ("for (unsigned char i = 250; i < n + 252; i++) RUN(0, i);", "int n", "", ""),
    "short counter": ("for (short i = n; i >= m; i--) RUN(0, i);", "int n, int m", "", ""),
    "cast": ("for (long i = (long)n; i < (long)m; i++) RUN(0, i);", "short n, int m", "", ""),
    "truncating cast": ("for (int i = 0; i < (unsigned char)(n + 254); i++) RUN(0, i);", "int n", "", ""),
    "final": ("for (i = m; i < n; i += 3) RUN(0, i);", "int n, int m", "int i = 99;", "i"),
    "final down": ("for (i = n; i >= m; i -= 2) RUN(0, i);", "int n, int m", "int i = 99;", "i"),
    "final not equal": ("for (i = 0; i != n; i++) RUN(0, i);", "int n", "int i = 99;", "i"),
    "final with hole": ("for (i = 0; i < n && i != m; i++) RUN(0, i);", "int n, int m", "int i = 99;", "i"),
    "final nested": (
        "for (i = 0; i < n; i++) for (j = i; j < m; j++) RUN(0, i, j);",
        "int n, int m",
        "int i = 98, j = 99;",
        "i, j",
    ),
    "final nested down": (
        "for (i = n; i > 0; i -= 2) { for (j = m - i; j >= 0; j -= 3) RUN(0, i, j); }",
        "int n, int m",
        "int i = 98, j = 99;",
        "i, j",
    ),
    "final conditional": (
        """for (i = 0; i < n; i++)
             if (i % 3 == 1) for (j = 0; j < i; j++) RUN(0, i, j);
             else for (j = 5; j > i; j--) RUN(1, i, j);""",
        "int n, int m",
        "int i = 98, j = 99;",
        "i, j",
    ),
    "final of the last": (
        "for (i = 0; i < n; i++) RUN(0, i); if (n > m) for (i = m; i > 0; i--) RUN(1, i);",
        "int n, int m",
        "int i = 99;",
        "i",
    ),
    "final used in between": (
        "for (i = 0; i < n; i += 2) RUN(0, i); for (j = 0; j < i; j++) RUN(1, j); if (j > m) RUN(2, 7);",
        "int n, int m",
        "int i = 98, j = 99;",
        "i, j",
    ),
    "final start from the last": (
        "for (i = 0; i < n; i++) RUN(0, i); for (j = i - 1; j > m; j--) RUN(1, j);",
        "int n, int m",
        "int i = 98, j = 99;",
        "i, j",
    ),
}


def _as_stored(region: str) -> str:
    """RUN(k, ...) as an assignment that names k."""
    return re.sub(r"RUN\((\d+)[^;]*\);", r"x[\1] = \1;", region)


def _as_printed(region: str) -> str:
    def printed(match: re.Match[str]) -> str:
        counters = [f"(long)({each})" for each in match.group(2).split(",")]
        return f'printf("{match.group(1)}{" %ld" * len(counters)}\\n", {", ".join(counters)});'

    return re.sub(r"RUN\((\d+), ([^;]*)\);", printed, region)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """One program with all cases: ``order case sizes...`` runs one for each list of sizes."""
    folder = tmp_path_factory.mktemp("order")
    functions, calls = [], []
    for number, (region, parameters, before, after) in enumerate(CASES.values()):
        last = "".join(f'printf("{each.strip()} %d\\n", {each});' for each in after.split(",") if each)
        functions.append(f"void f{number}({parameters}) {{ {before} {_as_printed(region)} {last} }}")
        count = parameters.count(",") + 1
        sizes = ", ".join(f"atoi(argv[a + {index}])" for index in range(count))
        calls.append(f"case {number}: f{number}({sizes}); a += {count}; break;")
    text = "#include <stdio.h>\n#include <stdlib.h>\n" + "\n".join(functions)
    text += "\nint main(int argc, char **argv) {\n"
    text += 'for (int a = 2; a < argc; puts("---")) switch (atoi(argv[1])) {\n'
    (folder / "order.c").write_text(text + "\n".join(calls) + "}\nreturn 0; }\n")
    subprocess.run(["gcc", "-O0", "-fwrapv", "order.c", "-o", "order"], cwd=folder, check=True)

    def run(case, every_size):
        number = list(CASES).index(case)
        command = [folder / "order", str(number), *(str(each) for sizes in every_size for each in sizes)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [each.splitlines() for each in output.split("---\n")[:-1]]

    return run


def _fix(each, sizes):
    for name, value in sizes.items():
        position = each.find_dim_by_name(_dim.param, name)
        if position >= 0:
            each = each.fix_val(_dim.param, position, isl.Val(value))
    return each


def _holds(condition, sizes):
    return not _fix(condition, sizes).is_empty()


def _trace(scop, sizes):
    """The lines that the program would print if it ran the instances in the order of the schedule."""
    numbers = {each.name: each.body.rvalue.value for each in scop.statements}
    found = []

    def visit(relation):
        name = relation.get_tuple_name(_dim.in_)

        def point(pair):
            values = [
                pair.get_coordinate_val(_dim.set, position).to_python()
                for position in range(pair.space.dim(_dim.set))
            ]
            depth = int(relation.dim(_dim.in_))
            found.append((values[depth:], " ".join(map(str, [numbers[name], *values[:depth]]))))

        flat = _fix(relation, sizes).move_dims(_dim.out, 0, _dim.in_, 0, relation.dim(_dim.in_)).range()
        flat.project_out_all_params().foreach_point(point)

    scop.schedule.get_map().intersect_domain(scop.domain).foreach_map(visit)
    return [line for _, line in sorted(found)]


def _finals(scop, sizes, before):
    values = dict(re.findall(r"(\w) = (\d+)", before))
    for final in scop.final_values:
        value = _fix(isl.Map.from_pw_aff(final.value).range(), sizes).project_out_all_params()
        if not value.is_empty():
            values[final.name] = str(value.sample_point().get_coordinate_val(_dim.set, 0).to_python())
    return [f"{name} {value}" for name, value in sorted(values.items())]


@pytest.mark.parametrize("case", CASES)
def test_instances_and_order(case, program):
    region, parameters, before, after = CASES[case]
    use = f"y[0] = {after.replace(',', '+')};" if after else ""
    scop = scop_in(_as_stored(region), f"{parameters}, double *x, double *y", before, use)
    names = re.findall(r"(\w+)(?:,|$)", parameters)
    sizes_of = [range(8) if "unsigned" in each else SIZES for each in parameters.split(",")]
    every_size = [
        values
        for values in itertools.product(*sizes_of)
        if all(_holds(each.condition, dict(zip(names, values, strict=True))) for each in scop.assumptions)
    ]
    # an assumption may cut off some sizes, not most of them
    assert len(every_size) >= len(list(itertools.product(*sizes_of))) // 3
    for values, lines in zip(every_size, program(case, every_size), strict=True):
        sizes = dict(zip(names, values, strict=True))
        ran = [" ".join(line.split()[: _width(scop, line)]) for line in lines]
        assert _trace(scop, sizes) + _finals(scop, sizes, before) == ran, sizes


def _width(scop, line):
    """How many of a line's numbers count: a statement outside loops prints a stand-in."""
    for each in scop.statements:
        if each.body.rvalue.value == line.split()[0]:
            return 1 + len(each.iterators)
    return 2
