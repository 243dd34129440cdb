"""What isl's loops run is compared with what they should run."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.codegen.c.ast_checks import check_instance_coverage
from polybuild.diagnostics import Location
from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.schedule.legality import IllegalSchedule
from polybuild.scop.model import Scop, Statement

PLACE = Location("x.c", 1)


def scop_with(domain):
    statement = Statement("S0", isl.Set(domain), (), None, (), PLACE, 1)
    context = statement.domain.params().drop_constraints_involving_dims(isl.dim_type.param, 0, 1)
    return Scop(context, (), (), (statement,), None, (), (), PLACE)


def ast_of(executed, schedule):
    relation = isl.UnionMap(schedule).intersect_domain(isl.UnionSet(executed))
    return isl.AstBuild.from_context(isl.Set("[n] -> { : }")).node_from_schedule_map(relation)


TILED = "[n] -> { S0[i, j] -> [floor(i/4), floor(j/3), i, j] }"
STRIDED = "[n] -> { S0[i, j] : 0 <= i < n and i mod 3 = n mod 5 and i <= j <= 7 }"


@pytest.mark.parametrize(
    ("domain", "executed", "message"),
    [
        ("[n] -> { S0[i, j] : 0 <= i < n and 0 <= j <= i }",) * 2 + (None,),
        (STRIDED, STRIDED, None),
        ("[n] -> { S0[i, j] : 0 <= i < n and 0 <= j <= i }", STRIDED, "leave out"),
        (STRIDED, "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j <= 9 }", "add"),
    ],
)
def test_instances_of_the_loops(domain, executed, message):
    ast = ast_of(executed, TILED)
    if message is None:
        check_instance_coverage(ast, scop_with(domain))
    else:
        with pytest.raises(IllegalSchedule, match=message):
            check_instance_coverage(ast, scop_with(domain))


def test_a_repeated_instance():
    with pytest.raises(IllegalSchedule, match="repeat"):
        check_instance_coverage(
            ast_of(
                "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < 3 }",
                "[n] -> { S0[i, j] -> [i, j, k] : 0 <= k < 2 }",
            ),
            scop_with("[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < 3 }"),
        )


# isl leaves out j = 2 at n = 13 when it generates loops for the tiled schedule of this region
LOST = """\
void f(int n, unsigned char *A) {
  unsigned char B[9];
#pragma scop
  for (int i = 0; i < (n + 5) / 3; i++)
    for (int j = n % 7 - 1; j >= 0; j -= 3) B[j + 1]--;
  for (int i = 1; i <= n / 3 - 1; i += 3) A[3 * i - 1] = A[i - 1] + B[i - 1];
#pragma endscop
  A[0] = B[3];
}
"""


def test_loops_that_isl_gets_wrong_are_not_used(tmp_path):
    file = tmp_path / "lost.c"
    file.write_text(LOST)
    options = Options(min_work=0, fusion="depth", tile_sizes=(5, 4, 3, 2))
    result = compile_source(str(file), options, ["gcc"], [])
    assert result.regions[0].status == "transformed"
    assert "if (pb_n % 7 + 1 >= 5 *" not in result.text
