"""What is written for machines: it is as its schema says, and whole builds are put together from it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

from polybuild.cli import commands
from polybuild.driver import output

ROOT = Path(__file__).parents[3]
SCHEMAS = ROOT / "polybuild" / "report" / "record" / "schemas"
SOURCE = """\
void shift(int n, double *c, const double *a) {
#pragma scop
  for (int i = 0; i < n; i++) c[i] = a[i];
#pragma endscop
}
void stop(int n, double *x) {
#pragma scop
  for (int i = 0; i < n; i++) if (x[i] > 3) break;
#pragma endscop
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CC", raising=False)
    (tmp_path / "in.c").write_text(SOURCE)
    return tmp_path


def valid(data, name="report.json"):
    """The report in ``data``, which its schema takes."""
    record = json.loads(data)
    jsonschema.validate(record, json.loads((SCHEMAS / name).read_text("ascii")))
    return record


def test_the_report_is_as_its_schema_says(folder):
    assert commands.run(["compile", "in.c", "-o", "out.c", "--report", "r.json"]) == 0
    record = valid((folder / "r.json").read_bytes())
    assert [(each["function"], each["status"]) for each in record["regions"]] == [
        ("shift", "transformed"),
        ("stop", "kept"),
    ]
    assert [each["kind"] for each in record["regions"][0]["advice"]] == ["restrict", "min-work"]
    prediction = record["regions"][0]["prediction"]
    assert prediction["parameters"] == {"n": 1000}
    parts = prediction["parts"]["original"]
    assert prediction["original_ns"] == pytest.approx(
        sum(parts.values()) - 2 * parts["hidden"] - parts["traffic"]
    )
    assert [each["name"] for each in prediction["candidates"]] == ["original order", "isl's order"]
    assert record["regions"][1]["prediction"] is None
    (said,) = record["diagnostics"]
    assert (said["code"], said["line"], said["column"]) == ("search", 8, 35)
    valid(output.EMPTY_REPORT)


def test_explain_prints_several_files_as_one_report(folder, capfdbinary):
    (folder / "other.c").write_text(SOURCE)
    assert commands.run(["explain", "in.c", "other.c", "--json"]) == 0
    record = valid(capfdbinary.readouterr().out)
    assert [each["file"] for each in record["regions"]] == ["in.c", "in.c", "other.c", "other.c"]
    assert record["regions"][0]["loops"] == [{"names": ["i"], "line": 3, "private": [], "dependences": []}]


def test_explain_of_several_files_is_one_page(folder):
    (folder / "other.c").write_text(SOURCE)
    assert commands.run(["explain", "in.c", "other.c", "--html", "page.html"]) == 0
    text = (folder / "page.html").read_text()
    assert text.count("<h1>") == 2
    assert 'href="#file1-region2"' in text
    assert 'id="file1-region2"' in text


def test_explain_takes_flags_and_files_from_a_build(folder, capfd):
    build = folder / "build"
    build.mkdir()
    sources = folder / "src"
    sources.mkdir()
    (sources / "sized.c").write_text(SOURCE.replace("int n,", "int SIZE,").replace("i < n", "i < SIZE"))
    (sources / "launched.c").write_text((sources / "sized.c").read_text())
    (sources / "plain.c").write_text("int x;\n")
    common = {"directory": str(build)}
    entries = [
        {**common, "file": "../src/sized.c", "command": "gcc -DSIZE=n -O2 -c ../src/sized.c -o a.o"},
        {**common, "file": "../src/plain.c", "arguments": ["polybuild-cc", "cc", "-c", "../src/plain.c"]},
        {
            **common,
            "file": "../src/launched.c",
            "command": "cmake -E env python -m polybuild cc --record -- gcc -DSIZE=n -c ../src/launched.c",
        },
        {**common, "file": "../src/other.cpp", "command": "g++ -c ../src/other.cpp"},
    ]
    (build / "compile_commands.json").write_text(json.dumps(entries))
    assert commands.run(["explain", "-p", "build", "--level", "2"]) == 0
    text = capfd.readouterr().out
    assert f"{sources}/sized.c: 2 regions" in text
    assert text.count("n >= 10000") == 2  # with their own -DSIZE=n
    assert "plain.c" not in text
    assert commands.run(["explain", "-p", "build", "src/sized.c", "--level", "1"]) == 0
    assert capfd.readouterr().out.count("regions") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explain"], "a C file is missing"),
        (["explain", "-p", "nowhere"], "cannot read nowhere"),
        (["explain", "-p", ".", "in.c"], "does not tell how 'in.c' is compiled"),
        (["explain", "-p", ".", "in.c", "--", "-O2"], "with -p the flags are those of the build"),
        (["explain", "in.c", "--html="], "--html needs the name of a file"),
        (["explain", "in.c", "--level", "5"], "invalid choice: '5'"),
    ],
)
def test_wrong_words_after_explain(words, message, folder, capfd):
    (folder / "compile_commands.json").write_text("[]")
    assert commands.run(words) == 2
    assert message in capfd.readouterr().err


