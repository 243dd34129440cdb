"""Pointers that overlap: the original loops run, and where the memory is disjoint the new ones do."""

from __future__ import annotations

import pytest
from pool_programs import Call, compare

NEW, OLD, EITHER = False, True, None  # what each call runs

# A from 1000 to 1099, B from 3 to 66 behind its place
REUSED: list[tuple[tuple[int, int, int], bool | None]] = [
    ((1000, 5000, 9000), NEW),
    ((1000, 1000, 9000), OLD),
    ((1000, 1096, 9000), OLD),
    ((1000, 1097, 9000), NEW),
    ((1000, 934, 9000), OLD),
    ((1000, 933, 9000), NEW),
]

# A from 1000 to 1099, B up to 99 behind its place
LISTED: list[tuple[tuple[int, int, int], bool | None]] = [
    ((1000, 5000, 9000), NEW),
    ((1000, 1000, 9000), OLD),
    ((1000, 1099, 9000), EITHER),
    ((1000, 1100, 9000), NEW),
    ((1000, 901, 9000), OLD),
    ((1000, 900, 9000), NEW),
]

# A from 1000 to 1099, B from its place to 50 behind
CLAMPED: list[tuple[tuple[int, int, int], bool | None]] = [
    ((1000, 5000, 9000), NEW),
    ((1000, 1000, 9000), OLD),
    ((1000, 1099, 9000), OLD),
    ((1000, 1100, 9000), NEW),
    ((1000, 950, 9000), OLD),
    ((1000, 949, 9000), NEW),
]

# A from 1000 to 1099, B from 3 to 127 behind its place
ROWS: list[tuple[tuple[int, int, int], bool | None]] = [
    ((1000, 5000, 9000), NEW),
    ((1000, 1000, 9000), OLD),
    ((1000, 1096, 9000), OLD),
    ((1000, 1097, 9000), NEW),
    ((1000, 873, 9000), OLD),
    ((1000, 872, 9000), NEW),
]


def _left(loop: str, element: str = "k", before: str = "") -> str:
    """Rows that are left at the first number that is large enough."""
    return f"""int u[101];
        for (int j = 0; j < 101; j++) u[j] = 3 + j * 5 / 4;
        {before}
        #pragma scop
        for (int i = 0; i < n; i++) {{
          A[i] = 0;
          for ({loop}) if (B[{element}] > 60) {{ A[i] = 2 * B[{element}]; break; }}
        }}
        #pragma endscop"""


