"""The regions of the scaling table: much of one thing, as generated and unusual code has it."""

from __future__ import annotations

from collections.abc import Callable

_ARRAYS = 8
_COUNTERS = [f"i{number}" for number in range(12)]


def program(shape: str, size: int, regions: int) -> str:
    """A file with ``regions`` regions of ``shape``, each of a ``size`` that means what its shape says."""
    return "\n".join(SHAPES[shape](size, f"f{number}") for number in range(regions))


def _function(name: str, parameters: str, body: str) -> str:
    return f"void {name}({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def _planes(name: str, body: str) -> str:
    """A function of a few square arrays of ``n * n`` elements."""
    arrays = ", ".join(f"double a{number}[restrict n][n]" for number in range(_ARRAYS))
    return _function(name, f"int n, {arrays}", body)


def nests(count: int, name: str) -> str:
    """``count`` statements, each in a nest of its own: stages of a pipeline over a few arrays."""
    lines = []
    for number in range(count):
        target, source = f"a{number % _ARRAYS}", f"a{(number * 3 + 1) % _ARRAYS}"
        if target == source:
            source = f"a{(number + 1) % _ARRAYS}"
        values = (
            f"{source}[i - 1][j] + {source}[i][j + 1]",
            f"{target}[i][j] * {number % 7 + 2} + {source}[i][j]",
            f"{source}[i][j - 1] - {target}[i][j]",
        )
        lines.append(
            "  for (int i = 1; i < n - 1; i++)\n"
            f"    for (int j = 1; j < n - 1; j++) {target}[i][j] = {values[number % len(values)]};"
        )
    return _planes(name, "\n".join(lines))


def one_nest(count: int, name: str) -> str:
    """``count`` statements in one nest, as unrolled and generated code has them."""
    lines = ["  for (int i = 1; i < n - 1; i++)", "    for (int j = 1; j < n - 1; j++) {"]
    for number in range(count):
        target, source = f"a{number % _ARRAYS}", f"a{(number + 1) % _ARRAYS}"
        lines.append(f"      {target}[i][j] = {target}[i][j] * {number % 5 + 2} + {source}[i][j];")
    return _planes(name, "\n".join([*lines, "    }"]))


def deep(depth: int, name: str) -> str:
    """``depth`` loops around the contraction of two tensors."""
    counters = _COUNTERS[:depth]
    shared = depth // 3
    left, inner, right = counters[:shared], counters[shared : 2 * shared], counters[2 * shared :]
    loops = "".join(
        f"{'  ' * (level + 1)}for (int {each} = 0; {each} < n; {each}++)\n"
        for level, each in enumerate(counters)
    )
    tensors = {"c": (*left, *right), "a": (*left, *inner), "b": (*inner, *right)}
    places = {each: each + "".join(f"[{counter}]" for counter in used) for each, used in tensors.items()}
    parameters = ", ".join(
        f"double {each}[restrict n]{'[n]' * (len(used) - 1)}" for each, used in tensors.items()
    )
    update = f"{places['c']} += {places['a']} * {places['b']};"
    return _function(name, f"int n, {parameters}", f"{loops}{'  ' * (depth + 1)}{update}")


def members(count: int, name: str) -> str:
    """An array of structures of ``count`` members, a fiftieth of which is set from others."""
    fields = " ".join(f"double m{number};" for number in range(count))
    lines = "\n".join(
        f"    p[i].m{number} = p[i].m{count - 1 - number} * {number % 5 + 2};"
        for number in range(count // 50)
    )
    kind = f"struct {name}_record {{ {fields} }};\n"
    loop = f"  for (int i = 0; i < n; i++) {{\n{lines}\n  }}"
    return kind + _function(name, f"int n, struct {name}_record p[n]", loop)


def points(count: int, name: str) -> str:
    """All distances of points, structures with an array of ``count`` coordinates."""
    kind = f"struct {name}_point {{ double x[{count}]; int cluster; }};\n"
    body = (
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n      d[i][j] = 0;\n"
        f"      for (int k = 0; k < {count}; k++)\n"
        "        d[i][j] += (p[i].x[k] - p[j].x[k]) * (p[i].x[k] - p[j].x[k]);\n    }"
    )
    return kind + _function(name, f"int n, struct {name}_point p[n], double d[n][n]", body)


def bounds(power: int, name: str) -> str:
    """Loops that run two to the ``power`` times, over a window of an array and in steps."""
    count = f"(1L << {power})"
    body = (
        f"  for (long i = 1; i < {count} - 1; i++)\n    b[i] = a[i - 1] + a[i] + a[i + 1];\n"
        f"  for (long i = 0; i < {count} / 3; i++)\n    c[i] = b[3 * i] + b[3 * i + 1];"
    )
    arrays = "double *restrict a, double *restrict b, double *restrict c"
    return _function(name, arrays, body)


def periodic(dimensions: int, name: str) -> str:
    """Steps over time of a grid of ``dimensions`` whose borders touch each other."""
    counters = _COUNTERS[:dimensions]
    here = "".join(f"[{each}]" for each in counters)
    terms = [f"a{here}"]
    for each in counters:
        terms += [f"a{here.replace(each, f'({each} + {step}) % n')}" for step in ("1", "n - 1")]
    nest = "".join(f"    for (int {each} = 0; {each} < n; {each}++)\n" for each in counters)
    body = (
        f"  for (int t = 0; t < steps; t++) {{\n{nest}      b{here} = 0.1 * ({' + '.join(terms)});\n"
        f"{nest}      a{here} = b{here};\n  }}"
    )
    grid = "[n]" * dimensions
    return _function(name, f"int n, int steps, double a{grid}, double b{grid}", body)


def modulo(modulus: int, name: str) -> str:
    """Subscripts modulo ``modulus``: a ring of rows, classes of elements, and quotients."""
    body = (
        "  for (int i = 1; i < n; i++)\n    for (int j = 0; j < n; j++)\n"
        f"      r[i % {modulus}][j] = r[(i + {modulus - 1}) % {modulus}][j] + a[i][j];\n"
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n"
        f"      if ((i + j) % {modulus} == 0) a[i][j] = 2 * a[i][j];\n"
        f"      q[i / {modulus}][j % {modulus}] += a[i][j];\n    }}"
    )
    arrays = f"double r[{modulus}][n], double a[n][n], double q[n][{modulus}]"
    return _function(name, f"int n, {arrays}", body)


SHAPES: dict[str, Callable[[int, str], str]] = {
    "nests": nests,
    "one nest": one_nest,
    "deep": deep,
    "members": members,
    "points": points,
    "bounds": bounds,
    "periodic": periodic,
    "modulo": modulo,
}
"""Functions with a region, by what there is much of: its size, and the name of the function, are given."""
