"""What a compiler may do, from its macros and flags, and what follows with what a user said."""

from __future__ import annotations

import pytest

from polybuild.context import CompileContext, CompilerRules, Masks
from polybuild.driver.compiler_rules import compiler_rules
from polybuild.options import Options

OPTIMISES = frozenset({"__OPTIMIZE__"})


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], True),
        (["-O3", "-ffp-contract=off"], False),
        (["-std=c99"], False),
        (["-std=gnu99"], True),
        (["-std=c11", "-ffp-contract=fast"], True),
    ],
)
def test_contraction_as_the_compiler_does_it(flags, expected):
    assert compiler_rules(OPTIMISES, flags).may_contract is expected


@pytest.mark.parametrize(
    ("macros", "flags", "expected"),
    [
        ((), ["-ffast-math"], False),
        (("__FAST_MATH__",), [], True),
        (("__FAST_MATH__",), ["-fno-associative-math"], False),
        (("__ASSOCIATIVE_MATH__",), [], True),
        (("__clang__",), ["-fassociative-math", "-fno-signed-zeros"], False),
        (("__clang__",), ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"], True),
    ],
)
def test_reassociation_as_the_compiler_does_it(macros, flags, expected):
    assert compiler_rules(frozenset(macros), flags).may_reassociate is expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [([], True), (["-fno-strict-aliasing"], False), (["-fno-strict-aliasing", "-fstrict-aliasing"], True)],
)
def test_the_last_word_on_aliasing_counts(flags, expected):
    assert compiler_rules(OPTIMISES, flags).strict_aliasing is expected


def test_a_compiler_that_says_nothing_is_taken_to_optimise():
    assert compiler_rules(frozenset(), []).optimises
    assert compiler_rules(OPTIMISES, []).optimises
    assert not compiler_rules(frozenset({"__GNUC__"}), []).optimises


@pytest.mark.parametrize(("macros", "outer"), [({"__GNUC__"}, True), ({"__GNUC__", "__clang__"}, False)])
def test_who_computes_loops_around_others_in_lanes(macros, outer):
    assert compiler_rules(frozenset(macros), ["-O3"]).vectors.outer_lanes is outer


@pytest.mark.parametrize(("macros", "back"), [({"__GNUC__"}, False), ({"__GNUC__", "__clang__"}, True)])
def test_who_computes_loops_that_go_back_over_members_in_lanes(macros, back):
    assert compiler_rules(frozenset(macros), ["-O3"]).vectors.backwards is back


@pytest.mark.parametrize(("macros", "wider"), [({"__GNUC__"}, True), ({"__GNUC__", "__clang__"}, False)])
def test_who_takes_wider_vectors_for_more_lanes(macros, wider):
    assert compiler_rules(frozenset(macros), ["-O3"]).vectors.widens is wider


@pytest.mark.parametrize(("said", "expected"), [(None, True), (True, True), (False, False)])
def test_what_a_user_says_of_the_order_of_sums_counts_more_than_flags(said, expected):
    context = CompileContext(compiler=CompilerRules(may_reassociate=True))
    assert context.with_options(Options(allow_reassociation=said)).may_reassociate is expected


@pytest.mark.parametrize("said", ["auto", "on", "scalars", "copies", "off"])
def test_policy_is_for_what_is_left_open(said):
    optimises, does_not = (CompilerRules(optimises=each) for each in (True, False))
    options = Options(contract_arrays=said)
    assert CompileContext(options, compiler=optimises).contraction == said
    assert CompileContext(options, compiler=does_not).contraction == ("copies" if said == "auto" else said)
    assert options.contract_arrays == said


@pytest.mark.parametrize(
    ("macros", "speculates"),
    [({"__GNUC__"}, False), ({"__GNUC__", "__NO_TRAPPING_MATH__"}, True), ({"__clang__"}, True)],
)
def test_who_computes_what_is_under_conditions_in_any_case(macros, speculates):
    assert compiler_rules(frozenset(macros), ["-O3"]).vectors.speculates is speculates


@pytest.mark.parametrize(
    ("macros", "masks"),
    [
        ({"__SSE2__"}, Masks.NONE),
        ({"__SSE2__", "__AVX__", "__AVX2__"}, Masks.MEMORY),
        ({"__AVX__", "__AVX512F__"}, Masks.ARITHMETIC),
    ],
)
def test_which_vectors_have_masks(macros, masks):
    assert compiler_rules(frozenset(macros), ["-O3"]).vectors.masks is masks


@pytest.mark.parametrize(
    ("macros", "flags", "expected"),
    [
        ((), ["-O2"], False),
        ((), ["-O3"], True),
        ((), ["-O3", "-O1"], False),
        ((), ["-O3", "-fno-version-loops-for-strides"], False),
        ((), ["-O2", "-fversion-loops-for-strides"], True),
        (("__clang__",), ["-O3"], False),
    ],
)
def test_who_tries_strides_of_one_element(macros, flags, expected):
    assert compiler_rules(OPTIMISES | frozenset(macros), flags).vectors.tries_strides is expected
