"""The cut of iterations into parts that accumulate for themselves, in C."""

from __future__ import annotations

PARTS = "POLYBUILD_MAX_PARTS"
PART = "polybuild_part_of"

# More than the processors that share a memory mostly have, and few enough to be combined in no time. What is
# computed depends on it: it is the same for all machines.
_NUMBER = 128

PARTS_DEFINITION = f"""\
#ifndef {PARTS}
#define {PARTS} {_NUMBER}
/* the iteration that a part of `count` ones begins with: as many parts as iterations, {_NUMBER} at most */
POLYBUILD_HELPER long long {PART}(long long count, long long part)
{{
  return count <= {PARTS} ? part : count / {PARTS} * part + count % {PARTS} * part / {PARTS};
}}
#endif
"""
