"""Steps with a norm after each ``k`` of them become loops over blocks of steps; others stay as they are."""

from __future__ import annotations

import pytest
from plain_regions import region_of

from polybuild.codegen.c.bodies import c_text
from polybuild.normalise.parametric_step_blocks import _EVEN, _SOME, with_parametric_step_blocks

STEP = "for (int i = 1; i < n; i++) x[i] += x[i - 1];"
EVEN = "for (int i = 1; i < n; i++) x[(t + 1) % 2] += x[i];"


def blocks(body: str, after: str = "") -> str | None:
    """What becomes of the loops ``body``; None if they stay as they are."""
    given = region_of(
        f"void f(int n, int k, unsigned u, double *x, double *p, double *q) {{ int t;\n#pragma scop\n{body}\n"
        f"#pragma endscop\n{after} }}\n"
    )
    found = with_parametric_step_blocks(given)
    if found is given:
        return None
    return (
        " ".join(" ".join(map(c_text, found.statements)).split())
        .replace(_SOME, "SOME")
        .replace(_EVEN, "EVEN")
    )


def test_blocks_that_end_with_a_norm():
    found = blocks(f"for (int t = 0; t < n; t++) {{ {STEP} if ((t + 1) % k == 0) p[t / k] = x[t]; }}")
    assert found == (
        "{ __polybuild_never((n - 1) < 0, SOME); __polybuild_never(k < 1, SOME);"
        " for (int t_1 = 0; t_1 <= (n / k); t_1++)"
        " { for (int t_2 = 0; t_2 < ((t_1 < (n / k)) ? (k) : (n % k)); t_2++)"
        " { for (int i = 1; i < n; i++) x[i] += x[i - 1]; }"
        " if (t_1 < (n / k)) p[t_1] = x[(t_1 + 1) * k - 1]; } }"
    )


def test_a_first_block_of_one_step():
    found = blocks(f"for (t = 0; t <= n; t++) {{ {STEP} if (!(t % k)) p[t / k] = x[t]; }}")
    assert found is not None
    assert "t_2 = (t_1 == 0) ? (k - 1) : (0); t_2 < ((t_1 <= (n / k)) ? (k) : (n % k)); t_2++" in found
    assert "if (t_1 <= (n / k)) p[t_1] = x[t_1 * k];" in found


def test_blocks_that_begin_with_a_norm():
    found = blocks(f"for (int t = 0; t < n; t++) {{ if (t % k == 0) p[t / k] = x[t]; {STEP} }}")
    assert found is not None
    assert "t_1 <= ((n - 1) / k); t_1++) { p[t_1] = x[t_1 * k]; for (int t_2 = 0;" in found
    assert "t_2 < ((t_1 < (n / k)) ? (k) : (n % k)); t_2++" in found


def test_storage_that_alternates_takes_blocks_of_even_size():
    found = blocks(f"for (int t = 0; t < n; t++) {{ {EVEN} if (t % k == 0) p[t] = x[(t + 1) & 1]; }}")
    assert found is not None
    assert "__polybuild_never((k % 2) != 0, EVEN)" in found
    # the first step is the last one of the first block, which has an odd number, as sizes are even
    assert "x[t_2 % 2] += x[i]" in found
    assert "p[t_1 * k] = x[1]" in found


def test_names_in_a_step_that_a_norm_uses():
    steps = "int now = t % 2, old = 1 - now; for (int i = 1; i < n; i++) x[now] += x[old];"
    found = blocks(f"for (int t = 0; t < n; t++) {{ {steps} if ((t + 1) % k == 0) p[t] = x[now]; }}")
    assert found is not None
    assert "int now = 1; p[(t_1 + 1) * k - 1] = x[now];" in found


def test_steps_that_swap_pointers():
    swap = "q = p; p = x; x = q;"
    behind = blocks(f"for (int t = 0; t < n; t++) {{ {STEP} {swap} if ((t + 1) % k == 0) p[t / k] = x[t]; }}")
    assert behind is not None
    assert f"x[i] += x[i - 1]; {swap} }} if (t_1 < (n / k)) p[t_1] = x[(t_1 + 1) * k - 1];" in behind
    # the other way round: what was 'p' before the swap is 'x' behind it
    before = blocks(f"for (int t = 0; t < n; t++) {{ {STEP} if ((t + 1) % k == 0) p[t / k] = x[t]; {swap} }}")
    assert before == behind.replace("p[t_1] = x[(", "x[t_1] = p[(")


@pytest.mark.parametrize(
    "body",
    [
        f"for (int t = 0; t < n; t++) {{ {STEP} if (t % 4 == 0) p[t] = 0; }}",  # a number: blocks have it
        f"for (int t = 0; t < n; t++) {{ {STEP} x[t] = 0; if (t % k == 0) p[t] = 0; }}",  # needs the counter
        f"for (int t = 0; t < n; t++) {{ double y = 0; y = x[0]; {STEP} if (t % k == 0) p[t] = y; }}",
        f"for (int t = 1; t < n; t++) {{ if (t % k == 0) p[t] = 0; {STEP} }}",  # the first block is not known
        f"for (int t = 2; t < n; t++) {{ {STEP} if (t % k == 0) p[t] = 0; }}",  # the first block is not known
        f"for (int t = 0; t < n; t++) {{ {STEP} if (t % k == 0) p[t] = 0; k = k + 1; }}",
        f"for (int t = 0; t < n; t++) {{ {STEP} k = 3; if (t % k == 0) p[t] = 0; }}",
        f"for (int t = 0; t < n; t++) {{ {STEP} if (t % k == 0) p[t] = 0; else p[t] = 1; }}",
        f"for (int t = 0; t < n; t++) {{ {STEP} if (t % u == 0) p[t] = 0; }}",  # never negative, and wraps
        f"for (int t = 0; t < n; t++) {{ {STEP} q = p; p = x; x = q; q++; if (t % k == 0) p[t] = 0; }}",
        f"for (int t = 0; t < n; t++) {{ {STEP} if (t % k == 0) break; }}",
        f"for (int t = 0; t < n; t++) {{ {STEP} t++; if (t % k == 0) p[t] = 0; }}",
        f"for (int t = 0; t < n; t += 2) {{ {STEP} if (t % k == 0) p[t] = 0; }}",
        "for (int t = 0; t < n; t++) { x[0] += 1; if (t % k == 0) p[t] = 0; }",
    ],
)
def test_loops_that_stay(body):
    assert blocks(body) is None


def test_a_counter_that_is_used_after_its_loop():
    assert blocks(f"for (t = 0; t < n; t++) {{ {STEP} if (t % k == 0) p[0] = 0; }}", "x[t] = 0;") is None
