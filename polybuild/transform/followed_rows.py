"""Tables of pointers whose rows are all followed: what lies between two rows that are read is read, too.

::

    for (0 < i < n - 1) for (0 < j < m - 1) {
      for (0 <= k < p) s[k] = r[i - 1][j][k] + r[i + 1][j][k] + r[i][j - 1][k] + ...;   # for p >= 1
      for (0 < k < p - 1) u[i][j][k] = r[i][j][k] + s[k];                               # for p >= 3
    }

For ``p < 3`` the rows in the middle of a small grid are not read: their pointers may not be followed to see
where rows are (``analysis/pointer_tables.py``). So all nests that use such an array are taken to run.
"""

from __future__ import annotations

from polybuild.analysis.pointer_tables import certainly_followed
from polybuild.scop.model import Scop
from polybuild.transform.grid_sizes import assume_running


def assume_followed_rows(scop: Scop) -> Scop:
    """``scop`` assuming that nests over tables of pointers run, where these are all followed then."""
    for array in scop.arrays:
        if len(array.provenance.followed) < 2 or certainly_followed(array, scop):
            continue
        running = assume_running(scop, [each for each in scop.statements if each.accesses_to(array)])
        if running is not scop and certainly_followed(array, running):
            scop = running
    return scop
