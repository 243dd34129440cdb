"""Flat subscripts: transformed where the view of the array holds, the original where it does not."""

from __future__ import annotations

import itertools

import pytest
from pool_programs import Call, compare

SMALL = [Call(each) for each in itertools.product((0, 1, 7, 20), repeat=3)]
NEW, OLD = False, True  # what each call runs

# name: (body, [(numbers of the call, what it runs)]); the calls of SMALL are made besides
CASES: dict[str, tuple[str, list[tuple[tuple[int, ...], bool]]]] = {
    "gemm": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)"
            " C[i*m+j] += A[i*p+k] * B[k*m+j];"
        ),
        [((9, 14, 20), NEW), ((40, 3, 70), NEW)],
    ),
    "gemm_with_strides": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)"
            " C[i*o+j] += A[i*q+k] * B[k*o+j];"
        ),
        [
            ((9, 14, 20, 14, 20), NEW),
            ((9, 14, 20, 30, 33), NEW),
            ((9, 14, 20, 13, 20), OLD),
            ((9, 14, 20, 14, 7), OLD),
        ],
    ),
    "subarray": (
        (
            "for (int i = 0; i < m; i++) for (int j = 0; j < p; j++)"
            " A[n*(i+o)+q + j] = A[n*(i+o)+q + j - n] + 1;"
        ),
        # p = 9, m = 8 of Figure 50, with the offsets of its two cases
        [((9, 3, 6, 1, 3), NEW), ((9, 3, 6, 5, 6), NEW), ((9, 3, 6, 5, -1), NEW), ((5, 3, 6, 5, 6), OLD)],
    ),
    "cube": (
        (
            "for (int i = 1; i < n-1; i++) for (int j = 1; j < n-1; j++) for (int k = 1; k < n-1; k++)"
            " A[(i*n+j)*n+k] = B[i*n*n+j*n+k-1] + B[i*n*n+(j-1)*n+k] + B[(i+1)*n*n+j*n+k];"
        ),
        [((13,), NEW)],
    ),
    "border": (
        (
            "for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++) for (int k = 1; k <= p; k++)"
            " A[4*i+2*j+k+2*i*m+2*i*p+j*p+i*m*p] = B[(i*(m+2)+j)*(p+2)+k] + B[((i-1)*(m+2)+j+1)*(p+2)+k-1];"
        ),
        [((9, 8, 7), NEW)],
    ),
    "padded": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            " A[i*m+j] = B[(i+o)*(m+2*o)+j+o] + B[i*(m+2*o)+j+2*o];"
        ),
        [((9, 8, 0, 2), NEW), ((9, 8, 0, 0), NEW), ((9, 30, 0, -1), OLD)],
    ),
    "multiples": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < 3*m; j++) for (int k = 0; k < 2*p; k++)"
            " A[(i*3*m+j)*2*p+k] = i + j - k;"
        ),
        [((4, 5, 6), NEW)],
    ),
    "halves": (
        (
            "for (int i = 0; i < n/2; i++) for (int j = 0; j < m/2; j++) for (int c = 0; c < 3; c++)"
            " A[(i*(m/2)+j)*3+c] = B[(2*i*m+2*j)*3+c] + B[((2*i+1)*m+2*j+1)*3+c];"
        ),
        [((9, 8), NEW), ((10, 11), NEW)],
    ),
    "sizes_in_subscripts": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)"
            " A[(i*m+j)*p+k] = A[(i*m+j)*p+p-1-k] + A[(i*m+m-1)*p+k];"
            " for (int k = 0; k < p; k++) A[p-1-k] += A[m*p-p+k];"
        ),
        [((4, 5, 6), NEW)],
    ),
    "diagonal": (
        (
            "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++)"
            " A[i*n+j] -= A[j*n+i] / (A[j*(n+1)] + 2000); A[i*(n+1)] += A[i*n+n-1]; }"
        ),
        [((20,), NEW)],
    ),
    "constant_rows": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < 7; j++) { double s = 0;"
            " for (int k = 0; k < 5; k++) s += A[(i+o)*5+k] * B[j*5+k]; C[i*m+j] = s; }"
        ),
        [((9, 7, 0, 1), NEW), ((9, 8, 0, 0), NEW), ((9, 6, 0, 0), OLD)],
    ),
    "constant_box": (
        (
            "for (int i = 1; i < n; i++) for (int j = 1; j < 7; j++) for (int k = 0; k < 3; k++)"
            " A[(i*8+j)*3+k] = A[i*24+j*3+k-3] + A[((i-1)*8+7-j)*3+2-k];"
        ),
        [((9,), NEW)],
    ),
    "next_row": (
        "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) A[i*m+j] = A[i*m+j-1] + A[(i-1)*m+j];",
        [((9, 8), NEW)],
    ),
    "windows_over_ends_of_rows": (
        (
            "for (int i = p; i < n - p; i++) for (int j = 0; j < m; j++) for (int k = -p; k <= p; k++)"
            " A[i*m+j] += B[(i+k)*m+j+k] * 2 - B[i*m+j+k];"
        ),
        [((19, 13, 2), NEW), ((23, 14, 5), NEW), ((20, 5, 4), NEW)],
    ),
    "stride": (
        "for (int i = 0; i < n; i++) A[i*m] += B[i*p] * 2;",
        [((30, 1, 1), NEW), ((30, 4, 7), NEW), ((30, 0, 1), OLD), ((30, -2, 1), OLD)],
    ),
    "row": (
        "for (int j = 0; j < n; j++) A[o*n+j] = A[(o-1)*n+j] + B[q*n+n-1-j];",
        [((30, 0, 0, 3, 2), NEW)],
    ),
    "a_stride_for_each_direction": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i*o+j*q] = A[i*o+j*q] * 2 + B[i*i+j];",
        [
            ((30, 20, 0, 20, 1), NEW),
            ((30, 20, 0, 44, 2), NEW),
            ((30, 20, 0, 45, 2), OLD),
            ((30, 20, 0, 1, 30), OLD),
            ((30, 20, 0, 0, 0), OLD),
        ],
    ),
    "no_view": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i*i+j] = A[i*i+j] * 2 + B[i*o+j*q];",
        [((30, 20, 0, 20, 1), NEW), ((30, 20, 0, 1, 30), NEW), ((30, 20, 0, 0, 0), NEW)],
    ),
    "faces": (
        (
            "for (int k = 0; k < p; k++) for (int j = 0; j < m; j++) {"
            " int at = n + j * o + k * q; A[at] = 2 * A[at + 1] - B[at]; }"
        ),
        [
            ((9, 8, 7, 11, 110), NEW),
            ((10, 8, 7, 11, 110), NEW),
            ((9, 8, 7, 11, 111), OLD),
            ((9, 8, 7, 1, 110), OLD),
        ],
    ),
    "faces_by_pointers": (
        (
            "for (int k = 0; k < p; k++) { double *a = A + k * q + 2; const double *b = B + k * q;"
            " for (int j = -1; j < m; j++) a[j * o] += b[j * o + 3]; }"
        ),
        [((0, 8, 7, 11, 99), NEW), ((0, 8, 7, 11, 88), OLD), ((0, 8, 7, 3, 99), OLD)],
    ),
    "faces_across_planes": (
        "for (int k = 0; k < p; k++) for (int i = 0; i < n; i++) A[i*o + k*q] = A[i*o + k*q + 1] + B[i + k];",
        [((9, 0, 7, 2, 18), NEW), ((9, 0, 7, 2, 16), OLD), ((9, 0, 7, 1, 18), OLD)],
    ),
    "from_one": (
        (
            "for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++) for (int k = 1; k <= p; k++)"
            " C[i*o+j] += A[i*q+k] * B[k*o+j];"
        ),
        [((9, 14, 20, 14, 20), NEW), ((9, 14, 20, 13, 20), OLD), ((9, 14, 20, 14, 19), OLD)],
    ),
    "from_one_and_any": (
        (
            "for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++)"
            " A[i*o+j] += A[i*o+j-o] + A[o + (int)(B[j] / 8)];"
        ),
        [((9, 8, 0, 8), NEW), ((9, 8, 0, 7), OLD)],
    ),
    "all_elements_in_one_loop": (
        (
            "for (int k = 0; k < n * m; k++) { int i = k / m, j = k % m; double s = 0;"
            " for (int l = 0; l < p; l++) s += A[i*p+l] * B[l*m+j]; C[k] = s; }"
        ),
        [((9, 14, 20), NEW), ((9, 1, 3), NEW), ((-3, -4, 5), OLD), ((3, -4, 5), OLD)],
    ),
    "all_elements_of_three_dimensions": (
        (
            "int k, i, j; for (k = 0; k < n * m * p; ++k) { i = k / (p * m); j = k / p % m;"
            " if (j == 2) continue; C[k % p + (i * m + j) * p] = A[j * n + i] + B[k - k / p * p]; }"
        ),
        [((4, 5, 6), NEW), ((4, -5, -6), OLD)],
    ),
    "all_elements_by_columns": (
        "for (int k = 0; k < n * m; k++) C[k / n * o + k % n] += A[k % n * m + k / n];",
        [((9, 14, 0, 9), NEW), ((9, 14, 0, 8), OLD)],
    ),
    "rows_from_products": (
        (
            "for (int i = 0; i < n; i++) { int first = i * m; double s = 0;"
            " for (int k = first; k < (i + 1) * m; k++) s += A[k] * B[k - first]; C[i] = s; }"
        ),
        [((9, 14), NEW), ((9, -14), NEW)],
    ),
    "rows_from_products_downwards": (
        (
            "int i, k; for (i = 0; i < n; i++) {"
            " for (k = i * m + m - 1; k >= i * m; k -= 1) A[k] += B[k]; C[i] = k; }"
        ),
        [((9, 14), NEW)],
    ),
    # o is the length of a row, q that of a plane, which may be padded by whole rows
    "planes": (
        (
            "for (int k = 0; k < p; k++) for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) {"
            " int ijk = i + j * o + k * q;"
            " A[ijk] += (B[ijk+1] + B[ijk-1] + B[ijk+o] + B[ijk-o] + B[ijk+q] + B[ijk-q]) * 2; }"
        ),
        [
            ((9, 8, 7, 11, 110), NEW),
            ((9, 8, 7, 16, 240), NEW),
            ((9, 8, 7, 11, 111), OLD),
            ((9, 8, 7, 10, 100), OLD),
            ((9, 8, 7, 11, 99), OLD),
            ((9, 8, 7, 110, 11), OLD),
            ((9, 8, 7, -11, -110), OLD),
            ((9, 8, 7, 0, 110), OLD),
        ],
    ),
    "planes_by_row_pointers": (
        (
            "for (int k = 1; k < p - 1; k++) for (int j = 1; j < m - 1; j++) {"
            " double *a = A + k * q + j * o; const double *b = B + k * q + j * o;"
            " for (int i = 1; i < n - 1; i++) a[i] += b[i-1] + b[i+1] + b[i-o] + b[i+o] + b[i-q] + b[i+q]; }"
        ),
        [((9, 8, 7, 9, 72), NEW), ((9, 8, 7, 9, 73), OLD), ((9, 8, 7, 8, 72), OLD)],
    ),
    "planes_in_wide_integers": (
        (
            "const size_t row = o, plane = q; for (size_t k = 0; k < (size_t)p; k++)"
            " for (size_t j = 0; j < (size_t)m; j++) for (size_t i = 0; i < (size_t)n; i++)"
            " A[k*plane + j*row + i] = B[k*plane + j*row + i] * 3 + A[k*plane + j*row + i];"
        ),
        [((9, 8, 7, 11, 110), NEW), ((9, 8, 7, 11, 115), OLD)],
    ),
    "planes_by_a_macro": (
        (
            "\n#define AT(x, i, j, k) x[(k) * q + (j) * o + (i)]\n"
            "for (int k = 0; k < p; k++) for (int j = 0; j < m; j++) for (int i = 0; i < n; i++)"
            " AT(A, i, j, k) = AT(B, i, j, k) - AT(C, i + 1, j, k) + AT(C, i, j, k + 1);\n#undef AT\n"
        ),
        [((9, 8, 7, 11, 110), NEW), ((9, 8, 7, 11, 112), OLD)],
    ),
    "planes_inside_out": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)"
            " A[i + j * o + k * q] += B[i + j * o + k * q] * i;"
        ),
        [((9, 8, 7, 11, 110), NEW), ((9, 8, 7, 11, 111), OLD)],
    ),
    "planes_between_given_borders": (
        (
            "int kh = m + p, jh = n + m, ih = n + 3; for (int k = m; k < kh; k++)"
            " for (int j = n; j < jh; j++) for (int i = -3; i < ih; i++) {"
            " int at = i + j * o + k * q; A[at] = B[at] * 2 + B[at - 1] + B[at - q + o]; }"
        ),
        [((9, 8, 7, 20, 200), NEW), ((9, 8, 7, 16, 160), NEW), ((9, 8, 7, 15, 150), OLD)],
    ),
    "volumes": (
        (
            "for (int c = 0; c < 3; c++) for (int k = 0; k < p; k++) for (int j = 0; j < 4; j++)"
            " for (int i = 0; i < n; i++) A[i + j * m + k * o + c * q] += B[i + j * m + k * o] * c;"
        ),
        [((9, 10, 7, 50, 400), NEW), ((9, 10, 7, 50, 410), OLD), ((9, 8, 7, 40, 400), OLD)],
    ),
    "inside_of_a_grid": (
        (
            "A += 2 * o + 2; B += 2 * o + 2; for (int j = 0; j < m; j++) for (int i = 0; i < n; i++)"
            " A[j*o+i] = B[j*o+i-2] + B[j*o+i+2] + B[(j-2)*o+i] + B[(j+2)*o+i];"
        ),
        [((9, 8, 0, 13), NEW), ((9, 8, 0, 12), OLD)],
    ),
    "from_any_column": (
        "for (int j = p; j < m; j++) for (int i = q; i < n; i++) A[j*o+i] += B[j*o+i-1];",
        [((9, 8, 2, 11, -3), OLD), ((9, 8, 2, 14, -3), NEW), ((9, 8, 2, 5, 5), NEW), ((9, 8, 2, 3, 5), OLD)],
    ),
    "conditional": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (B[i*m+j] > 50) A[i*p+j] = B[i*m+j];",
        [((9, 8, 8), NEW), ((9, 8, 7), OLD)],
    ),
}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    functions = {name: f"#pragma scop\n{body}\n#pragma endscop" for name, (body, _) in CASES.items()}
    calls = {name: [*map(Call, [each for each, _ in told]), *SMALL] for name, (_, told) in CASES.items()}
    return compare(tmp_path_factory.mktemp("flat"), functions, calls)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_original_ones(comparison, name):
    assert comparison.regions[name].status == "transformed", comparison.regions[name]
    assert [each.transformed for each in comparison.calls[name]] == [
        each.original for each in comparison.calls[name]
    ]


