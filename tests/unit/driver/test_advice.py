"""Advice is true: who follows it gets what it says."""

from __future__ import annotations

from polybuild.driver.file import compile_source
from polybuild.options import Options
from polybuild.targets.cpu import reduction_parallelisation

SHIFT = """\
void shift(int n, double *c, const double *a, const double *b) {
#pragma scop
  for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
#pragma endscop
}
"""
SUM = """\
double sum(int n, const double *x) {
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++) s += x[i];
#pragma endscop
  return s;
}
"""
LAST = """\
int last(int n, int *x) {
  int t = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    t = x[i] * 2;
    x[i] = t * t;
    t = x[i] + 1;
    x[i] = t * t;
  }
#pragma endscop
  return t;
}
"""
CHOSEN = """\
void chosen(int n, double *restrict a, double *restrict b) {
  double t;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (a[i] > 0)
      t = a[i] * 2;
    a[i] = b[i];
    if (b[i] > 0)
      b[i] = t;
  }
#pragma endscop
}
"""
STEPS = """\
void steps(int n, int m, double a[n][m], double b[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = 2 * b[i][j];
#pragma endscop
}
"""
WAVES = """\
void waves(int n, int m, int steps, int x, int y, const int *restrict at, double u[restrict 2][n][m],
           double *restrict norm) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        u[(t + 1) % 2][i][j] = 0.25 * (u[t % 2][i - 1][j] + u[t % 2][i + 1][j] + u[t % 2][i][j - 1]);
    BESIDE
  }
#pragma endscop
}
"""
ENERGY = """\
for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) norm[0] += u[t % 2][i][j] * u[t % 2][i][j];"""
OWN_ENERGY = f"double sum = 0; {ENERGY.replace('norm[0]', 'sum')} norm[t] = sum;"


def report(folder, text, **options):
    path = folder / "in.c"
    path.write_text(text)
    (region,) = compile_source(str(path), Options(**options), ["gcc"], ["-O2"]).regions
    return region


def advised(region, kind):
    return [(each.line, each.message) for each in region.advice if each.kind == kind]


def test_restrict_takes_checks_away(tmp_path):
    before = report(tmp_path, SHIFT)
    assert advised(before, "restrict") == [
        (1, "if 'c' never overlaps 'a' and 'b', declare it '*restrict c': these 2 checks go")
    ]
    after = report(tmp_path, SHIFT.replace("*c", "*restrict c"))
    assert len(after.assumptions) == len(before.assumptions) - 2
    assert advised(after, "restrict") == []


def test_restrict_of_parameters_that_are_arrays(tmp_path):
    ((_, message),) = advised(report(tmp_path, STEPS), "restrict")
    assert "declare it 'a[restrict ...]': this check goes" in message
    after = report(tmp_path, STEPS.replace("a[n][m],", "a[restrict n][m],"))
    assert not any("overlap" in each for each in after.assumptions)


def test_reassociation_makes_the_loop_parallel(tmp_path):
    before = report(tmp_path, SUM)
    ((line, message),) = advised(before, "reassociation")
    assert (line, before.parallel_loops) == (4, 0)
    assert "--allow-reassociation on" in message
    assert report(tmp_path, SUM, allow_reassociation=True).parallel_loops == 1


def test_orders_that_all_have_threads_are_not_compared_for_advice(tmp_path, monkeypatch):
    chosen = []
    choose = reduction_parallelisation.choose_mapping

    def counted(*arguments, **named):
        chosen.append(arguments)
        return choose(*arguments, **named)

    monkeypatch.setattr(reduction_parallelisation, "choose_mapping", counted)
    assert [line for line, _ in advised(report(tmp_path, SUM), "reassociation")] == [4]
    assert len(chosen) == 1  # with the sum in order


