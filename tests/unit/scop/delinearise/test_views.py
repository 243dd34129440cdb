"""Flat subscripts and the views they become: the examples of Grosser's thesis, chapter 13, and relatives."""

from __future__ import annotations

import islpy as isl
import pytest
from plain_regions import scop_in

_dim = isl.dim_type

CUBE = "for (int i = 0; i < s0; i++) for (int j = 0; j < s1; j++) for (int k = 0; k < s2; k++)"
SQUARE = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
GEMM = """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)
    C[i*m+j] += A[i*p+k] * B[k*m+j];"""
STRUCTS = """typedef unsigned long size_t;
struct array { size_t size0; size_t size1; float *base; };"""
STRUCT_GEMM = """for (int i = 0; i < C->size0; i++) for (int j = 0; j < C->size1; j++)
  for (int k = 0; k < A->size0; ++k)
    *(C->base + i * C->size1 + j) += *(A->base + i * A->size1 + k) * *(B->base + k * B->size1 + j);"""
LISTING_20 = """for (int i = 0; i < p; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++)
    A[(i*n+j)*m+k] = 1;
  A[(1*n+1)*m+1] = 0; A[m-1] = 0; A[(n-1)*m] = 0; A[(n-1)*m+m-1] = 0;"""
BORDER = """for (int i = 1; i <= q; i++) for (int j = 1; j <= r; j++) for (int k = 1; k <= s; k++)
    A[4*i+2*j+k+2*i*r+2*i*s+j*s+i*r*s] = B[((i-1)*(r+2)+j+1)*(s+2)+k-1];"""