# name: (body, numbers, [(places of A, B and C, what the call runs)])
CASES: dict[str, tuple[str, tuple[int, ...], list[tuple[tuple[int, int, int], bool | None]]]] = {
    "shift": (
        "for (int i = 0; i < n; i++) A[i] = B[i] + 1;",
        (100,),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            ((1001, 1000, 9000), OLD),
            ((1000, 1001, 9000), OLD),
            ((1000, 1099, 9000), OLD),
            ((1000, 1100, 9000), NEW),
            ((1100, 1000, 9000), NEW),
            ((1099, 1000, 9000), OLD),
        ],
    ),
    "offsets": (
        "for (int i = -m; i < n; i++) A[i + o] = B[i - o] + C[2 * i];",
        (50, 20, 0, 7),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            # A from 987 to 1056, B from 27 before to 42 behind its place
            ((1000, 1083, 9000), OLD),
            ((1000, 1084, 9000), NEW),
            ((1000, 944, 9000), NEW),
            ((1000, 945, 9000), OLD),
            ((1000, 5000, 1000), OLD),
            ((1000, 5000, 1097), NEW),
        ],
    ),
    "matrices": (
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < p; k++)
             C[i*m+j] += A[i*p+k] * B[k*m+j];""",
        (10, 11, 12),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), NEW),  # both are only read
            ((1000, 1050, 9000), NEW),
            ((1000, 5000, 1000), OLD),
            ((1000, 5000, 5000), OLD),
            ((1000, 5000, 1119), OLD),
            ((1000, 5000, 1120), NEW),
            ((1000, 5000, 890), NEW),
            ((1000, 5000, 891), OLD),
        ],
    ),
    "places_of_guarded_blocks": (
        """for (int i = 0; i < n; i++) {
             int at = (int) C[i] % 50;
             if (at >= 0 && at < m) {
               const double *p = B + 2 * at;
               A[i] = p[0] + p[1];
             } else
               A[i] = 0;
           }""",
        (100, 50),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            ((1000, 1098, 9000), EITHER),
            ((1000, 1100, 9000), NEW),
            ((1000, 5000, 1000), OLD),
        ],
    ),
    "places_of_guarded_blocks_set_later": (
        """for (int i = 0; i < n; i++) {
             int at = (int) C[i] % 50;
             if (at >= 0 && at < m) {
               const double *p;
               int next;
               next = 1;
               p = B + 2 * at;
               A[i] = p[0] + p[next];
             } else
               A[i] = 0;
           }""",
        (100, 50),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            ((1000, 1100, 9000), NEW),
            ((1000, 5000, 1000), OLD),
        ],
    ),
    "window": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[(i+o)*p+q+j] = 2 * B[i*p+j];",
        (10, 11, 30, 2, 3),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            # A from 1063 to 1343
            ((1000, 1343, 9000), OLD),
            ((1000, 1344, 9000), NEW),
            ((1000, 782, 9000), NEW),
            ((1000, 783, 9000), OLD),
        ],
    ),
    "two_names": (
        "double *p2 = A; for (int i = 1; i < n; i++) A[i] = p2[i - 1] + B[i];",
        (100,),
        [((1000, 5000, 9000), NEW), ((1000, 1000, 9000), OLD)],
    ),
    "gather": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = 3 + k * 37 % 64;
        #pragma scop
        for (int i = 0; i < n; i++) A[i] = B[w[i]] + 1;
        #pragma endscop""",
        (100,),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            # A from 1000 to 1099, B from 3 to 66 behind its place
            ((1000, 1096, 9000), OLD),
            ((1000, 1097, 9000), NEW),
            ((1000, 934, 9000), OLD),
            ((1000, 933, 9000), NEW),
        ],
    ),
    "gather_by_a_variable_set_again": (
        """int u[100], w[100];
        for (int k = 0; k < 100; k++) u[k] = 3 + k * 37 % 64, w[k] = 5 + k * 11 % 60;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = u[i];
          A[i] = B[c];
          c = w[i];
          A[i] += 2 * B[c];
        }
        #pragma endscop""",
        (100, 3),
        REUSED,
    ),
    "rows_that_are_left": (_left("int k = u[i]; k < u[i + 1]; k++"), (100,), ROWS),
    "rows_that_are_left_by_a_counter_of_the_function": (
        _left("k = u[i]; k <= u[i + 1] - 1; ++k", before="int k;"),
        (100,),
        [(places, EITHER) for places, _ in ROWS],  # the rows are taken for such that are not left
    ),
    "rows_that_are_left_at_their_last_element": (
        _left("int k = u[i]; k <= u[i + 1] - 1; ++k"),
        (100,),
        ROWS,
    ),
    "rows_that_are_left_downwards": (_left("int k = u[i + 1] - 1; k >= u[i]; k--"), (100,), ROWS),
    "rows_that_are_left_from_behind": (_left("int k = u[i + 1]; k > u[i]; k--", "k - 1"), (100,), ROWS),
    "rows_that_are_left_by_a_long_counter": (
        _left("long long k = u[i] + 1; k < u[i + 1] + 1LL; k++", "k - 1"),
        (100,),
        ROWS,
    ),
    "rows_that_are_left_inside_a_condition": (
        """int u[101];
        for (int j = 0; j < 101; j++) u[j] = 3 + j * 5 / 4;
        #pragma scop
        for (int i = 0; i < n; i++)
          if (i % 2 == 0)
            for (int k = u[i]; k < u[i + 2]; k++) { if (B[k] < 60) continue; A[i] = B[k]; break; }
        #pragma endscop""",
        (99,),
        [((1000, 5000, 9000), NEW), ((1000, 1000, 9000), OLD), ((1000, 873, 9000), OLD)],
    ),
    "gather_in_a_switch": (
        """int u[100];
        for (int k = 0; k < 100; k++) u[k] = 3 + k * 37 % 64;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = u[i];
          switch (i % 3) {
            case 0: A[i] = B[c]; break;
            case 1: A[i] = 0; for (int k = 0; k < 3; k++) A[i] += B[c] * k; break;
            default: A[i] = B[c] / 2;
          }
        }
        #pragma endscop""",
        (100,),
        REUSED,
    ),
    "gather_by_a_variable_of_the_function": (
        """int u[100], w[100];
        for (int k = 0; k < 100; k++) u[k] = 3 + k * 37 % 64, w[k] = 5 + k * 11 % 60;
        #pragma scop
        int c;
        for (int i = 0; i < n; i++) {
          c = u[i];
          double t = B[c];
          c = w[i];
          t += B[c] * 2;
          A[i] = t;
        }
        #pragma endscop""",
        (100, 3),
        REUSED,
    ),
    "gather_by_a_variable_set_in_steps": (
        """int u[100], w[100];
        for (int k = 0; k < 100; k++) u[k] = 3 + k * 37 % 64, w[k] = 5 + k * 11 % 60;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = u[i], d = c;
          A[i] = B[d];
          c = w[i] + 1;
          d = c - 1;
          A[i] += 2 * B[d];
        }
        #pragma endscop""",
        (100, 3),
        REUSED,
    ),
    "gather_by_a_variable_set_in_loops": (
        """int u[100], w[100];
        for (int k = 0; k < 100; k++) u[k] = 3 + k * 37 % 64, w[k] = 5 + k * 11 % 60;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = u[i];
          A[i] = 0;
          for (int k = 0; k < m; k++) A[i] += B[c];
          c = w[i];
          for (int k = 0; k < m; k++) A[i] += B[c] * k;
        }
        #pragma endscop""",
        (100, 3),
        REUSED,
    ),
    "gather_by_a_variable_set_under_a_condition": (
        """int u[100], w[100];
        for (int k = 0; k < 100; k++) u[k] = 3 + k * 37 % 64, w[k] = 5 + k * 11 % 60;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = u[i];
          A[i] = 2 * B[c];
          if (i % 2) {
            c = w[i];
            A[i] += B[c];
          }
        }
        #pragma endscop""",
        (100, 3),
        REUSED,
    ),
    "gather_by_a_variable_that_moves": (
        """int u[100], w[100];
        for (int k = 0; k < 100; k++) u[k] = 3 + k * 37 % 64, w[k] = 5 + k * 11 % 60;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = u[i];
          A[i] = B[c];
          c = w[i];
          A[i] *= B[c];
          c = w[i] < u[i] ? u[i] : w[i];
          A[i] -= B[c];
        }
        #pragma endscop""",
        (100, 3),
        REUSED,
    ),
    "neighbours_in_lists": (
        """int nb[700], num[100];
        for (int k = 0; k < 700; k++) nb[k] = 3 + k * 37 % 64;
        for (int k = 0; k < 100; k++) num[k] = k * 5 % 8;
        #pragma scop
        for (int i = 0; i < n; i++) {
          double f = 0;
          int many = num[i];
          for (int k = 0; k < many; k++) {
            int j = nb[i * m + k];
            double d = B[i] - B[j];
            if (d < 30) f += d;
          }
          A[i] += f;
        }
        #pragma endscop""",
        (100, 7),
        LISTED,
    ),
    "neighbours_in_lists_by_a_pointer": (
        """int nb[700], num[100];
        for (int k = 0; k < 700; k++) nb[k] = 3 + k * 37 % 64;
        for (int k = 0; k < 100; k++) num[k] = k * 5 % 8;
        #pragma scop
        const int *list;
        for (int i = 0; i < n; i++) {
          list = &nb[i * m];
          const int many = num[i];
          for (int k = 0; k < many; k++) A[i] += B[list[k]] - B[i];
        }
        #pragma endscop""",
        (100, 7),
        LISTED,
    ),
    "neighbours_in_lists_from_their_start": (
        """int nb[700], num[100];
        for (int k = 0; k < 700; k++) nb[k] = 3 + k * 37 % 64;
        for (int k = 0; k < 100; k++) num[k] = k * 5 % 8;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int first = i * m, last = first + num[i];
          double f = 0;
          for (int k = first; k < last; k++) f += B[nb[k]];
          A[i] = f + B[i];
        }
        #pragma endscop""",
        (100, 7),
        LISTED,
    ),
    "neighbours_in_lists_counted_down": (
        """int nb[700], num[100];
        for (int k = 0; k < 700; k++) nb[k] = 3 + k * 37 % 64;
        for (int k = 0; k < 100; k++) num[k] = k * 5 % 8;
        #pragma scop
        for (int i = 0; i < n; i++) {
          double f = B[i];
          int k = num[i];
          while (k > 0) {
            k--;
            f -= B[nb[m * i + k]];
          }
          A[i] = f;
        }
        #pragma endscop""",
        (100, 7),
        LISTED,
    ),
    "neighbours_in_lists_with_steps_of_their_own": (
        """int nb[700], num[100];
        for (int k = 0; k < 700; k++) nb[k] = 3 + k * 37 % 64;
        for (int k = 0; k < 100; k++) num[k] = k * 5 % 8;
        #pragma scop
        int many, k, j;
        for (int i = 0; i < n; i++) {
          many = num[i] - 1;
          A[i] = 0;
          for (k = 0; k <= many; ++k) {
            j = nb[k + i * m];
            A[i] += B[i] * B[j];
            j = nb[i * m + k] - 1;
            A[i] -= B[j];
          }
        }
        #pragma endscop""",
        (100, 7),
        LISTED,
    ),
    "neighbours_in_half_lists": (
        """int nb[700], num[100];
        for (int k = 0; k < 700; k++) nb[k] = 3 + k * 37 % 64;
        for (int k = 0; k < 100; k++) num[k] = k * 5 % 8;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int many = num[i] / 2;
          int most = many < 3 ? many : 3;
          double f = B[i];
          for (int k = 0; k < most; k++) f += B[nb[i * m + k]];
          A[i] = f;
        }
        #pragma endscop""",
        (100, 7),
        LISTED,
    ),
    "gather_clamped": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = k * 37 % 128 - 30;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = w[i];
          if (c < 0) c = 0;
          if (c > m) c = m;
          A[i] = B[c];
        }
        #pragma endscop""",
        (100, 50),
        CLAMPED,
    ),
    "gather_clamped_otherwise": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = k * 37 % 128 - 30;
        #pragma scop
        int c;
        for (int i = 0; i < n; i++) {
          c = w[i] + 2;
          if (c < 0)
            c = 0;
          else if (c > m - 1)
            c = m - 1;
          A[i] = B[c] + c * B[c + 1];
        }
        #pragma endscop""",
        (100, 50),
        CLAMPED,
    ),
    "gather_clamped_by_choices": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = k * 37 % 128 - 30;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = w[i];
          c = c < 0 ? 0 : c;
          c = c > m ? m : c;
          A[i] = B[c] - 1;
        }
        #pragma endscop""",
        (100, 50),
        CLAMPED,
    ),
    "gather_clamped_in_blocks": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = k * 37 % 128 - 30;
        #pragma scop
        int c;
        for (int i = 0; i < n; i++) {
          if (w[i] < 0) { c = 0; }
          else if (w[i] > m) { c = m; }
          else { c = w[i]; }
          A[i] = B[c] / 2;
        }
        #pragma endscop""",
        (100, 50),
        CLAMPED,
    ),
    "gather_clamped_twice": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = k * 37 % 128 - 30;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = w[i], d = w[i] + 1;
          if (c < 0) c = 0;
          if (d < 0) d = 0;
          if (c > m) c = m;
          if (d > m) d = m;
          A[i] = B[c] * 3 - B[d];
        }
        #pragma endscop""",
        (100, 50),
        CLAMPED,
    ),
    "gather_clamped_with_others": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = k * 37 % 128 - 30;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = w[i];
          double f = 0.5;
          if (c < 0) c = 0;
          if (i % 3) f = 0.25;
          if (c > m) c = m;
          A[i] = f * B[c];
        }
        #pragma endscop""",
        (100, 50),
        CLAMPED,
    ),
    "gather_by_variables": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = 3 + k * 37 % 64;
        #pragma scop
        for (int i = 0; i < n; i++) {
          int c = w[i];
          int d = c - 2;
          A[i] = B[d + 2] + B[c] + 1;
        }
        #pragma endscop""",
        (100,),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            ((1000, 1096, 9000), OLD),
            ((1000, 1097, 9000), NEW),
            ((1000, 934, 9000), OLD),
            ((1000, 933, 9000), NEW),
        ],
    ),
    "scatter": (
        """int w[100];
        for (int k = 0; k < 100; k++) w[k] = 3 + k * 37 % 64;
        #pragma scop
        for (int i = 0; i < n; i++) A[w[i]] += B[i];
        #pragma endscop""",
        (100,),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1066, 9000), OLD),
            ((1000, 1067, 9000), NEW),
            ((1000, 904, 9000), OLD),
            ((1000, 903, 9000), NEW),
        ],
    ),
    "places_beside_values": (
        "for (int i = 0; i < n; i++) A[i] = B[(int)C[i]] + 1;",
        (100,),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 5000, 1000), OLD),
            ((1000, 5000, 1099), OLD),
            ((1000, 5000, 1100), NEW),
            ((1000, 1000, 9000), OLD),
            ((1000, 9000, 9000), NEW),
        ],
    ),
    "rows": (
        """int w[100], r[11];
        for (int k = 0; k < 100; k++) w[k] = 3 + k * 37 % 64;
        for (int k = 0; k < 11; k++) r[k] = 10 + 5 * k;
        #pragma scop
        for (int i = 0; i < n; i++) for (int j = r[i]; j < r[i + 1]; j++) A[i] += C[j] * B[w[j]];
        #pragma endscop""",
        (10,),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            # A from 1000 to 1009, C from 10 to 59 behind its place
            ((1000, 5000, 940), NEW),
            ((1000, 5000, 941), OLD),
            ((1000, 5000, 999), OLD),
            ((1000, 5000, 1000), NEW),
        ],
    ),
    "rows_of_negative_length": (
        """int r[11];
        for (int k = 0; k < 11; k++) r[k] = 40 - 3 * k;
        #pragma scop
        for (int i = 0; i < n; i++) for (int j = r[i]; j < r[i + 1]; j++) A[i] += C[j] * B[i + 10];
        #pragma endscop""",
        (10,),
        [((1000, 5000, 9000), NEW), ((1000, 5000, 1000), NEW)],
    ),
    "rows_behind_pointers": (
        """double *v[10], *w[10];
        for (int k = 0; k < n; k++) v[k] = A + k * m, w[k] = B + (n - 1 - k) * m;
        #pragma scop
        for (int i = 0; i < n; i++) for (int j = 0; j < p; j++) v[i][j] = w[i][j] + C[j];
        #pragma endscop""",
        (10, 30, 20),
        [
            ((1000, 5000, 9000), NEW),
            ((1000, 1000, 9000), OLD),
            # rows of 20 elements, 30 apart: one lies between two others if it fits there
            ((1000, 1019, 9000), OLD),
            ((1000, 1020, 9000), OLD),
            ((1000, 1310, 9000), NEW),
            ((1000, 1289, 9000), OLD),
            ((1000, 1290, 9000), NEW),
            ((1000, 5000, 1289), OLD),
            ((1000, 5000, 1290), NEW),
        ],
    ),
    "rows_between_rows": (
        """double *v[10], *w[10];
        for (int k = 0; k < n; k++) v[k] = A + k * m, w[k] = B + (n - 1 - k) * m;
        #pragma scop
        for (int i = 0; i < n; i++) for (int j = 0; j < p; j++) v[i][j] = w[i][j] + C[j];
        #pragma endscop""",
        (10, 40, 20),
        [
            ((1000, 1019, 9000), OLD),
            ((1000, 1020, 9000), NEW),
            ((1000, 1021, 9000), OLD),
            ((1020, 1000, 9000), NEW),
            ((1000, 5000, 1020), NEW),
            ((1000, 5000, 1021), OLD),
        ],
    ),
    "rows_one_in_another": (
        """double *v[10];
        for (int k = 0; k < n; k++) v[k] = A + k * m;
        #pragma scop
        for (int i = 0; i < n; i++) for (int j = o; j < o + p; j++) v[i][j] += B[j] + C[i];
        #pragma endscop""",
        (10, 20, 20, 5),
        [((1000, 5000, 9000), NEW)],
    ),
    "rows_one_in_another_by_one": (
        """double *v[10];
        for (int k = 0; k < n; k++) v[k] = A + k * m;
        #pragma scop
        for (int i = 0; i < n; i++) for (int j = o; j < o + p; j++) v[i][j] += B[j] + C[i];
        #pragma endscop""",
        (10, 19, 20, 5),
        [((1000, 5000, 9000), OLD)],
    ),
    "rows_chosen_by_data": (
        """double *v[10]; int w[10];
        for (int k = 0; k < 10; k++) v[k] = A + (k * 7 % 10) * m, w[k] = 9 - k;
        #pragma scop
        for (int i = 0; i < n; i++) for (int j = 0; j < p; j++) v[w[i]][j] += B[j];
        #pragma endscop""",
        (10, 20, 20),
        [((1000, 5000, 9000), NEW), ((1000, 1199, 9000), OLD), ((1000, 1200, 9000), NEW)],
    ),
    "table_in_the_rows": (
        """double **v = (double **)C;
        for (int k = 0; k < n; k++) v[k] = A + k * m;
        #pragma scop
        for (int i = n - 1; i >= 0; i--) for (int j = 0; j < p; j++) v[i][j] = B[j] + i;
        #pragma endscop
        for (int k = 0; k < n; k++) C[k] = 0;""",
        (10, 20, 20),
        [((1000, 5000, 9000), NEW), ((1000, 5000, 1200), NEW)],
    ),
    "nothing_touched": (
        "for (int i = 0; i < n; i++) A[i] = B[i] + 1;",
        (0,),
        [((1000, 1000, 9000), EITHER)],
    ),
}


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    functions = {
        name: body if "#pragma scop" in body else f"#pragma scop\n{body}\n#pragma endscop"
        for name, (body, _, _) in CASES.items()
    }
    calls = {
        name: [Call(numbers, places) for places, _ in told] for name, (_, numbers, told) in CASES.items()
    }
    return compare(tmp_path_factory.mktemp("aliasing"), functions, calls, restrict=False)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_original_ones(comparison, name):
    assert comparison.regions[name].status == "transformed", comparison.regions[name]
    calls = comparison.calls[name]
    assert [each.transformed for each in calls] == [each.original for each in calls]


@pytest.mark.parametrize("name", CASES)
def test_the_check_is_exact(comparison, name):
    for (places, old), outcome in zip(CASES[name][2], comparison.calls[name], strict=True):
        assert outcome.fell_back == old or old is EITHER, places


def test_the_report_names_the_check_and_its_line(comparison):
    region = comparison.regions["shift"]
    (check,) = (each for each in region.assumptions if "overlap" in each)
    assert check.endswith(f"(line {region.line + 1}: 'A' and 'B' must not overlap)")
    assert "&A[n - 1]" in check
