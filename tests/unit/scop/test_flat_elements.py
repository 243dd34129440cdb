"""Elements of views whose subscripts leave a row: the same address in each piece, or not."""

from __future__ import annotations

import islpy as isl
import pytest

from polybuild.scop.flat_elements import in_one_piece

PARAMETERS = "int n, int m, int r, const double *restrict a, double *restrict b, double c[restrict n][m]"
WINDOW = (
    "for (int i = r; i < n; i++) for (int j = 0; j < m; j++) for (int d = -r; d <= r; d++)"
    " b[i * m + j] += {};"
)

# what is read: in how many pieces it is once rows may be left
READ = {
    "a[i * m + j]": 1,
    "a[i * m + j + d]": 1,
    "a[(i + d) * m + j + d]": 1,
    "a[i * m + (j == 0 ? m - 1 : j - 1)]": 2,
    "c[i][j == 0 ? m - 1 : j - 1]": 2,
}


@pytest.mark.parametrize("read", READ)
def test_pieces_that_are_one_address_are_one(model, read):
    scop = model(WINDOW.format(read), PARAMETERS).scop
    name = read[0]
    accesses = [
        each for statement in scop.statements for each in statement.accesses if each.array.name == name
    ]
    assert accesses
    for access in accesses:
        element = isl.PwMultiAff.from_map(access.relation)
        found = in_one_piece(element, access.array)
        assert found.n_piece() == READ[read]
        assert found.domain().is_equal(element.domain())


def test_rows_are_left_in_pieces(model):
    scop = model(WINDOW.format("a[i * m + j + d]"), PARAMETERS).scop
    (access,) = [each for each in scop.statements[0].accesses if each.array.name == "a"]
    assert isl.PwMultiAff.from_map(access.relation).n_piece() > 1
