"""The kernels compute what they say: their results hold against the mathematics, written out anew."""

from __future__ import annotations

import array
import functools
import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from kernel_programs import KERNELS, SANITIZERS, SERIAL, Toolchain, build, run, shapes, source

Matrix = list[list[float]]
Values = Callable[..., Matrix]

TYPES = {"double": "d", "float": "f", "int": "i"}
EXTENTS = (13, 11, 9, 7)


@pytest.fixture
def data(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Values, Values]:
    """Run the kernel named by the test at EXTENTS; its arrays ``before`` and ``after``.

    Both are functions of an array's name and its width, and give a list of rows.
    """
    kernel = request.param
    program = build(source(kernel), tmp_path / kernel, SERIAL)
    sizes = map(str, shapes(kernel, EXTENTS))
    printed = run(program, ("--dump", str(tmp_path), *sizes))
    types = {line.split()[1]: line.split()[2] for line in printed if line.startswith("array")}

    def read(when: str, name: str, width: int) -> Matrix:
        values = array.array(TYPES[types[name]], (tmp_path / f"{name}.{when}").read_bytes())
        return [list(values[start : start + width]) for start in range(0, len(values), width)]

    return functools.partial(read, "before"), functools.partial(read, "after")


def of(kernel: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("data", [kernel], indirect=True)


def transpose(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = transpose(b)
    return [[dot(row, column) for column in columns] for row in a]


def combination(*terms: tuple[float, Matrix]) -> Matrix:
    rows = zip(*(matrix for _, matrix in terms), strict=True)
    factors = [factor for factor, _ in terms]
    return [[dot(factors, cells) for cells in zip(*row, strict=True)] for row in rows]


def symmetric(a: Matrix) -> Matrix:
    """The matrix whose lower triangle is that of ``a``."""
    return [[a[max(i, j)][min(i, j)] for j in range(len(a))] for i in range(len(a))]


def triangle(a: Matrix, keep: Callable[[int, int], bool]) -> Matrix:
    return [[value if keep(i, j) else 0.0 for j, value in enumerate(row)] for i, row in enumerate(a)]


def assert_close(found: Sequence[Sequence[float]], wanted: Sequence[Sequence[float]], error: float) -> None:
    assert len(found) == len(wanted)
    for row, wanted_row in zip(found, wanted, strict=True):
        assert row == pytest.approx(wanted_row, rel=error, abs=error)


def lower(i: int, j: int) -> bool:
    return j <= i


def upper(i: int, j: int) -> bool:
    return i <= j


# ---- Products ----------------------------------------------------------------


@of("gemm")
def test_gemm(data: tuple[Values, Values]) -> None:
    before, after = data
    m, n, k = EXTENTS[:3]
    ab = product(before("A", k), before("B", n))
    assert len(ab) == m
    assert_close(after("C", n), combination((1.5, ab), (1.2, before("C", n))), 1e-13)


@of("2mm")
def test_2mm(data: tuple[Values, Values]) -> None:
    before, after = data
    _, n, k, q = EXTENTS
    abc = product(product(before("A", k), before("B", n)), before("C", q))
    assert_close(after("D", q), combination((0.75, abc), (1.25, before("D", q))), 1e-13)


@of("3mm")
def test_3mm(data: tuple[Values, Values]) -> None:
    before, after = data
    _, n, k, q = EXTENTS
    ab, cd = product(before("A", k), before("B", n)), product(before("C", k), before("D", q))
    assert_close(after("G", q), product(ab, cd), 1e-13)


@of("atax")
def test_atax(data: tuple[Values, Values]) -> None:
    before, after = data
    a = before("A", EXTENTS[1])
    assert_close(after("y", 1), product(transpose(a), product(a, before("x", 1))), 1e-13)


@of("bicg")
def test_bicg(data: tuple[Values, Values]) -> None:
    before, after = data
    a = before("A", EXTENTS[1])
    assert_close(after("q", 1), product(a, before("p", 1)), 1e-13)
    assert_close(after("s", 1), product(transpose(a), before("r", 1)), 1e-13)


@of("doitgen")
def test_doitgen(data: tuple[Values, Values]) -> None:
    before, after = data
    width = EXTENTS[2]
    assert_close(after("A", width), product(before("A", width), before("W", width)), 1e-13)


@of("mvt")
def test_mvt(data: tuple[Values, Values]) -> None:
    before, after = data
    a = before("A", EXTENTS[0])
    assert_close(after("x", 1), combination((1, before("x", 1)), (1, product(a, before("y", 1)))), 1e-5)
    added = product(transpose(a), before("w", 1))
    assert_close(after("z", 1), combination((1, before("z", 1)), (1, added)), 1e-5)


@of("gemver")
def test_gemver(data: tuple[Values, Values]) -> None:
    before, after = data
    n = EXTENTS[0]
    uv, st = product(before("u", 1), before("v", n)), product(before("s", 1), before("t", n))
    a = combination((1, before("A", n)), (1, uv), (1, st))
    x = combination((0.25, product(transpose(a), before("y", 1))), (1, before("z", 1)))
    assert_close(after("x", 1), x, 1e-13)
    assert_close(after("w", 1), combination((1.5, product(a, x))), 1e-13)


@of("gesummv")
def test_gesummv(data: tuple[Values, Values]) -> None:
    before, after = data
    n = EXTENTS[0]
    sums = combination((1.5, before("A", n)), (1.2, before("B", n)))
    assert_close(after("y", 1), product(sums, before("x", 1)), 1e-13)


@of("symm")
def test_symm(data: tuple[Values, Values]) -> None:
    before, after = data
    m, n = EXTENTS[:2]
    ab = product(symmetric(before("A", m)), before("B", n))
    assert_close(after("C", n), combination((1.5, ab), (1.2, before("C", n))), 1e-13)


@of("syrk")
def test_syrk(data: tuple[Values, Values]) -> None:
    before, after = data
    n, m = EXTENTS[:2]
    a, c = before("A", m), before("C", n)
    full = combination((1.5, product(a, transpose(a))), (1.2, c))
    assert_close(triangle(after("C", n), lower), triangle(full, lower), 1e-13)
    assert triangle(after("C", n), lambda i, j: j > i) == triangle(c, lambda i, j: j > i)


@of("syr2k")
def test_syr2k(data: tuple[Values, Values]) -> None:
    before, after = data
    n, m = EXTENTS[:2]
    a, b, c = before("A", m), before("B", m), before("C", n)
    full = combination((1.5, product(a, transpose(b))), (1.5, product(b, transpose(a))), (1.2, c))
    assert_close(triangle(after("C", n), lower), triangle(full, lower), 1e-13)
    assert triangle(after("C", n), lambda i, j: j > i) == triangle(c, lambda i, j: j > i)


@of("trmm")
def test_trmm(data: tuple[Values, Values]) -> None:
    before, after = data
    m, n = EXTENTS[:2]
    ub = product(triangle(before("U", m), upper), before("B", n))
    assert_close(after("B", n), combination((1.5, ub)), 1e-13)


# ---- Factorisations and solvers ----------------------------------------------


@of("cholesky")
def test_cholesky(data: tuple[Values, Values]) -> None:
    before, after = data
    n = EXTENTS[0]
    factor = triangle(after("A", n), lower)
    assert_close(product(factor, transpose(factor)), before("A", n), 1e-12)


@of("lu")
def test_lu(data: tuple[Values, Values]) -> None:
    before, after = data
    assert_close(multiplied_lu(after("A", EXTENTS[0])), before("A", EXTENTS[0]), 1e-12)


@of("ludcmp")
def test_ludcmp(data: tuple[Values, Values]) -> None:
    before, after = data
    n = EXTENTS[0]
    assert_close(multiplied_lu(after("A", n)), before("A", n), 1e-12)
    assert_close(product(before("A", n), after("x", 1)), before("b", 1), 1e-12)


def multiplied_lu(packed: Matrix) -> Matrix:
    unit = [[1.0 if i == j else value for j, value in enumerate(row)] for i, row in enumerate(packed)]
    return product(triangle(unit, lower), triangle(packed, upper))


@of("trisolv")
def test_trisolv(data: tuple[Values, Values]) -> None:
    before, after = data
    triangular = triangle(before("L", EXTENTS[0]), lower)
    assert_close(product(triangular, after("x", 1)), before("b", 1), 1e-12)


@of("durbin")
def test_durbin(data: tuple[Values, Values]) -> None:
    before, after = data
    n = EXTENTS[0]
    correlations = [1.0, *(value for (value,) in before("r", 1))]
    toeplitz = [[correlations[abs(i - j)] for j in range(n)] for i in range(n)]
    assert_close(product(toeplitz, after("y", 1)), combination((-1, before("r", 1))), 1e-12)


@of("gramschmidt")
def test_gramschmidt(data: tuple[Values, Values]) -> None:
    before, after = data
    n = EXTENTS[1]
    q = after("Q", n)
    assert_close(product(q, triangle(after("R", n), upper)), before("A", n), 1e-12)
    identity = [[float(i == j) for j in range(n)] for i in range(n)]
    assert_close(product(transpose(q), q), identity, 1e-12)


# ---- Statistics and dynamic programming --------------------------------------


@of("correlation")
def test_correlation(data: tuple[Values, Values]) -> None:
    before, after = data
    m = EXTENTS[1]
    columns = transpose(before("X", m))
    wanted = [[statistics.correlation(x, y) for y in columns] for x in columns]
    assert_close(after("R", m), wanted, 1e-12)


@of("covariance")
def test_covariance(data: tuple[Values, Values]) -> None:
    before, after = data
    m = EXTENTS[1]
    columns = transpose(before("X", m))
    wanted = [[statistics.covariance(x, y) for y in columns] for x in columns]
    assert_close(after("S", m), wanted, 1e-12)


@of("floyd-warshall")
def test_floyd_warshall(data: tuple[Values, Values]) -> None:
    """Against Bellman and Ford's relaxation of every edge, n times."""
    before, after = data
    n = EXTENTS[0]
    weight = before("distance", n)
    shortest = [row.copy() for row in weight]
    for _ in range(n):
        for row in shortest:
            for i, j in itertools.product(range(n), repeat=2):
                row[j] = min(row[j], row[i] + weight[i][j])
    assert after("distance", n) == shortest
    assert shortest != weight


@of("nussinov")
def test_nussinov(data: tuple[Values, Values]) -> None:
    """Against the recursion on the first base: it stays single, or pairs with a later one."""
    before, after = data
    n = EXTENTS[0]
    bases = [base for (base,) in before("base", 1)]

    @functools.cache
    def most(first: int, last: int) -> int:
        best = 0 if first >= last else most(first + 1, last)
        for mate in range(first + 2, last + 1):
            if bases[first] + bases[mate] == 3:
                best = max(best, 1 + most(first + 1, mate - 1) + most(mate + 1, last))
        return best

    pairs = after("pairs", n)
    assert all(pairs[i][j] == most(i, j) for i in range(n) for j in range(i, n))
    assert pairs[0][n - 1] > 1


# ---- Filters and stencils ----------------------------------------------------


@of("deriche")
def test_deriche(data: tuple[Values, Values]) -> None:
    """Against the convolution with the filter's impulse response, rows first, then columns."""
    before, after = data
    width = EXTENTS[1]
    e = math.exp(-0.25)
    k = (1 - e) ** 2 / (1 + 2 * 0.25 * e - e * e)

    def response(size: int) -> Matrix:
        return [
            [k * (1 + 0.25 * abs(i - j)) * math.exp(-0.25 * abs(i - j)) for j in range(size)]
            for i in range(size)
        ]

    smooth = product(product(response(EXTENTS[0]), before("image", width)), response(width))
    assert_close(after("smooth", width), smooth, 1e-5)


@of("jacobi-1d")
def test_jacobi_1d(data: tuple[Values, Values]) -> None:
    before, after = data
    n, steps = EXTENTS[:2]
    now, later = before("u", n)
    for _ in range(steps):
        inner = [(a + 2 * b + c) / 4 for a, b, c in zip(now, now[1:], now[2:], strict=False)]
        now, later = [later[0], *inner, later[-1]], now
    assert_close(sorted(after("u", n)), sorted([now, later]), 1e-14)


def neighbours(grid: Matrix, i: int, j: int) -> float:
    return grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]


@of("jacobi-2d")
def test_jacobi_2d(data: tuple[Values, Values]) -> None:
    before, after = data
    n, steps = EXTENTS[:2]
    now = before("now", n)
    for _ in range(steps):
        old = [row.copy() for row in now]
        for i, j in itertools.product(range(1, n - 1), repeat=2):
            now[i][j] = (old[i][j] + neighbours(old, i, j)) / 5
    assert_close(after("now", n), now, 1e-13)


@of("seidel-2d")
def test_seidel_2d(data: tuple[Values, Values]) -> None:
    before, after = data
    n, steps = EXTENTS[:2]
    u = before("u", n)
    for _, i, j in itertools.product(range(steps), range(1, n - 1), range(1, n - 1)):
        u[i][j] = math.fsum(u[i + di][j + dj] for di in (-1, 0, 1) for dj in (-1, 0, 1)) / 9
    assert_close(after("u", n), u, 1e-13)


@of("heat-3d")
def test_heat_3d(data: tuple[Values, Values]) -> None:
    before, after = data
    n, turns = EXTENTS[:2]
    now, later = (
        [rows[start : start + n] for start in range(0, n * n, n)] for rows in (before("A", n), before("B", n))
    )
    for _ in range(2 * turns):
        for i, j, k in itertools.product(range(1, n - 1), repeat=3):
            around = neighbours(now[i], j, k) + now[i - 1][j][k] + now[i + 1][j][k]
            later[i][j][k] = now[i][j][k] / 4 + around / 8
        now, later = later, now
    assert_close(after("A", n), [row for plane in now for row in plane], 1e-13)
    assert_close(after("B", n), [row for plane in later for row in plane], 1e-13)


@of("fdtd-2d")
def test_fdtd_2d(data: tuple[Values, Values]) -> None:
    before, after = data
    m, n, steps = EXTENTS[:3]
    ex, ey, hz = before("ex", n + 1), before("ey", n), before("hz", n)
    for t in range(steps):
        ey[0] = before("source", 1)[t] * n
        for i, j in itertools.product(range(1, m), range(n)):
            ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j])
        for i, j in itertools.product(range(m), range(1, n)):
            ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1])
        for i, j in itertools.product(range(m), range(n)):
            curl = (ex[i][j + 1] - ex[i][j]) + (ey[i + 1][j] - ey[i][j])
            hz[i][j] -= 0.7 * curl
    for name, width, wanted in (("ex", n + 1, ex), ("ey", n, ey), ("hz", n, hz)):
        assert_close(after(name, width), wanted, 1e-12)


