"""The commands around a stand-in for the pipeline: what is written, said and returned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import polybuild
from polybuild.cli import commands, main
from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError
from polybuild.report.record.model import RegionReport

MARKED = b"// caf\xe9\r\n#pragma scop\nfor (;;) ;\n#pragma endscop\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLYBUILD_DEBUG", raising=False)
    (tmp_path / "plain.c").write_bytes(b"int x;\r\n\xff")
    (tmp_path / "marked.c").write_bytes(MARKED)
    return tmp_path


@pytest.fixture
def pipeline(folder, monkeypatch):
    """Makes ``compile_source`` give a result or raise an error, and records its calls."""
    monkeypatch.chdir(folder)
    # a system that cannot fork: the stand-in runs here, and its calls are seen
    monkeypatch.delattr(os, "fork")
    stand_in = ModuleType("polybuild.driver.file")
    calls = []

    def behave(outcome):
        def compile_source(*call, **_printer):
            calls.append(call)
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        stand_in.compile_source = compile_source
        monkeypatch.setitem(sys.modules, "polybuild.driver.file", stand_in)
        monkeypatch.setattr(polybuild, "pipeline", stand_in, raising=False)
        return calls

    return behave


def region(status="transformed", **more):
    return RegionReport("marked.c", 2, 4, status, statements=1, parallel_loops=1, **more)


def result(*regions, text="done \udce9\n", diagnostics=(), dependencies=("marked.c", "h.h")):
    return SimpleNamespace(
        text=text,
        regions=regions,
        diagnostics=diagnostics,
        dependencies=dependencies,
        refused=(),
        details=(),
        times=(),
    )


KEPT = region("kept", code="loop-bound", message="no bound")
REFUSAL = Diagnostic(Severity.WARNING, "loop-bound", "no bound", Location("marked.c", 3, 1), "add one")
UNREADABLE = Diagnostic(Severity.ERROR, "preprocess-failed", "no such header", Location("marked.c", 2))


def test_what_was_transformed_is_written_with_all_that_was_asked_for(folder, pipeline, capsys):
    (folder / "flags").write_text("-O2")
    (folder / "pyproject.toml").write_text('[tool.polybuild]\nfusion = "max"\nschedule = "isl"\n')
    calls = pipeline(result(region()))
    words = "compile marked.c -o out.c --depfile out.d --report out.json --fusion min -- gcc @flags -g"
    assert main.run(words.split()) == 0
    assert (folder / "out.c").read_bytes() == b"done \xe9\n"
    names = (folder / "out.d").read_text().replace("\\\n", "").split()
    wanted = ["marked.c", "h.h", "flags", "pyproject.toml"]
    assert names == ["out.c:", *[str(folder / name) for name in wanted]]
    assert json.loads((folder / "out.json").read_text())["regions"][0]["status"] == "transformed"
    (path, options, compiler, flags, *_) = calls[0]
    assert (path, list(compiler), list(flags)) == ("marked.c", ["gcc"], ["-O2", "-g"])
    assert (options.fusion, options.schedule) == ("min", "isl")
    assert capsys.readouterr() == ("", "")


def test_without_an_output_the_result_goes_to_standard_output(pipeline, capfdbinary):
    pipeline(result(region(), text="done\n"))
    assert main.run(["compile", "marked.c"]) == 0
    assert capfdbinary.readouterr() == (b"done\n", b"")


def test_remarks_are_for_those_who_ask(pipeline, capsys):
    pipeline(result(region()))
    assert main.run(["compile", "marked.c", "-o", "out.c", "-v"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("marked.c:2: remark: region is parallel: 1 statement, 1 parallel loop")


def test_a_kept_region_warns_and_the_build_goes_on(folder, pipeline, capsys):
    pipeline(result(KEPT, text="same", diagnostics=(REFUSAL,)))
    assert main.run(["compile", "marked.c", "-o", "out.c"]) == 0
    assert (folder / "out.c").read_bytes() == b"same"
    assert capsys.readouterr().err == (
        "marked.c:3:1: warning: no bound [-Wpolybuild-loop-bound]\n    for (;;) ;\n    ^\nhint: add one\n"
    )


def test_diagnostics_come_in_the_order_of_the_file(pipeline, capsys):
    stray = Diagnostic(Severity.WARNING, "stray-endscop", "stray", Location("marked.c", 4))
    pipeline(result(KEPT, diagnostics=(stray, REFUSAL)))
    assert main.run(["compile", "marked.c", "-o", "out.c"]) == 0
    said = capsys.readouterr().err
    assert said.index("no bound") < said.index("stray")


@pytest.mark.parametrize(
    ("outcome", "code", "said"),
    [
        (result(KEPT, diagnostics=(REFUSAL,)), 1, "marked.c:3:1: error: no bound"),
        (SourceError(UNREADABLE), 1, "marked.c:2: error: no such header"),
        (KeyError("x"), 3, "marked.c: error: internal error: KeyError: 'x'"),
    ],
)
def test_those_who_want_an_error_get_one_and_no_output(pipeline, capsys, outcome, code, said):
    pipeline(outcome)
    folder = Path()
    words = "compile marked.c -o out.c --depfile out.d --report out.json --on-unsupported error"
    assert main.run(words.split()) == code
    assert capsys.readouterr().err.startswith(said)
    assert not (folder / "out.c").exists()
    assert not (folder / "out.d").exists()
    assert "regions" in json.loads((folder / "out.json").read_text())


def test_a_warning_about_a_transformed_region_stays_a_warning(pipeline, capsys):
    pipeline(result(region(), diagnostics=(REFUSAL,)))
    assert main.run(["compile", "marked.c", "-o", "out.c", "--on-unsupported", "error"]) == 0
    assert ": warning: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (
            SourceError(UNREADABLE, ("marked.c", "h.h")),
            "warning: no such header [-Wpolybuild-preprocess-failed]",
        ),
        (KeyError("x"), "warning: internal error: KeyError: 'x'"),
        (RecursionError("deep\nand deeper"), "RecursionError: deep; "),
        (MemoryError(), "MemoryError; "),
    ],
)
def test_whatever_fails_the_original_passes_through(folder, pipeline, capsys, outcome, said):
    pipeline(outcome)
    assert main.run(["compile", "marked.c", "-o", "out.c", "--depfile", "out.d"]) == 0
    assert (folder / "out.c").read_bytes() == MARKED
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    names = (folder / "out.d").read_text().replace("\\\n", "").split()[1:]
    expected = ["marked.c", "h.h"] if isinstance(outcome, SourceError) else ["marked.c"]
    assert names == [str(folder / name) for name in expected]


def test_the_traceback_is_for_those_who_ask(pipeline, capsys, monkeypatch):
    monkeypatch.setenv("POLYBUILD_DEBUG", "1")
    pipeline(KeyError("x"))
    assert main.run(["compile", "marked.c", "-o", "out.c"]) == 0
    assert "Traceback" in capsys.readouterr().err


def test_a_wrong_setting_of_the_project_is_wrong_usage(folder, pipeline, capsys):
    pipeline(result(region()))
    (folder / "pyproject.toml").write_text("[tool.polybuild]\nfusion = 3\n")
    assert main.run(["compile", "marked.c", "-o", "out.c"]) == 2
    assert "pyproject.toml" in capsys.readouterr().err
    assert not (folder / "out.c").exists()


def test_ctrl_c_is_quiet(folder, pipeline, capsys):
    pipeline(KeyboardInterrupt())
    assert main.run(["compile", "marked.c", "-o", "out.c"]) == 130
    assert capsys.readouterr() == ("", "")
    assert not (folder / "out.c").exists()


def test_explain_tells_both_ends(pipeline, capsys):
    pipeline(
        result(region(), diagnostics=(Diagnostic(Severity.WARNING, "c", "also", Location("marked.c", 9)),))
    )
    assert main.run(["explain", "marked.c", "--", "-O2"]) == 0
    out, err = capsys.readouterr()
    assert "marked.c:2-4: parallel" in out
    assert "marked.c:9: warning: also" in out
    assert err == ""


def test_explain_of_what_cannot_be_read_fails(pipeline, capsys):
    pipeline(SourceError(UNREADABLE))
    assert main.run(["explain", "marked.c"]) == 1
    assert capsys.readouterr().err.startswith("marked.c:2: error: no such header")


def test_explain_of_an_internal_error_is_one_line(pipeline, capsys):
    pipeline(KeyError("x"))
    assert main.run(["explain", "marked.c"]) == 3
    error = capsys.readouterr().err
    assert error.startswith("polybuild: internal error: KeyError: 'x' (POLYBUILD_DEBUG=1")
    assert error.count("\n") == 1


def test_an_interrupt_that_became_another_error_is_one(pipeline, capsys):
    error = ImportError("islpy")
    error.__context__ = SystemError("returned a result with an exception set")
    error.__context__.__cause__ = KeyboardInterrupt()
    pipeline(error)
    assert main.run(["explain", "marked.c"]) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["explain", "plain.c"], ["compile", "plain.c", "-o", "out.c"]])
def test_the_pipeline_is_not_asked_about_files_without_regions(pipeline, capsys, words):
    assert pipeline(KeyError("x")) == []
    assert main.run(words) == 0
    assert capsys.readouterr().err == ""


def test_both_ways_do_the_same_with_a_file_without_regions(folder):
    line = "compile plain.c -o out.c --depfile out.d --report out.json --backend openmp -- -O2"
    words = line.split()
    written = []
    for way in (main.run, commands.run):
        assert way(words) == 0
        written.append([(folder / name).read_bytes() for name in ("out.c", "out.d", "out.json")])
        for name in ("out.c", "out.d", "out.json"):
            (folder / name).unlink()
    assert written[0] == written[1]
    assert written[0][0] == b"int x;\r\n\xff"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "a command is missing"),
        (["transmogrify"], 2, "unknown command 'transmogrify'"),
        (["--frobnicate"], 2, "unknown option '--frobnicate'"),
        (["--version", "x"], 2, "unexpected 'x'"),
        (["compile"], 2, "FILE.c"),
        (["doctor", "x"], 2, "unexpected 'x'"),
        (["compile", "plain.c", "-o", "plain.c"], 2, "overwrite the input"),
        (["compile", "missing.c", "-o", "out.c"], 1, "missing.c: error: cannot read the file: No such file"),
        (["compile", ".", "-o", "out.c"], 1, "cannot read the file: Is a directory"),
        (
            ["compile", "plain.c", "-o", "none/out.c"],
            1,
            "none/out.c: error: cannot write the file: No such file",
        ),
        (["compile", "plain.c", "-o", "plain.c/out.c"], 1, "cannot write the file: Not a directory"),
        (["compile", "plain.c", "-o", "out.c", "--report", "none/r"], 1, "none/r: error: cannot write"),
        (["compile", "plain.c", "-o", "."], 1, "cannot write the file: Is a directory"),
        (["explain", "missing.c"], 1, "cannot read the file"),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_code(folder, capsys, words, code, said):
    assert main.run(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert sorted(entry.name for entry in folder.iterdir()) == ["marked.c", "plain.c"]


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["compile", "--help"], ["explain", "-h"], ["doctor", "-h"]]
)
def test_help_is_help(capsys, words):
    assert main.run(words) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: polybuild")
    assert err == ""


def test_facts_are_printed_alone_on_a_line(capsys):
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out == f"polybuild {polybuild.__version__}\n"
    assert main.run(["--cmakedir"]) == 0
    assert (Path(capsys.readouterr().out.strip()) / "polybuildConfig.cmake").is_file()
    assert main.run(["--includedir"]) == 0
    assert Path(capsys.readouterr().out.strip()).is_absolute()


@pytest.mark.usefixtures("folder")
def test_the_short_way_imports_nothing_but_itself():
    script = (
        "import sys; before = set(sys.modules); from polybuild.cli import main\n"
        "code = main.run(['compile', 'plain.c', '-o', 'out.c', '--depfile', 'out.d', '--report', 'r.json'])\n"
        "print(code, *sorted(set(sys.modules) - before))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(polybuild.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, check=True)
    ours = [
        f"polybuild.{name}"
        for name in ("cli", "cli.main", "cli.plain_values", "driver", "driver.output", "driver.unreached")
    ]
    reading = ["polybuild.source", "polybuild.source.unity"]
    assert done.stdout.decode().split() == ["0", "polybuild", *ours, *reading]


@pytest.mark.usefixtures("folder")
def test_the_compiler_starts_without_delay():
    script = (
        "import os, sys; before = set(sys.modules); from polybuild.cli import main\n"
        "def replace(name, command): print(*command, *sorted(set(sys.modules) - before)); os._exit(0)\n"
        "os.execvp = replace; sys.stdout.reconfigure(line_buffering=True)\n"
        "main.run(['cc', '--tile-sizes', '8', '--', 'gcc', '-c', 'plain.c'])\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(polybuild.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, check=True)
    ours = ["cc", "compiler_line", "objects"]
    assert done.stdout.decode().split() == [
        *(
            "gcc",
            "-c",
            "plain.c",
            "polybuild",
            "polybuild.cli",
            "polybuild.cli.main",
            "polybuild.cli.plain_values",
        ),
        *("polybuild.driver", "polybuild.driver.output", "polybuild.driver.unreached"),
        "polybuild.integrations",
        *(f"polybuild.integrations.{name}" for name in ours),
        *("polybuild.source", "polybuild.source.unity"),
    ]


def test_what_writes_results_of_the_cache_imports_neither_isl_nor_the_parser():
    script = (
        "import sys; from polybuild.driver import translate; from polybuild.integrations import wrapper\n"
        "print(*{'islpy', 'pycparser'} & set(sys.modules))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(polybuild.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().split() == []


@pytest.mark.usefixtures("folder")
def test_help_of_the_cache(capsys):
    assert main.run(["cache", "--help"]) == 0
    assert "usage: polybuild cache stats|clear" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_flags_file_that_is_not_there_is_said(capsys):
    assert main.run(["compile", "marked.c", "-o", "out.c", "--", "-O2", "@nofile"]) == 2
    assert "there is no flags file 'nofile'" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("word", "advice"),
    [("--foo", "after '--'"), ("--compiler", "after '--'"), ("--tile-size", "did you mean '--tile-sizes'?")],
)
def test_suggestions_are_not_wild(word, advice, capsys):
    assert main.run(["compile", "marked.c", word]) == 2
    said = capsys.readouterr().err
    assert advice in said
    assert ("did you mean" in said) == ("did you mean" in advice)


def test_help_shows_values_as_they_are_typed(capsys):
    assert main.run(["compile", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "(default: 80,90)" in text
    assert "auto|always|never" in text
    assert "(default: )" not in text
    assert "{auto" not in text


@pytest.mark.usefixtures("folder")
def test_the_compiler_of_cc_may_be_an_option(monkeypatch):
    ran = []
    monkeypatch.setattr(os, "execvp", lambda _, command: ran.append(command) or exit_with(7))
    with pytest.raises(SystemExit):
        main.run(["cc", "--cc", "gcc -m64", "--tile", "on", "--", "-c", "plain.c"])
    assert ran == [["gcc", "-m64", "-c", "plain.c"]]


def exit_with(code):
    raise SystemExit(code)


@pytest.mark.usefixtures("folder")
def test_signals_are_as_before_where_the_compiler_does_not_run(capsys):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python starts with it
    assert main.run(["cc", "--", "no-such-compiler", "-c", "plain.c"]) == 127
    assert "cannot run the compiler 'no-such-compiler'" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN


@pytest.mark.usefixtures("folder")
def test_cc_without_a_compiler_says_so(capsys):
    assert main.run(["cc", "--", "-c", "plain.c"]) == 2
    assert "needs a compiler before '-c'" in capsys.readouterr().err


def test_a_region_that_nothing_transforms_is_told(folder, capsys):
    (folder / "regions.h").write_bytes(MARKED)
    (folder / "includes.c").write_text('#include "regions.h"\n')
    assert main.run(["compile", "includes.c", "-o", "out.c"]) == 0
    assert "regions.h:2: warning: this region is in a header" in capsys.readouterr().err
    assert (folder / "out.c").read_text() == '#include "regions.h"\n'


@pytest.mark.parametrize(
    ("compiler", "name"), [("g++", "region.c"), ("gcc", "region.cpp"), ("gcc", "includes.c")]
)
def test_cc_tells_of_regions_that_nothing_transforms(folder, compiler, name, monkeypatch, capsys):
    (folder / "regions.h").write_bytes(MARKED)
    (folder / "includes.c").write_text('#include "regions.h"\n')
    for each in ("region.c", "region.cpp"):
        (folder / each).write_bytes(MARKED)
    monkeypatch.setattr(os, "execvp", lambda *_: exit_with(0))
    with pytest.raises(SystemExit):
        main.run(["cc", "--", compiler, "-c", name])
    assert (
        f"this region is in a {'header' if name == 'includes.c' else 'C++ file'}" in capsys.readouterr().err
    )


@pytest.mark.parametrize("disabled", ["", "1"])
def test_marks_are_no_errors_where_nothing_is_transformed(folder, disabled, monkeypatch):
    monkeypatch.setenv("POLYBUILD_DISABLE", disabled)
    (folder / "regions.h").write_bytes(MARKED)
    (folder / "includes.c").write_text('#include "regions.h"\n')
    for name, flags in (("includes.c", ["-Wno-unknown-pragmas"]), ("plain.c", [])):
        ran = []
        monkeypatch.setattr(os, "execvp", lambda _, command, ran=ran: ran.append(command) or exit_with(0))
        with pytest.raises(SystemExit):
            main.run(["cc", "--", "gcc", "-c", name])
        assert ran == [["gcc", *flags, "-c", name]]
