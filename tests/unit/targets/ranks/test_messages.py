"""Who reads what another rank wrote."""

from __future__ import annotations

from polybuild.driver.file import compile_source
from polybuild.options import Options

STEPS = """struct s { unsigned long b[35]; };
void f(int n, unsigned long a[restrict 32], struct s *s) {
#pragma scop
for (int i = 0; i <= 2; i += 2)
  for (int j = 3; j < n - 1; j = 5 + j) {
    for (int k = j; k >= 0; k = k - 5)
      if (k + i < j)
        s->b[n - i + 1] -= (k & a[k]) + a[k];
    s->b[j + 1] += 7u % (s->b[i + 4] | 1u);
  }
#pragma endscop
}
"""


def test_values_of_loops_in_steps_are_found(tmp_path):
    """Given the schedule as a tree, isl's dataflow analysis fails for these steps."""
    source = tmp_path / "one.c"
    source.write_text(STEPS)
    options = Options(distribute="mpi", schedule="original", min_work=0)
    (region,) = compile_source(str(source), options, ["gcc"], ["-O2"]).regions
    assert region.code != "internal", region.message


def test_kernels_are_made_of_what_ranks_run_between_messages(tmp_path):
    source = tmp_path / "one.c"
    source.write_text("""void f(int n, double a[restrict n], double b[restrict n]) {
#pragma scop
for (int i = 0; i < n; i++) a[i] = 2 * b[i];
#pragma endscop
#pragma scop
for (int i = 1; i < n; i++) a[i] += a[i - 1] * b[i];
for (int i = 0; i < n; i++) b[i] = a[i] + 1;
#pragma endscop
#pragma scop
for (int t = 0; t < n; t++) {
  for (int i = 1; i < n; i++) a[i] += a[i - 1] * b[i];
  for (int i = 0; i < n; i++) b[i] = a[i] + t;
}
#pragma endscop
#pragma scop
for (int i = 1; i < n; i++) a[i] += a[i - 1] * b[i];
for (int i = 0; i < 100; i++) b[0] = b[0] * 2 + a[n - 1];
#pragma endscop
}
""")
    options = Options(distribute="mpi", backend="opencl")
    shared, mixed, looped, whole = compile_source(str(source), options, ["gcc"], ["-O2"]).regions
    assert "the device of each rank runs its block" in " ".join(shared.remarks)
    assert shared.kernels == 1
    assert mixed.kernels == 1
    assert "look at arrays again and again" in " ".join(looped.remarks)
    assert looped.kernels == 0
    assert "ranks share" not in " ".join(whole.remarks)