@of("adi")
def test_adi(data: tuple[Values, Values]) -> None:
    """After the last half step u solves, along each column, the tridiagonal system made of v."""
    before, after = data
    n = EXTENTS[0]
    u, v = after("u", n), after("v", n)
    h = 0.4
    for i, j in itertools.product(range(1, n - 1), repeat=2):
        implicit = (1 + 2 * h) * u[i][j] - h * (u[i - 1][j] + u[i + 1][j])
        explicit = (1 - 2 * h) * v[i][j] + h * (v[i][j - 1] + v[i][j + 1])
        assert implicit == pytest.approx(explicit, rel=1e-12, abs=1e-12)
    assert u != before("u", n)


# ---- The programs themselves -------------------------------------------------

STRICT = [
    Toolchain("gcc-c99", "gcc", ("-std=c99", "-O2", "-Wno-unknown-pragmas")),
    Toolchain("clang-c99", "clang", ("-std=c99", "-O2", "-Wno-unknown-pragmas")),
    Toolchain(
        "sanitized",
        "gcc",
        ("-O1", "-g", "-Wno-unknown-pragmas", *SANITIZERS),
    ),
]


def test_there_are_thirty() -> None:
    assert len(KERNELS) == 30


@pytest.mark.parametrize("toolchain", STRICT, ids=lambda toolchain: toolchain.name)
@pytest.mark.parametrize("kernel", KERNELS)
def test_clean_and_the_same_everywhere(
    kernel: str, toolchain: Toolchain, expected: Callable[..., list[str]], tmp_path: Path
) -> None:
    """Nothing to warn of, nothing undefined, no NaN, and the same bits from every compiler."""
    program = build(source(kernel), tmp_path / kernel, toolchain)
    for extents in ((0,), (1,), (7,), (33,), shapes(kernel, (29, 17, 13, 11))):
        printed = run(program, tuple(map(str, extents)))
        assert printed == expected(kernel, extents)
        assert not any("nan" in line or "inf" in line for line in printed)