def test_values_that_are_used_later_keep_loops_in_order(tmp_path):
    before = report(tmp_path, LAST)
    ((line, message),) = advised(before, "live-after")
    assert (line, before.parallel_loops) == (5, 0)
    assert message.startswith("'t' is used after the region")
    after = report(tmp_path, LAST.replace("    t = x", "    int t = x"))
    assert (after.parallel_loops, advised(after, "live-after")) == (1, [])


def test_values_that_are_set_under_a_condition_keep_loops_in_order(tmp_path):
    before = report(tmp_path, CHOSEN)
    ((line, message),) = advised(before, "conditional")
    assert (line, before.parallel_loops) == (6, 0)
    assert message.startswith("'t' is set under a condition")
    after = report(tmp_path, CHOSEN.replace("    if (a", "    t = 0;\n    if (a"))
    assert (after.parallel_loops, advised(after, "conditional")) == (1, [])


def test_values_of_earlier_iterations_have_no_advice(tmp_path):
    body = CHOSEN.replace("t = a[i] * 2", "t = t + a[i]")
    assert advised(report(tmp_path, body), "conditional") == []


def test_the_least_size_is_the_one_that_the_condition_has(tmp_path):
    ((_, message),) = advised(report(tmp_path, STEPS), "min-work")
    assert message == "below n = m = 100 the original loops run: less work is not worth threads"
    ((_, message),) = advised(report(tmp_path, STEPS, min_work=30000), "min-work")
    assert message == "below n = m = 174 the original loops run (--min-work 30000)"
    assert advised(report(tmp_path, STEPS, min_work=0), "min-work") == []
    assert advised(report(tmp_path, SUM), "min-work") == []  # nothing would be gained


def test_pointers_within_a_region_s_arrays_are_not_advised_on(tmp_path):
    text = SHIFT.replace("#pragma scop", "double *p = c;\n#pragma scop").replace("c[i] =", "p[i] =")
    region = report(tmp_path, text)
    assert all("'p'" not in message for _, message in advised(region, "restrict"))


def test_sums_in_each_step_leave_no_tiles_over_time(tmp_path):
    before = report(tmp_path, WAVES.replace("BESIDE", ENERGY))
    ((line, message),) = advised(before, "time-tiles")
    assert (line, before.tile_sizes) == (8, ())
    assert message.startswith("'norm' is summed up over all points of each step")
    after = report(tmp_path, WAVES.replace("BESIDE", OWN_ENERGY))
    assert after.tile_sizes
    assert advised(after, "time-tiles") == []
    assert report(tmp_path, WAVES.replace("BESIDE", f"if (t % 8 == 0) {{ {ENERGY} }}")).tile_sizes


def test_places_that_data_tell_leave_no_tiles_over_time(tmp_path):
    before = report(tmp_path, WAVES.replace("BESIDE", "u[(t + 1) % 2][at[t]][at[t + 1]] += norm[t];"))
    ((line, message),) = advised(before, "time-tiles")
    assert (line, before.tile_sizes) == (8, ())
    assert message.startswith("which elements of 'u' are accessed here depends on data")
    after = report(tmp_path, WAVES.replace("BESIDE", "u[(t + 1) % 2][x][y] += norm[t];"))
    assert after.tile_sizes
    assert advised(after, "time-tiles") == []


IN_PLACE = """\
void relax(int n, int m, int steps, double u[restrict n][m], double *restrict norm) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    double sum = 0;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) {
        double d = u[i - 1][j] + u[i][j - 1] + u[i + 1][j] + u[i][j + 1] - 4 * u[i][j];
        u[i][j] += 0.2 * d;
        BESIDE
      }
    norm[t] = sum;
  }
#pragma endscop
}
"""


def test_sums_beside_points_that_are_relaxed_leave_no_tiles_over_time(tmp_path):
    before = report(tmp_path, IN_PLACE.replace("BESIDE", "norm[0] += d * d;"))
    ((line, message),) = advised(before, "time-tiles")
    assert (line, before.tile_sizes) == (9, ())
    assert message.startswith("'norm' is summed up over all points of each step")
    after = report(tmp_path, IN_PLACE.replace("BESIDE", "sum += d * d;"))
    assert after.tile_sizes
    assert advised(after, "time-tiles") == []


