"""What buffers look like that stand for temporary arrays in strips of tiles."""

from __future__ import annotations

import islpy as isl
from contexts import context_of

from polybuild.schedule.legality import check_schedule
from polybuild.targets.cpu.choice import choose_mapping

PARAMETERS = "int n, double A[restrict n][n], double B[restrict n][n], double C[restrict n][n]"
# what a row needs of itself and of the row before lies in one strip only if strips are skewed
SKEWED = """
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[i][j] + 1;
  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) C[i][j] = B[i - 1][j] + B[i][j - 1];"""


def buffer_of(found, **options):
    temporaries = [each for each in found.scop.arrays if each.name == "B"]
    mapping = choose_mapping(found.scop, found.dependences, context_of(**options), temporaries)
    check_schedule(mapping.schedule, found.dependences, found.scop.domain)
    assert mapping.vector_loops()
    (buffer,) = mapping.buffers
    return buffer


def test_skewed_strips_keep_a_window_of_a_diagonal(model):
    buffer = buffer_of(model(SKEWED, PARAMETERS))
    assert buffer.mapping.rows == ((1, 0), (1, 1))
    remainders = [buffer.layout.get_aff(each).dim(isl.dim_type.div) for each in range(len(buffer.extents))]
    assert remainders[0] > 0  # the row before is the other one of two
    assert remainders[1] == 0  # along the loop for the vector unit there is nothing to divide


def test_strips_are_as_long_as_half_of_the_first_cache_allows(model):
    found = model(SKEWED, PARAMETERS)
    lengths = [buffer_of(found, l1_size=each * 2**14).extents for each in (1, 2, 4, 16)]
    assert lengths == [(2, 512), (2, 1024), (2, 2048), (2, 2048)]