@pytest.mark.parametrize("name", CASES)
def test_the_conditions_choose_the_right_loops(comparison, name):
    told = [expected for _, expected in CASES[name][1]]
    assert [each.fell_back for each in comparison.calls[name][: len(told)]] == told


UNSIGNED = {
    "wraps_on_the_way": (
        "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < m; j++) A[(i-1)*m+j+m] = B[i*m+j] + 1;",
        [((9, 8), NEW), ((0, 8), NEW)],
    ),
    "wraps": (
        # with p = 2^30, all rows are one row
        "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < m; j++) A[4*i*p+j] += A[4*i*p+j+1] + i;",
        [((9, 8, 1 << 30), OLD), ((1, 8, 1 << 30), NEW), ((9, 8, 10), NEW)],
    ),
}


def test_unsigned_subscripts(tmp_path):
    functions = {name: f"#pragma scop\n{body}\n#pragma endscop" for name, (body, _) in UNSIGNED.items()}
    calls = {name: [Call(numbers) for numbers, _ in told] for name, (_, told) in UNSIGNED.items()}
    comparison = compare(tmp_path, functions, calls, number="unsigned")
    for name, (_, told) in UNSIGNED.items():
        assert comparison.regions[name].status == "transformed", comparison.regions[name]
        outcomes = comparison.calls[name]
        assert [each.transformed for each in outcomes] == [each.original for each in outcomes]
        assert [each.fell_back for each in outcomes] == [old for _, old in told]