def test_variables_that_are_set_from_the_grid_leave_no_tiles_over_time(tmp_path):
    text = WAVES.replace("steps; t++) {", "steps; t++) { double first = 0; first += FIRST;")
    text = text.replace("0.25 *", "first + 0.25 *").replace("BESIDE", "")
    before = report(tmp_path, text.replace("FIRST", "u[t % 2][1][1]"))
    ((line, message),) = advised(before, "time-tiles")
    assert (line, before.tile_sizes) == (4, ())
    assert message.startswith("'first' is set from the grid in each step, for all of its points")
    assert report(tmp_path, text.replace("FIRST", "norm[t]")).tile_sizes


def test_steps_that_have_no_tiles_in_any_case_are_not_advised_on(tmp_path):
    far = WAVES.replace("u[t % 2][i - 1][j]", "u[t % 2][1][1]").replace("BESIDE", ENERGY)
    assert advised(report(tmp_path, far), "time-tiles") == []


BOTH_WAYS = """\
void relax(int n, int steps, double u[restrict n][n]) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = 0.25 * (u[i - 1][j] + u[i][j - 1] + u[i + 1][j] + u[i][j + 1]);
    BACK
  }
#pragma endscop
}
"""
BACK = """for (int i = n - 2; i > 0; i--)
      for (int j = n - 2; j > 0; j--)
        u[i][j] = 0.25 * (u[i - 1][j] + u[i][j - 1] + u[i + 1][j] + u[i][j + 1]);"""


def test_sweeps_in_both_directions_leave_no_tiles_over_time(tmp_path):
    before = report(tmp_path, BOTH_WAYS.replace("BACK", BACK))
    ((line, message),) = advised(before, "time-tiles")
    assert line == 9
    assert message.startswith("this sweep over 'u' runs against that of line 6")
    assert advised(report(tmp_path, BOTH_WAYS.replace("BACK", "")), "time-tiles") == []


def test_sums_along_lines_leave_no_tiles_over_time(tmp_path):
    text = """\
void steps(int n, int steps, double u[restrict n], double v[restrict n], double *restrict norm) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) v[i] = 0.3 * (u[i - 1] + u[i] + u[i + 1]);
    for (int i = 1; i < n - 1; i++) u[i] = v[i];
    for (int i = 1; i < n - 1; i++) *norm += u[i] * u[i];
  }
#pragma endscop
}
"""
    ((line, message),) = advised(report(tmp_path, text), "time-tiles")
    assert line == 6
    assert message.startswith("'norm' is summed up over all points of each step")


RELAXED = """\
double sor(int h, int w, int steps, double a[restrict h][w], double e[restrict h][w],
           double f[restrict h][w], double u[restrict h][w], double *restrict history, double rjac) {
  double norm = 0, omega = 1;
#pragma scop
  for (int n = 1; n <= steps; n++) {
    norm = 0;
    for (int pass = 1, isw = 1; pass <= 2; pass++, isw = 3 - isw) {
      for (int j = 1, lsw = isw; j < h - 1; j++, lsw = 3 - lsw)
        for (int l = lsw; l < w - 1; l += 2) {
          double r = a[j][l] * (u[j + 1][l] + u[j - 1][l]) - e[j][l] * u[j][l] - f[j][l];
          norm += r * r;
          u[j][l] += omega * r / e[j][l];
        }
      omega = n == 1 && pass == 1 ? 1 / (1 - .5 * rjac * rjac) : 1 / (1 - .25 * rjac * rjac * omega);
    }
    history[n] = norm;
  }
#pragma endscop
  return norm;
}
"""


def test_norms_of_two_colours_that_are_all_kept_leave_no_tiles_over_time(tmp_path):
    ((line, message),) = advised(report(tmp_path, RELAXED), "time-tiles")
    assert line == 11
    assert message.startswith("'norm' is summed up over all points of each step")
