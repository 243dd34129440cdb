"""Elements that all iterations of a loop read, and none writes."""

from __future__ import annotations

import pytest

from polybuild.targets.cpu.invariant_reads import invariant_reads
from polybuild.targets.cpu.strides import references

# what a loop over j below one over i does, and how many of its reads are of one element
CASES = {
    "for (int j = i + 1; j < n; j++) A[i][j] -= A[i][i] * x[j];": 1,
    "for (int j = 0; j < n; j++) A[i][j] -= A[i][i] * x[j];": 0,
    "for (int j = 1; j < n; j++) A[i][j] = A[i][0] + A[0][j];": 1,
    "for (int j = 0; j < n; j++) A[i][j] = x[i];": 0,
    "for (int j = 0; j < n; j++) { A[i][j] = x[0]; x[1] = A[i][j]; }": 1,
    # under a condition: of what is written, or read in any case beside it, and of what need not exist
    "for (int j = i + 1; j < n; j++) if (x[j] > 0 && A[i][i] > A[i][j]) A[i][j] = A[i][i];": 0,
    "for (int j = i + 1; j < n; j++) { x[j] = x[i]; if (A[i][j] > 0 && x[i] > 1) A[i][j] = 0; }": 2,
    "for (int j = 0; j < n; j++) if (A[i][j] > 0) A[i][j] = x[i];": 0,
}


@pytest.mark.parametrize("body", CASES)
def test_reads_of_what_the_loop_leaves_as_it_is(model, body):
    found = model(f"for (int i = 0; i < n; i++) {body}", "int n, double A[restrict n][n], double *restrict x")
    loop = found.scop.schedule.get_root().child(0).child(0)
    assert len(invariant_reads(loop, references(found.scop, loop), found.scop)) == CASES[body]