# what: (region, parameters, declarations before, sizes by array, subscripts of all accesses, conditions)
CASES = {
    "listing 18": (
        GEMM,
        "int n, int m, int p, float *A, float *B, float *C",
        "",
        {"A": "p", "B": "m", "C": "m"},
        ["C[i,j]", "A[i,k]", "B[k,j]", "C[i,j]"],
        "",
    ),
    "listing 19": (
        STRUCT_GEMM,
        "struct array *A, struct array *B, struct array *C",
        STRUCTS,
        {"A_base": "A_size1", "B_base": "B_size1", "C_base": "C_size1"},
        ["C_base[i,j]", "A_base[i,k]", "B_base[k,j]", "C_base[i,j]"],
        "A_size0 <= A_size1 and C_size1 <= B_size1",
    ),
    "listing 20": (
        LISTING_20,
        "int p, int n, int m, float *A",
        "",
        {"A": "n,m"},
        ["A[i,j,k]", "A[1,1,1]", "A[0,0,m-1]", "A[0,n-1,0]", "A[0,n-1,m-1]"],
        "n >= 2 and m >= 2",
    ),
    "subarray": (
        f"{CUBE} A[p*(m*o0+o1)+o2 + m*p*i + p*j + k] = 1;",
        "int m, int p, int o0, int o1, int o2, int s0, int s1, int s2, float *A",
        "",
        {"A": "m,p"},
        ["A[i+o0,j+o1,k+o2]"],
        "s1 <= m and s2 <= p",
    ),
    "planes": (
        f"{CUBE} A[i*plane + j*row + k] = A[i*plane + j*row + k - row];",
        "int s0, int s1, int s2, int row, int plane, float *A",
        "",
        {"A": "plane_by_row,row"},
        ["A[i,j-1,k]", "A[i,j,k]"],
        "s1 < plane_by_row and s2 <= row",
    ),
    "planes, the elements in the outermost loop": (
        f"{CUBE} A[k*plane + j*row + i] = 1;",
        "int s0, int s1, int s2, int row, int plane, float *A",
        "",
        {"A": "plane_by_row,row"},
        ["A[k,j,i]"],
        "s1 <= plane_by_row and s0 <= row",
    ),
    "planes, the strides in a structure": (
        f"{CUBE} b->x[i*b->plane + j*b->row + k] = 1;",
        "int s0, int s1, int s2, struct box *b",
        "struct box { long row, plane; float *x; };",
        {"b_x": "b_plane_by_b_row,b_row"},
        ["b_x[i,j,k]"],
        "s1 <= b_plane_by_b_row and s2 <= b_row",
    ),
    "inside of a grid": (
        "for (int i = 0; i < n; i++) for (int j = from; j < m; j++) A[i*row + j] = A[i*row + j - 1] + 1;",
        "int n, int m, int from, int row, float *A",
        "",
        {"A": "row"},
        ["A[i,j-1]", "A[i,j]"],
        "m - from < row",
    ),
    "parameter plus constant": (
        BORDER,
        "int q, int r, int s, float *A, float *B",
        "",
        {"A": "r+2,s+2", "B": "r+2,s+2"},
        ["B[i-1,j+1,k-1]", "A[i,j,k]"],
        "",
    ),
    "parameter plus constant, two dimensions": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m + 3; j++) A[i*m + 3*i + j] = 1;",
        "int n, int m, float *A",
        "",
        {"A": "m+3"},
        ["A[i,j]"],
        "",
    ),
    "multiple of a parameter": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < 2*m; j++) A[2*m*i + j] = A[i*2*m + 2*m - 1 - j];",
        "int n, int m, float *A",
        "",
        {"A": "2m"},
        ["A[i,2m-1-j]", "A[i,j]"],
        "",
    ),
    "multiples in two dimensions": (
        """for (int i = 0; i < n; i++) for (int j = 0; j < 3*m; j++) for (int k = 0; k < 2*p; k++)
             A[6*i*m*p + 2*j*p + k] = 1;""",
        "int n, int m, int p, float *A",
        "",
        {"A": "3m,2p"},
        ["A[i,j,k]"],
        "",
    ),
    "one parameter twice": (
        f"{CUBE.replace('s0', 'n').replace('s1', 'n').replace('s2', 'n')} A[i*n*n + j*n + k] = A[n*n*n - 1];",
        "int n, float *A",
        "",
        {"A": "n,n"},
        ["A[n-1,n-1,n-1]", "A[i,j,k]"],
        "",
    ),
    "two parameters in one size": (
        f"{SQUARE} A[(i+1)*(m+2*b) + j + b] = 1;",
        "int n, int m, int b, float *A",
        "",
        {"A": "m+2b"},
        ["A[i+1,j+b]"],
        "b >= 0",
    ),
    "half a parameter": (
        "for (int i = 0; i < n/2; i++) for (int j = 0; j < m/2; j++) A[i*(m/2)+j] = 1;",
        "int n, int m, float *A",
        "",
        {"A": "floor(m/2)"},
        ["A[i,j]"],
        "",
    ),
    "a row that is a parameter": (
        "for (int j = 0; j < n; j++) A[k*n+j] = A[(k-1)*n+j];",
        "int n, int k, float *A",
        "",
        {"A": "n"},
        ["A[k-1,j]", "A[k,j]"],
        "",
    ),
    "diagonal": (
        f"{SQUARE.replace('m', 'n')} A[i*n+j] = A[i*(n+1)];",
        "int n, float *A",
        "",
        {"A": "n"},
        ["A[i,i]", "A[i,j]"],
        "",
    ),
    "structures": (
        f"{SQUARE} A[i*m+j].y[1] = A[i*m+j].x;",
        "int n, int m, struct point *A",
        "struct point { float x, y[2]; };",
        {"A_x": "m", "A_y": "m"},
        ["A_x[i,j]", "A_y[i,j,1]"],
        "",
    ),
    "rows": (
        f"{SQUARE} {{ float *row = A + i*m; row[j] = row[m-1-j]; }}",
        "int n, int m, float *A",
        "",
        {"A": "m"},
        ["A[i,m-1-j]", "A[i,j]"],
        "",
    ),
    "rows of a constant length": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < 16; j++) A[i*16+j] = B[(i+m)*16+15-j];",
        "int n, int m, float *A, float *B",
        "",
        {"A": "16", "B": "16"},
        ["B[i+m,15-j]", "A[i,j]"],
        "",
    ),
    "rows of a constant length in a global array": (
        "for (int i = 0; i < 9; i++) for (int j = 0; j < 16; j++) A[16*i+j] += A[35];",
        "int n",
        "float A[160];",
        {"A": "16"},
        ["A[i,j]", "A[2,3]", "A[i,j]"],
        "",
    ),
    "rows of a length that is a constant variable": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < row; j++) A[i*row+j] = 1;",
        "int n, float *A",
        "static const int row = 2 * 8;",
        {"A": "16"},
        ["A[i,j]"],
        "",
    ),
    "a box of constant sizes": (
        """for (int i = 0; i < n; i++) for (int j = 1; j < 7; j++) for (int k = 0; k < 3; k++)
             A[(i*8+j)*3+k] = A[i*24+j*3+k-3];""",
        "int n, float *A",
        "",
        {"A": "8,3"},
        ["A[i,j-1,k]", "A[i,j,k]"],
        "",
    ),
    "rows that no number divides": (
        """for (int i = 0; i < n; i++) for (int j = 0; j < 10; j++) for (int k = 0; k < 3; k++)
             A[i*32+j*3+k] = 1;""",
        "int n, float *A",
        "",
        {"A": "32"},
        ["A[i,3*j+k]"],
        "",
    ),
    "a size as written that needs a condition, as any other": (
        """for (int i = first; i <= last; i++) for (int j = left - 2; j <= right + 2; j++)
             A[(width+5)*(i-(first-2)) + j - (left-2)] = B[(width+4)*(i-(first-2)) + j - (left-2)];""",
        "int first, int last, int left, int right, int width, float *A, float *B",
        "",
        {"A": "width+5", "B": "width+4"},
        ["B[i-first+2,j-left+2]", "A[i-first+2,j-left+2]"],
        "right < width + left",
    ),
    "index in a variable": (
        f"{SQUARE} {{ int k = i*m + j; A[k] = A[k+1]; }}",
        "int n, int m, float *A",
        "",
        {"A": "m"},
        [["A[i,j+1] : j < m - 1", "A[i+1,0] : j = m - 1"], "A[i,j]"],
        "",
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_view(what):
    body, parameters, top, sizes, subscripts, condition = CASES[what]
    scop = scop_in(body, parameters, top=top)
    names = [parameter.name for parameter in scop.parameters]
    prefix = f"[{', '.join(names)}] -> "
    found = {array.name: array for array in scop.arrays if array.flat > 1}
    assert {name: array.flat - 1 for name, array in found.items()} == {
        name: text.count(",") + 1 for name, text in sizes.items()
    }
    for name, text in sizes.items():
        for extent, size in zip(found[name].extents[1:], text.split(","), strict=False):
            expected = isl.PwAff(f"{prefix}{{ [] -> [({size})] }}")
            assert extent.is_equal(expected.align_params(extent.get_space())), (name, size)
    accesses = [(statement, access) for statement in scop.statements for access in statement.accesses]
    for (statement, access), text in zip(accesses, subscripts, strict=True):
        pieces = [text] if isinstance(text, str) else text
        counters = ",".join(iterator.name for iterator in statement.iterators)
        instance = f"{statement.name}[{counters}]"
        expected = isl.Map(f"{prefix}{{ {'; '.join(f'{instance} -> {piece}' for piece in pieces)} }}")
        expected = expected.intersect_domain(statement.domain).intersect_params(scop.context)
        assert access.relation.intersect_params(scop.context).is_equal(expected), access.relation
    holds = isl.Set(f"{prefix}{{ : {condition or 'true'} }}")
    assumed = scop.context
    for assumption in scop.assumptions:
        assumed = assumed.intersect(assumption.condition)
    holds = holds.intersect(_types(scop))
    assert assumed.is_equal(holds.align_params(assumed.get_space())), assumed


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) for (int j = 0; j < 17; j++) A[i*16+j] = 1;",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i*16+j] = 1;",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 16; j++) A[i*16+j] = A[i*16+j-1];",
        "for (int i = 0; i < n; i++) { A[2*i] = 1; A[2*i+1] = 2; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) A[i*4+j] = A[B[i]];",
        (
            "for (int i = 0; i < n; i++) { float t[64]; for (int j = 0; j < 8; j++)"
            " for (int k = 0; k < 8; k++) t[j*8+k] = k; A[i] = t[n]; }"
        ),
    ],
    ids=["beyond a row", "any length", "before a row", "no rows", "any element", "variables of the region"],
)
def test_subscripts_that_are_not_in_rows_of_a_constant_length(body):
    scop = scop_in(body, "int n, int m, float *restrict A, int *restrict B")
    assert all(array.flat == 1 for array in scop.arrays)


def test_a_global_array_has_whole_rows():
    body = "for (int i = 0; i < 9; i++) for (int j = 0; j < 16; j++) { A[16*i+j] = 0; B[16*i+j] = 0; }"
    scop = scop_in(body, "int n", top="float A[160], B[161];")
    rows = {each.name: each.extents[0] for each in scop.arrays}
    assert rows["A"].is_equal(isl.PwAff("{ [] -> [(10)] }").align_params(rows["A"].get_space()))
    assert rows["B"] is None


def _types(scop):
    """What the types of the parameters say."""
    known = isl.Set.universe(scop.context.get_space())
    for position, parameter in enumerate(scop.parameters):
        if not parameter.type.signed:
            known = known.lower_bound_val(_dim.param, position, isl.Val(0))
    return known
