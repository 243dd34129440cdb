"""What ends the process at work costs one region, and a hang does too."""

from __future__ import annotations

import os
import signal

import pytest

from polybuild.cli.commands import run
from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError
from polybuild.driver import passes
from polybuild.driver.isolation import TrialLimits, WorkerCrashError, run_isolated

THREE_REGIONS = "void f(int n, double *restrict a) {\n" + "".join(
    f"#pragma scop\n  for (int i = 0; i < n; i++) a[i] = {value};\n#pragma endscop\n" for value in range(3)
)

# isl's flow analysis with kills was seen to end the process over these strides
STRIDES = """\
void f(int n, unsigned m, int *restrict A, int *restrict B) {
#pragma scop
  for (unsigned char i = 2; i < ((m + 5) / 3); i += 1)
    A[i - 1] = i;
  for (int j = m / 3; j < m; j = j + 1)
    for (int i = n - 1; i > 1; i--)
      if ((j % 2) == 0)
        A[i - 1] += (((unsigned)B[i + 1] + B[i + 3]) - (A[j + 1] + m));
      else if ((j % 2) == 1)
        B[i - 1] = (unsigned)A[i + 1] ^ B[i + 3];
      else
        for (short k = 0; k <= (m - 1); ++k)
          B[k + 1] = ((unsigned)B[k] + A[(((i - k) < 0) ? j : 2) - 1]) - ((unsigned)B[k] * A[3 * k]);
#pragma endscop
}
"""


def die() -> None:
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # pytest would tell of it
    os.kill(os.getpid(), signal.SIGSEGV)


def spin() -> None:
    while True:
        pass


def test_the_result_comes_back_from_another_process():
    parent = os.getpid()
    assert run_isolated(lambda watch: (os.getpid() == parent, dict(watch.crashes))) == (False, {})


def test_what_the_work_raises_is_raised():
    diagnostic = Diagnostic(Severity.ERROR, "x", "no such file", Location("a.c", 1))

    def work(_watch):
        raise SourceError(diagnostic, ("b.h",))

    with pytest.raises(SourceError, match="no such file") as caught:
        run_isolated(work)
    assert (caught.value.diagnostic, caught.value.dependencies) == (diagnostic, ("b.h",))


@pytest.mark.parametrize(
    ("fate", "how"),
    [
        (die, "ended with signal 11 (SIGSEGV)"),
        (spin, "took too long"),
        (lambda: os._exit(3), "ended with exit code 3"),
    ],
)
def test_a_region_is_lost_not_the_others(fate, how):
    def work(watch):
        done = []
        for position in range(2):
            lost = watch.crashes.get(position, ())
            if len(lost) < position:  # as often as it is lost
                watch.begins(position)
                fate()
            done.append(lost)
        watch.begins(None)
        return done

    assert run_isolated(work, seconds=1) == [(), (how,)]


@pytest.mark.parametrize("fate", [die, spin])
def test_what_was_found_before_the_process_ended_is_known(fate):
    def work(watch):
        known = dict(watch.found)
        if (0, 9) not in known:
            watch.is_found((0, 9), "what it is")
        watch.begins((9, 18))
        if not watch.crashes:
            fate()
        return known

    assert run_isolated(work, seconds=1) == {(0, 9): "what it is"}


def test_loops_that_nobody_marked_have_limits_of_their_own():
    def work(watch):
        watch.begins((0, 9))
        if not watch.crashes:
            spin()
        return dict(watch.crashes), watch.trials.all

    found = run_isolated(work, seconds=60, trials=TrialLimits(1.0, all=7))
    assert found == ({(0, 9): ("took too long",)}, 7)


def test_without_a_region_all_is_lost():
    with pytest.raises(WorkerCrashError, match="SIGSEGV"):
        run_isolated(lambda _watch: die())


@pytest.fixture
def second_region_dies_once(monkeypatch):
    """In any order but the original one."""
    choose = passes.choose_with_reductions

    def dying(scop, dependences, reductions, context, *others, **order):
        if scop.location.line == 5 and context.options.schedule != "original":
            die()
        return choose(scop, dependences, reductions, context, *others, **order)

    monkeypatch.setattr(passes, "choose_with_reductions", dying)


@pytest.mark.usefixtures("second_region_dies_once")
def test_a_lost_region_is_tried_in_its_order(tmp_path, capfd):
    file = tmp_path / "three.c"
    file.write_text(THREE_REGIONS + "}\n")
    assert run(["explain", str(file)]) == 0
    told = capfd.readouterr().out
    assert told.count(" in f: parallel") == 3  # in its order, too
    assert told.count(" in f: ") == 3
    assert told.count("only its original order was tried: the process at work on it ended with signal") == 1


@pytest.fixture
def second_region_dies(monkeypatch):
    extract_scop = passes.extract_scop

    def extract(region, **form):
        if region.index == 1:
            die()
        return extract_scop(region, **form)

    monkeypatch.setattr(passes, "extract_scop", extract)


@pytest.mark.usefixtures("second_region_dies")
def test_a_build_goes_on_without_the_region(tmp_path, capfd):
    file, made = tmp_path / "three.c", tmp_path / "made.c"
    file.write_text(THREE_REGIONS + "}\n")
    assert run(["compile", str(file), "-o", str(made)]) == 0
    told = capfd.readouterr().err
    assert (
        f"{file}:5:1: warning: internal error: the process at work on this region ended with signal 11"
        in told
    )
    assert made.read_text().count("/* the original loops */") == 2


@pytest.mark.usefixtures("second_region_dies")
def test_an_explanation_goes_on_without_the_region(tmp_path, capfd):
    file = tmp_path / "three.c"
    file.write_text(THREE_REGIONS + "}\n")
    assert run(["explain", str(file)]) == 0
    told = capfd.readouterr().out
    assert "SIGSEGV" in told
    assert told.count("in f: kept") == 1


def test_a_fault_of_isl_breaks_no_build(tmp_path):
    file, made = tmp_path / "strides.c", tmp_path / "made.c"
    file.write_text(STRIDES)
    assert run(["compile", str(file), "-o", str(made)]) == 0
    assert "/* the original loops */" in made.read_text()
