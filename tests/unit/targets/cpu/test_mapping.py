"""Which loops of small kernels go to the threads, to the vector unit and into tiles, as it is written out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import islpy as isl
import pytest
from contexts import context_of

from polybuild.analysis.trip_counts import trip_counts
from polybuild.codegen.file.region import HostPlan, RunTimeChecks, write_region
from polybuild.poly.marks import MarkKind
from polybuild.poly.trees import descendants, is_band, mark_of
from polybuild.schedule.legality import check_schedule
from polybuild.targets.cpu.choice import choose_mapping
from polybuild.targets.cpu.lane_loops import copies_in_row
from polybuild.targets.cpu.mapping import CpuMapping, map_to_cpu
from polybuild.targets.cpu.search import choose_schedule

MATRICES = "int n, double C[restrict n][n], double A[restrict n][n], double B[restrict n][n]"
VECTORS = "int n, double *restrict a, double *restrict b, double *restrict c"

PRODUCT = """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
    }"""
JACOBI = """
  for (int t = 0; t < n; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = B[i][j] + B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1];
  }"""
TRANSPOSE = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = B[j][i];"
TEMPORARY = "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }"
SUM = "for (int i = 0; i < n; i++) a[0] += b[i];"
ROW_SUMS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += A[i][j];"
TINY = "for (int t = 0; t < n; t++) for (int j = 0; j < 3; j++) a[j] = a[j] * b[j] + 1;"
ROWS = """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) row[j] = A[i][j] + 1;
    for (int j = 0; j < n; j++) B[i][j] = row[n - 1 - j];
  }"""


@dataclass(frozen=True)
class Loop:
    """A loop of the generated code: its counter and the directive before it."""

    counter: str
    directive: str


@dataclass(frozen=True)
class Mapped:
    """What was chosen, and the loops around each statement as written, outermost first."""

    mapping: CpuMapping
    nests: dict[str, tuple[Loop, ...]]

    def parallel(self, statement: str) -> list[int]:
        """The depths of the loops of the threads."""
        return [at for at, loop in enumerate(self.nests[statement]) if "parallel" in loop.directive]

    def simd(self, statement: str) -> list[int]:
        """The depths of the loops of the vector unit."""
        return [at for at, loop in enumerate(self.nests[statement]) if "simd" in loop.directive.lower()]


def nests(lines):
    """The loops around each assignment, which is called by the name of what it assigns."""
    found, open_blocks, directive = {}, [], ""

    def close_bare():
        while open_blocks and not open_blocks[-1][1]:
            open_blocks.pop()

    for line in lines:
        text = line.strip()
        if together := re.match(r"(?s)(POLYBUILD_.*?) (for \(.*)", text):  # both stand on one line
            directive, text = together.groups()
        braced = text.endswith("{")
        if text.startswith("POLYBUILD_"):
            directive = text
        elif text.startswith("} else"):
            continue
        elif braced or text.startswith(
            ("for (", "if (")
        ):  # the body may be one loop or statement, without braces
            counter = re.match(r"for \(long long (\w+) =", text)
            assert counter or not directive, "a directive stands before a loop"
            open_blocks.append((Loop(counter.group(1), directive) if counter else None, braced))
            directive = ""
        elif text == "}":
            open_blocks.pop()
            close_bare()
        elif "=" in text and not text.startswith(("#", "const ")):
            for each in filter(None, text.split(";")):  # those of one line may stand side by side
                found[re.match(r"\w+", each.strip()).group()] = tuple(loop for loop, _ in open_blocks if loop)
            close_bare()
    assert not open_blocks
    return found


@pytest.fixture
def mapped(model):
    """Map a region to the CPU, prove the result and write it."""

    def make(body, parameters, before="", **options):
        found = model(body, parameters, before=before)
        options = {"registers": False} | options
        mapping = choose_mapping(found.scop, found.dependences, context_of(**options))
        check_schedule(mapping.schedule, found.dependences, found.scop.domain)
        plan = HostPlan(mapping.schedule, mapping.directives, registers=mapping.registers)
        checks = RunTimeChecks(work=trip_counts(found.scop))
        return Mapped(mapping, nests(write_region(found.scop, found.region, plan, checks).loops))

    return make


def test_matrix_product(mapped):
    found = mapped(PRODUCT, MATRICES)
    nest = found.nests["C"]
    assert found.parallel("C") == [0]
    assert found.simd("C") == [len(nest) - 1]
    assert nest[-1].counter == "j"
    # tiles of all three loops around their points
    assert len(nest) == 6
    assert sorted(each.counter for each in nest[3:]) == ["i", "j", "k"]
    ((*sizes,),) = found.mapping.tile_sizes
    assert len(sizes) == 3
    assert all(size > 1 for size in sizes)


def test_jacobi_becomes_diamonds_that_start_together(mapped):
    found = mapped(JACOBI, MATRICES)
    for array in "AB":
        assert found.parallel(array) == [1]  # below the loop over the waves
    assert found.mapping.simd_loops == 2
    (sizes,) = found.mapping.tile_sizes
    assert len(sizes) == 3
    nodes = descendants(found.mapping.schedule.get_root())
    kinds = [mark.kind for mark in map(mark_of, nodes) if mark is not None]
    order = [MarkKind.TILE_WAVE, MarkKind.PARALLEL_TILES, MarkKind.TILE_POINTS]
    assert [each for each in dict.fromkeys(kinds) if each in order] == order


@pytest.mark.parametrize("shape", ["hexagonal", "hybrid", "split"])
def test_jacobi_in_other_shapes(shape, mapped):
    found = mapped(JACOBI, MATRICES, tile_shape=shape, tile_sizes=(4, 20, 32))
    assert found.mapping.parallel_loops == (4 if shape == "split" else 2)
    assert found.mapping.tile_sizes == ((4, 20, 32),)


def test_jacobi_becomes_a_wavefront_of_time_tiles(mapped):
    found = mapped(JACOBI, MATRICES, tile_shape="rectangular")
    for array in "AB":
        assert found.parallel(array) == [1]  # below the loop over the waves
        assert found.simd(array) == [len(found.nests[array]) - 1]
    (sizes,) = found.mapping.tile_sizes
    assert len(sizes) == 3
    assert sizes[0] == sizes[1]


def test_a_transposed_copy(mapped):
    found = mapped(TRANSPOSE, MATRICES)
    nest = found.nests["A"]
    assert found.parallel("A") == [0]
    assert nest[-1].counter == "j", "the store is along rows"


def test_a_temporary_is_private(mapped):
    found = mapped(TEMPORARY, VECTORS, "double t;")
    (loop,) = found.nests["b"]
    assert "parallel for" in loop.directive
    assert "private(t)" in loop.directive
    assert found.nests["t"] == found.nests["b"]


def test_a_row_is_private_to_each_thread(mapped):
    found = mapped(ROWS, MATRICES, "double row[n];")
    assert found.parallel("B") == [0]
    assert "private(row)" in found.nests["B"][0].directive
    assert found.nests["row"][0] is found.nests["B"][0]


def test_a_temporary_that_is_not_private_is_not_in_a_clause(mapped):
    found = mapped("for (int i = 0; i < n; i++) { c[i] = a[i]; b[i] = c[i]; }", VECTORS)
    assert "private" not in found.nests["b"][0].directive


def test_a_value_that_leaves_its_loop_is_not_private(mapped):
    found = mapped("for (int i = 0; i < n; i++) t = a[i]; b[0] = t;", VECTORS, "double t;")
    assert found.parallel("t") == found.simd("t") == []


@pytest.mark.parametrize("options", [{}, {"tile": False}])
def test_threads_take_the_member_that_carries_nothing(options, mapped):
    body = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] += A[i - 1][j];"
    found = mapped(body, MATRICES, **options)
    assert found.parallel("A") == [0]
    assert found.nests["A"][0].counter in {"j", "first_j"}


@pytest.mark.parametrize("body", [SUM, "for (int i = 1; i < n; i++) a[i] += a[i - 1];"])
def test_what_is_sequential_stays_so(body, mapped):
    found = mapped(body, VECTORS)
    assert found.parallel("a") == found.simd("a") == []
    assert found.mapping.parallel_loops == 0


@pytest.mark.parametrize("tile", [True, False])
@pytest.mark.parametrize(
    "body",
    [
        ROW_SUMS,
        "for (int i = 0; i < n; i++) { a[i] = 0; for (int j = 0; j < n; j++) a[i] = a[i] + A[i][j] * b[j]; }",
        "for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) a[i] -= A[i][j] * b[j - 1];",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] = A[i][j] < a[i] ? A[i][j] : a[i];",
    ],
)
def test_sums_of_rows_are_in_lanes(model, body, tile):
    """A sum is not reordered, and stays in a register along its row: no loop over rows is inside."""
    found = model(body, f"{MATRICES}, double *restrict a, double *restrict b")
    context = context_of(tile=tile)
    order = choose_schedule(found.scop, found.dependences, context)
    mapping = map_to_cpu(found.scop, found.dependences, order, context)
    assert mapping.lane_loops()
    assert not mapping.tile_sizes
    assert any(is_band(each) for node in mapping.lane_loops() for each in descendants(node.child(0)))


def test_a_tiny_inner_loop_is_not_for_threads(mapped):
    assert mapped(TINY, VECTORS).parallel("a") == []


def test_threads_once_per_nest(mapped):
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    body = f"{nest} C[i][k] += A[i][j];"
    for options in ({}, {"tile": False}, {"schedule": "original"}):
        assert len(mapped(body, MATRICES, **options).parallel("C")) <= 1


KERNELS = {
    "product": (PRODUCT, MATRICES, ""),
    "jacobi": (JACOBI, MATRICES, ""),
    "temporary": (TEMPORARY, VECTORS, "double t;"),
    "rows": (ROWS, MATRICES, "double row[n];"),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_threads(kernel, mapped):
    found = mapped(*KERNELS[kernel], parallel=False)
    assert found.mapping.parallel_loops == 0
    assert all(found.parallel(each) == [] for each in found.nests)
    assert found.mapping.simd_loops > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_the_vector_unit(kernel, mapped):
    found = mapped(*KERNELS[kernel], simd=False)
    assert found.mapping.simd_loops == 0
    assert all(found.simd(each) == [] for each in found.nests)
    assert found.mapping.parallel_loops > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_tiles(kernel, mapped):
    found = mapped(*KERNELS[kernel], tile=False)
    assert found.mapping.tile_sizes == ()
    assert max(map(len, found.nests.values())) <= 3


def test_strips_of_threads_are_told(mapped):
    """Tiles along rows are no wider than their sizes say, but for these."""
    down = "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) y[i] += x[j] * z[j * n + i];"
    declared = "int n, double *restrict x, double *restrict y, double *restrict z"
    found = mapped(down, declared).mapping
    assert any(each.startswith("threads may have strips in place of tiles of") for each in found.remarks)
    given = mapped(down, declared, tile_sizes=(8, 64)).mapping
    assert not any("strips" in each for each in given.remarks)


def test_given_tile_sizes(mapped):
    assert mapped(PRODUCT, MATRICES, tile_sizes=(8, 16, 4)).mapping.tile_sizes == ((8, 16, 4),)
    assert mapped(JACOBI, MATRICES, tile_sizes=(8, 4)).mapping.tile_sizes == ((8, 4, 4),)


@pytest.mark.parametrize("fusion", ["min", "max", "depth"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_fusion_is_legal_and_complete(kernel, fusion, mapped):
    found = mapped(*KERNELS[kernel], fusion=fusion)
    assert set(found.nests) == set(mapped(*KERNELS[kernel]).nests)


def test_marks_are_announced_and_announcements_marked(mapped):
    mapping = mapped(JACOBI, MATRICES).mapping
    marks = set(map(mark_of, descendants(mapping.schedule.get_root())))
    run_by = {MarkKind.PARALLEL, MarkKind.SIMD}
    assert set(mapping.directives) == {mark for mark in marks if mark is not None and mark.kind in run_by}


SWEEP = """
  for (int t = 0; t < n; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = A[i][j - 1] + A[i - 1][j] + A[i][j] + A[i + 1][j] + A[i][j + 1];"""
PATHS = """
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];"""


def test_a_recurrence_runs_along_diagonals(mapped):
    node = mapped(SWEEP, MATRICES).mapping.schedule.get_root()
    while node.child(0).has_children():
        node = node.child(0)
    assert node.band_n_member() == 1
    assert node.band_member_get_coincident(0)


def test_a_loop_that_waits_for_a_few_points_only_stays_along_rows(mapped):
    assert mapped(PATHS, MATRICES).nests["A"][-1].counter == "j"


def test_a_recurrence_along_rows_is_not_tiled(mapped):
    body = "for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) A[i][j] = a[i] * A[i][j - 1] + B[i][j];"
    found = mapped(body, f"{MATRICES}, double *restrict a")
    assert found.mapping.tile_sizes == ()
    assert found.parallel("A") == [0]


NEAREST = """
  for (int i = 0; i < n; i++) {
    t = 9;
    for (int j = 0; j < n; j++) if (OPERAND < t) t = OPERAND;
    b[i] = t;
  }"""
NEAREST_PARAMETERS = f"{MATRICES}, double *restrict a, double *restrict b"


@pytest.mark.parametrize(
    ("operand", "lanes"), [("A[i][j]", True), ("C[j][i]", True), ("exp(a[j])", False), ("(i + a[j])", True)]
)
def test_a_loop_with_a_search_inside_runs_in_lanes(model, operand, lanes):
    before = "double t; double exp(double x);"
    found = model(NEAREST.replace("OPERAND", operand), NEAREST_PARAMETERS, before=before)
    mapping = choose_mapping(found.scop, found.dependences, context_of())
    assert any(each.lanes is not None for each in mapping.directives.values()) is lanes


def test_as_many_vectors_run_together_as_a_tile_has():
    assert copies_in_row(4, 8, isl.Val(48)) == 3
    assert copies_in_row(4, 8, isl.Val(64)) == 4
    assert copies_in_row(4, 8, isl.Val(40)) == 4
    assert copies_in_row(4, 8, isl.Val(56)) == 3
    assert copies_in_row(4, 8, isl.Val(5)) == 4  # no vector at all


@pytest.mark.parametrize(("bound", "lanes"), [("n", True), ("i", False)])
def test_lanes_go_through_loops_together(model, bound, lanes):
    found = model(
        NEAREST.replace("j < n", f"j < {bound}").replace("OPERAND", "C[j][i]"),
        NEAREST_PARAMETERS,
        before="double t;",
    )
    mapping = choose_mapping(found.scop, found.dependences, context_of())
    assert any(each.lanes is not None for each in mapping.directives.values()) is lanes


@pytest.mark.parametrize(
    ("change", "singles", "remark"),
    [
        ("x = x * x - a[i]", 0, "iterations of the loop around go through this one together, in lanes"),
        ("x = x * x - a[i]; b[i] = exp(x)", 1, "in lanes"),
        ("x = exp(x)", None, "calls 'exp', which lanes cannot do"),
        ("x = (float)x * x", None, "does something that lanes cannot do"),
    ],
)
def test_lanes_leave_loops_one_by_one(model, change, singles, remark):
    inside, _, after = change.partition(";")
    body = f"""for (int i = 0; i < n; i++) {{ x = a[i]; k = 0;
      while (x < 4) {{ {inside}; k++; }} {after or "b[i] = k"}; }}"""
    found = model(body, VECTORS, before="double x; int k; double exp(double x);")
    mapping = choose_mapping(found.scop, found.dependences, context_of())
    lanes = [each.lanes for each in mapping.directives.values() if each.lanes is not None]
    assert [len(each.singles) for each in lanes if each.diverges] == ([] if singles is None else [singles])
    assert [each for each in mapping.remarks if remark in each] != []


LAYER = """for (int {0} = 0; {0} < n; {0}++) for (int {1} = 0; {1} < n; {1}++) for (int x = 0; x < n; x++)
  for (int c = 0; c < n; c++) q[o][y][x] += w[o][c] * p[c][y][x];"""


@pytest.mark.parametrize("loops", [("o", "y"), ("y", "o")])
def test_rows_of_a_register_tile_share_their_vectors(model, loops):
    """Rows along ``o`` use the same elements of ``p``, rows along ``y`` all have their own."""
    arrays = "int n, double q[restrict n][n][n], double w[restrict n][n], double p[restrict n][n][n]"
    found = model(LAYER.format(*loops), arrays)
    (tile,) = choose_mapping(found.scop, found.dependences, context_of()).registers
    assert "[(o)]" in str(tile.block[0].value)


def test_a_loop_around_a_window_that_compilers_take_to_lanes_is_marked_for_them(mapped):
    """They would look whether pointers overlap else, and leave it."""
    window = "for (int k = -4; k <= 4; k++) s += a[k + 4] * b[i * n + j + k];"
    rows = "for (int i = 0; i < n; i++) for (int j = 4; j < n - 4; j++)"
    found = mapped(f"{rows} {{ s = 0; {window} c[i * n + j] = s; }}", VECTORS, before="double s;")
    *_, around, inside = found.nests["s"]
    assert (around.counter, inside.counter) == ("j", "k")
    assert "simd" in around.directive


def test_threads_share_a_loop_of_several_tiles(mapped):
    """Three rows of results are one tile."""
    update = "for (int k = 0; k < n; k++) a[(l * n + i) * n + j] += b[l * n + k] * c[(k * n + i) * n + j];"
    rows = "for (int l = 0; l < 3; l++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    found = mapped(f"{rows} {update}", VECTORS, schedule="isl")
    (first,) = found.parallel("a")
    assert found.nests["a"][first].counter.startswith("tile_")
    assert not found.nests["a"][first].counter.endswith("_l")


def test_threads_share_tiles_of_two_loops_that_both_may_be_run_in_any_order(mapped):
    """Of one loop there may be a few for each thread, and one more for some of them."""
    rows = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[i][j] + C[0][j];"
    found = mapped(rows, MATRICES, tile_sizes=(16, 64), schedule="isl")
    assert [each.shared for each in found.mapping.directives.values() if each.parallel] == [2]
    first, second, *_ = found.nests["B"]
    assert "collapse(2)" in first.directive
    assert (first.counter, second.counter) == ("tile_i", "tile_j")
