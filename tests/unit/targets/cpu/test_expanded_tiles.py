"""Whether the order that was found for a nest is that of the nest with other variables expanded."""

from __future__ import annotations

import pytest

from polybuild.targets.cpu.expanded_tiles import NestOrder

PARAMETERS = "int n, double *restrict a, double *restrict b, double *restrict c"
NEST = "for (int i = 1; i < n - 1; i++) { a[i] = b[i]; c[i] += a[i]; }"


@pytest.mark.parametrize(
    ("body", "same"),
    [
        (NEST, True),
        (NEST.replace("b[i]", "x[i]"), True),
        (NEST.replace("a[i];", "b[i];"), False),  # nothing waits for the first statement
        (NEST.replace("a[i];", "a[i - 1];"), False),
        (NEST.replace("i++", "i += 2"), False),
        (NEST.replace("c[i] +=", "c[i] ="), False),
        (NEST + " for (int i = 1; i < n - 1; i++) b[i] = 0;", False),
        ("for (int i = 1; i < n - 1; i++) { a[i] = b[i]; b[i] += a[i]; }", False),
    ],
)
def test_order_is_that_of_nests_alike_but_for_names(model, body, same):
    known = model(NEST, PARAMETERS)
    order = NestOrder(known.scop, known.dependences, known.scop.schedule)
    other = model(body, PARAMETERS.replace("*restrict b", "*restrict b, double *restrict x"))
    assert order.is_of(other.scop, other.dependences) is same