# what they touch must be known, as the pointers may lead to the same memory
STRIDES: dict[str, tuple[str, list[tuple[tuple[int, ...], bool]]]] = {
    "strides_of_windows": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            " for (int k = 0; k < p; k++) for (int l = 0; l < p; l++)"
            " C[i*m+j] += A[(i*q+k)*o + j*q+l] * B[k*p+l];"
        ),
        [
            ((9, 11, 3, 20, 1), NEW),
            ((9, 8, 3, 20, 2), OLD),
            ((9, 8, 3, 20, 0), OLD),
            ((9, 8, 3, 20, -1), OLD),
        ],
    ),
    "strides_of_windows_in_variables": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { double s = 0;"
            " for (int k = 0; k < p; k++) { int y = i * q + k; for (int l = 0; l < p; l++) {"
            " int x = q * j + l; s += A[y*o + x] * B[k*p+l]; } } C[i*m+j] = s; }"
        ),
        [((9, 11, 3, 20, 1), NEW), ((9, 8, 3, 20, 2), OLD)],
    ),
    "strides_of_windows_by_rows": (
        (
            "for (int i = 0; i < n; i++) for (int k = 0; k < p; k++) { const double *a = A + (i * q + k) * o;"
            " for (int j = 0; j < m; j++) for (int l = 0; l < p; l++) C[i*m+j] += a[j*q+l] * B[k*p+l]; }"
        ),
        [((9, 11, 3, 20, 1), NEW), ((9, 8, 3, 20, 2), OLD)],
    ),
    "strides_of_windows_with_borders": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            " for (int k = 0; k < p; k++) for (int l = 0; l < p; l++) {"
            " int y = i * q + k - 1, x = j * q + l - 1;"
            " if (y >= 0 && y < n && x >= 0 && x < m) C[i*m+j] += A[y*m + x] * B[k*p+l]; }"
        ),
        [((9, 11, 3, 0, 1), NEW), ((9, 8, 3, 0, 2), OLD)],
    ),
    "strides_of_windows_through_borders": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            " for (int k = 0; k < p; k++) { if (i * q + k < 1 || i * q + k > n) continue;"
            " for (int l = 0; l < p; l++) { int x = j * q + l - 1; if (x < 0 || x >= m) continue;"
            " C[i*m+j] += A[(i * q + k - 1)*m + x] * B[k*p+l]; } }"
        ),
        [((9, 11, 3, 0, 1), NEW), ((9, 8, 3, 0, 2), OLD)],
    ),
    "strides_of_rows_and_columns": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
            " for (int k = 0; k < p; k++) for (int l = 0; l < p; l++)"
            " C[i*m+j] += A[(i*q+k)*(m+p) + j*o+l] * B[k*p+l];"
        ),
        [((9, 11, 3, 1, 1), NEW), ((9, 8, 3, 1, 2), OLD), ((9, 4, 3, 2, 1), OLD)],
    ),
    "strides_of_rows_and_columns_with_borders": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { double s = 0;"
            " for (int k = 0; k < p; k++) for (int l = 0; l < p; l++) {"
            " int y = i * q - 1 + k, x = j * o - 1 + l;"
            " if (y >= 0 && y < n && x >= 0 && x < m) s += A[y*m + x] * B[k*p+l]; } C[i*m+j] = s; }"
        ),
        [((9, 11, 3, 1, 1), NEW), ((9, 8, 3, 1, 2), OLD), ((9, 8, 3, 2, 1), OLD)],
    ),
    "strides_of_windows_in_planes": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int c = 0; c < 3; c++)"
            " for (int k = 0; k < p; k++) for (int l = 0; l < p; l++)"
            " C[i*m+j] += A[(c*o + i*q + k)*(m+p) + j*q + l] * B[(c*p+k)*p+l];"
        ),
        [((5, 6, 3, 8, 1), NEW), ((5, 6, 3, 20, 2), OLD)],
    ),
    "dilated_windows": (
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { double s = 0;"
            " for (int k = 0; k < p; k++) { int y = i + k * q - 1; if (y < 0 || y >= n) continue;"
            " for (int l = 0; l < p; l++) { int x = j + l * o - 1; if (x < 0 || x >= m) continue;"
            " s += A[y*m + x] * B[k*p+l]; } } C[i*m+j] = s; }"
        ),
        [((9, 11, 3, 1, 1), NEW), ((9, 8, 3, 1, 2), OLD), ((9, 8, 3, 2, 1), OLD)],
    ),
}


@pytest.fixture(scope="module")
def strided(tmp_path_factory):
    functions = {name: f"#pragma scop\n{body}\n#pragma endscop" for name, (body, _) in STRIDES.items()}
    calls = {name: [*map(Call, [each for each, _ in told]), *SMALL] for name, (_, told) in STRIDES.items()}
    return compare(tmp_path_factory.mktemp("strides"), functions, calls, restrict=False)


@pytest.mark.parametrize("name", STRIDES)
def test_strides_of_windows_are_one_in_the_new_loops(strided, name):
    assert strided.regions[name].status == "transformed", strided.regions[name]
    assert [each.transformed for each in strided.calls[name]] == [
        each.original for each in strided.calls[name]
    ]
    told = [expected for _, expected in STRIDES[name][1]]
    assert [each.fell_back for each in strided.calls[name][: len(told)]] == told


def test_the_report_gives_each_condition_with_its_line_and_reason(comparison):
    region = comparison.regions["subarray"]
    assert region.assumptions[0].startswith("n >= p (line ")
    assert (
        f"(line {region.line + 1}: subscript 2 of 'A', taken as an array of 2 dimensions"
        in region.assumptions[0]
    )