def test_warnings_and_advice_as_sarif(folder):
    assert commands.run(["compile", "in.c", "-o", "out.c", "--sarif", "s.sarif"]) == 0
    log = json.loads((folder / "s.sarif").read_text("ascii"))
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert run["tool"]["driver"]["name"] == "polybuild"
    found = {each["ruleId"]: each for each in run["results"]}
    assert set(found) == {"polybuild-search", "polybuild-advice-restrict", "polybuild-advice-min-work"}
    assert {each["id"] for each in run["tool"]["driver"]["rules"]} == set(found)
    warning = found["polybuild-search"]
    assert warning["level"] == "warning"
    (place,) = warning["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "in.c"},
        "region": {"startLine": 8, "startColumn": 35},
    }


def test_places_in_sarif_are_relative_to_the_current_folder(folder):
    (folder / "deep").mkdir()
    source = folder / "deep" / "a file.c"
    source.write_text(SOURCE)
    assert commands.run(["compile", str(source), "-o", "out.c", "--sarif", "s.sarif"]) == 0
    (run,) = json.loads((folder / "s.sarif").read_text("ascii"))["runs"]
    places = [place["physicalLocation"] for each in run["results"] for place in each["locations"]]
    assert {each["artifactLocation"]["uri"] for each in places} == {"deep/a%20file.c"}


def test_one_of_several_files_that_cannot_be_read_stops_no_other(folder, capfd):
    (folder / "wrong.c").write_text('#pragma scop\n#include "nowhere.h"\n')
    assert commands.run(["explain", "wrong.c", "in.c", "--level", "1"]) == 1
    said = capfd.readouterr().out
    assert "nowhere.h" in said
    assert "in.c: 2 regions" in said
    assert commands.run(["explain", "wrong.c", "in.c", "--json"]) == 1
    record = valid(capfd.readouterr().out)
    assert len(record["regions"]) == 2
    assert record["diagnostics"][0]["file"] == "wrong.c"
    assert commands.run(["explain", "wrong.c", "in.c", "--html", "page.html"]) == 1
    assert "nowhere.h" in (folder / "page.html").read_text()


def test_the_hook_of_pre_commit_fails_for_regions_that_are_kept(folder, capfd):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["types"] == ["c"]
    words = [*shlex.split(hook["entry"])[1:], *hook["args"]]
    assert commands.run([*words, "in.c"]) == 1
    assert (
        "kept: a search that ends at its first match is left as it is: what lies behind may not be there"
        in capfd.readouterr().out
    )
    (folder / "in.c").write_text(SOURCE[: SOURCE.index("void stop")])
    assert commands.run([*words, "in.c"]) == 0


class _Loader(yaml.SafeLoader):
    """Reads optimisation records."""


for _kind in ("Passed", "Missed", "Analysis"):
    _Loader.add_constructor(
        f"!{_kind}", lambda loader, node: {"kind": node.tag, **loader.construct_mapping(node, deep=True)}
    )


def remarks(path):
    return list(yaml.load_all(path.read_text(), Loader=_Loader))


def test_optimisation_records(folder):
    flags = ["--", "gcc", "-O2", "-fsave-optimization-record"]
    assert commands.run(["compile", "in.c", "-o", "out.c", *flags]) == 0
    found = remarks(folder / "out.c.polybuild.opt.yaml")
    assert [(each["kind"], each["Function"], each["DebugLoc"]["Line"]) for each in found] == [
        ("!Passed", "shift", 2),
        ("!Analysis", "shift", 1),
        ("!Analysis", "shift", 2),
        ("!Missed", "stop", 7),
    ]
    assert found[1]["Args"] == [
        {"String": "if 'c' never overlaps 'a', declare it '*restrict c': this check goes"}
    ]


