"""Transform one file under several options, in a process of its own that may crash or be stopped.

usage: python -m tests.fuzz.transform REQUEST ANSWER [FAULT]...

REQUEST is a JSON list of {"source", "output", "settings"}, where "flags" among the settings are those of
the compiler; ANSWER gets a list with, for each
of them, the regions' [status, code, seconds, message, backend, line] in order, written after every entry.
FAULT is a bug to plant first.
"""

from __future__ import annotations

import functools
import json
import sys
import traceback
from dataclasses import replace
from pathlib import Path

from polybuild import effort
from polybuild.driver import file as pipeline
from polybuild.driver import region as regions
from polybuild.driver.isolation import Watch, run_isolated
from polybuild.options import Options

from .faults import NOT_PLANTED, plant


def main() -> None:
    request, answer, *faults = sys.argv[1:]
    for each in faults:
        try:
            plant(each)
        except AttributeError:
            traceback.print_exc()
            sys.exit(NOT_PLANTED)
    if faults:  # what the proof refuses is to be seen, not tried again in a simpler order
        regions.fallback_strategies = lambda context: [context]
    effort.REGION_OPERATIONS = 400_000  # what takes longer is for other tests, and shortcuts get their share
    done = []
    for each in json.loads(Path(request).read_text(encoding="utf-8")):
        settings = dict(each["settings"])
        flags = settings.pop("flags", "").split()
        options = Options().with_settings(settings)
        result = run_isolated(functools.partial(_compile, each["source"], options, flags))
        text = result.text.replace("/* the original loops */", "fuzz_original();")
        Path(each["output"]).write_text(text, encoding="utf-8")
        done.append(
            [
                [
                    region.status,
                    region.code,
                    region.compile_seconds,
                    region.message,
                    region.backend,
                    region.line,
                ]
                for region in result.regions
            ]
        )
        Path(answer).write_text(json.dumps(done), encoding="utf-8")


def _compile(source: str, options: Options, flags: list[str], watch: Watch) -> pipeline.FileResult:
    include = f"-I{Path(__file__).resolve().parent}"
    result = pipeline.compile_source(source, options, ["gcc"], [*flags, include], watch)
    return replace(result, details=())  # which does not pass between processes


main()