@pytest.mark.skipif(shutil.which("llvm-opt-report") is None, reason="needs LLVM's tools")
@pytest.mark.usefixtures("folder")
def test_llvm_reads_optimisation_records():
    flags = ["--", "gcc", "-O2", "-fsave-optimization-record"]
    assert commands.run(["compile", "in.c", "-o", "out.c", *flags]) == 0
    command = ["llvm-opt-report", "out.c.polybuild.opt.yaml"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_compiler_s_wrapper_writes_records_beside_the_object(folder, capfd):
    (folder / "build").mkdir()
    words = ["cc", "--record", "--", "gcc", "-O2", "-fsave-optimization-record"]
    assert commands.run([*words, "-c", "in.c", "-o", "build/x.o"]) == 0
    capfd.readouterr()
    valid((folder / "build" / "x.polybuild.json").read_bytes())
    assert len(remarks(folder / "build" / "x.polybuild.opt.yaml")) == 4
    assert commands.run(["cc", "--", "gcc", "-c", "in.c", "-o", "build/y.o"]) == 0
    assert not list((folder / "build").glob("y.polybuild*"))


def test_a_summary_of_a_build(folder, capfd):
    (folder / "build" / "deep").mkdir(parents=True)
    (folder / "other.c").write_text(SOURCE[: SOURCE.index("void stop")])
    (folder / "build" / "package.json").write_text("{}")
    commands.run(["compile", "in.c", "-o", "build/in.c", "--report", "build/in.c.json"])
    commands.run(["compile", "other.c", "-o", "build/o.c", "--report", "build/deep/o.c.json"])
    capfd.readouterr()
    assert commands.run(["summary", "build", "--sarif", "all.sarif"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "in.c: 2 regions"
    assert lines[1].split() == ["2-4", "shift", "parallel:", "1", "statement,", "1", "parallel", "loop"]
    assert lines[4] == "other.c: 1 region"
    assert lines[7] == "3 regions in 2 files: 1 kept, 2 parallel"
    assert lines[8].startswith("2 parallel loops; ")
    assert lines[9] == "kept because of search (1)"
    assert len(json.loads((folder / "all.sarif").read_bytes())["runs"][0]["results"]) == 5
    assert commands.run(["summary", "build", "--json"]) == 0
    assert len(valid(capfd.readouterr().out)["regions"]) == 3


@pytest.mark.usefixtures("folder")
def test_a_summary_of_nothing(capfd):
    assert commands.run(["summary", "."]) == 0
    assert capfd.readouterr().out == "no regions in no files\n"
    assert commands.run(["summary", "nowhere"]) == 1
    assert "there is no such folder or report" in capfd.readouterr().err


def run_record(line, process, *, original, failed=()):
    versions = {"new": 2, "original": original, "device": 0}
    return json.dumps(
        {
            "schema": "urn:polybuild:run:1",
            "file": "in.c",
            "line": line,
            "end_line": line + 2,
            "process": process,
            "rank": None,
            "callers": 1,
            "threads": 2,
            "versions": {name: {"runs": runs, "seconds": runs / 1000} for name, runs in versions.items()},
            "failed": [
                {"condition": each, "file": "in.c", "line": line, "runs": original} for each in failed
            ],
        }
    )


def test_a_summary_tells_what_ran_and_what_to_do_about_it(folder, capfd):
    commands.run(["compile", "in.c", "-o", "out.c", "--report", "r.json"])
    lines = [run_record(2, process, original=3, failed=["too little work"]) for process in (7, 8)]
    for line in lines:
        valid(line, "run.json")
    (folder / "ran").write_text("\n".join(lines) + "\n")
    capfd.readouterr()
    assert commands.run(["summary", "r.json", "--ran", "ran"]) == 0
    told = capfd.readouterr().out
    assert told.endswith(
        "\nwhat ran:\n  in.c:2 in shift\n    the new loops ran 4 times, 4.000 ms\n"
        "    the original loops ran 6 times, 6.000 ms: too little work 6 times\n"
        "    line 2: below n = 10000 the original loops run: less work is not worth threads\n"
    )
    (folder / "ran").write_text(run_record(2, 7, original=0))
    assert commands.run(["summary", "r.json", "--ran", "ran"]) == 0
    told = capfd.readouterr().out
    assert "    line 1: if 'c' never overlaps 'a', declare it '*restrict c': this check goes\n" in told
    assert "below n" not in told


@pytest.mark.parametrize("text", ["{}", "[1]", "nothing"])
def test_what_is_no_report_of_a_run(text, folder, capfd):
    (folder / "ran").write_text(text)
    assert commands.run(["summary", ".", "--ran", "ran"]) == 1
    assert "this is no report of a program that ran" in capfd.readouterr().err
