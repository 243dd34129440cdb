"""The first room: a C file becomes a Source, its marked regions read, everything else untouched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from polybuild.c.basic_types import DataModel
from polybuild.c.symbols import StorageClass, VisibleNames
from polybuild.diagnostics import Diagnostic, Location, Severity, SourceError
from polybuild.patterns import pattern
from polybuild.source import blocks
from polybuild.source.call_sites import distinct_parameters
from polybuild.source.callees import CallerFile, calls_in, read_callees
from polybuild.source.chunks import ChunkIndex
from polybuild.source.columns import locate_token
from polybuild.source.headers import regions_left_in_headers, with_headers
from polybuild.source.inclusions import REGION
from polybuild.source.lines import LineTable
from polybuild.source.markers import SourceText
from polybuild.source.model import BlockKind, Region, RejectedRegion, ResidentBlock, Source
from polybuild.source.nesting import MarkerContext, marker_contexts, misplaced_bracket
from polybuild.source.openmp import shared_from_outside
from polybuild.source.parse import Declared, FunctionSyntaxError, ParsedFunction, parse_function
from polybuild.source.preprocess import Preprocessed, macros_defined, preprocess, preprocessing_flags
from polybuild.source.regions import Candidate, RegionFinder
from polybuild.source.resident import ResidentReader
from polybuild.source.symbols import file_scope, visible_at
from polybuild.source.temporary import with_temporaries
from polybuild.source.unity import included_sources
from polybuild.values import dataclass

_MAY_HOLD_REGIONS = pattern(r"scop(?!e)|\b(resident|distributed)\b", re.IGNORECASE)


def read_source(path: str, compiler: Sequence[str], flags: Sequence[str], *, headers: bool = False) -> Source:
    """Read the file at ``path``, compiled by the command ``compiler`` with ``flags``.

    A file without a region marker is neither preprocessed nor parsed. Raises
    SourceError if the file cannot be read (``unreadable-file``), is no C text
    (``not-c-source``) or cannot be preprocessed (``compiler-not-found``,
    ``preprocess-failed``). A region that cannot be read becomes a RejectedRegion.
    With ``headers``, the text has the headers in it that hold regions.
    """
    text = text_of(path)
    if not headers and not _may_hold_regions(path, text):
        return Source(path, text, (), (path,))
    preprocessed = preprocess(path, compiler, flags)
    file = file_text(path, text, flags, preprocessed, headers=headers)
    user_text = file.user_text()
    regions, diagnostics = regions_in(file, user_text)
    residents, problems = residents_in(file, user_text, regions)
    unreached = regions_left_in_headers(
        preprocessed.text, {each.begin.file for each in regions}, taken=headers
    )
    diagnostics += (*problems, *unreached)
    dependencies = files_of(path, preprocessed)
    return Source(path, file.text, regions, dependencies, diagnostics, residents, file.names or {})


def _may_hold_regions(path: str, text: str) -> bool:
    """Whether the ``text`` of the file at ``path`` may have regions, or a C file that it includes."""
    if _MAY_HOLD_REGIONS.search(text):
        return True
    parts = included_sources(path, text.encode("utf-8", "surrogateescape"))
    return any(_MAY_HOLD_REGIONS.search(part.decode("utf-8", "surrogateescape")) for part in parts)


def files_of(path: str, preprocessed: Preprocessed) -> tuple[str, ...]:
    """The file at ``path``, and those that the preprocessor read for it."""
    return tuple(dict.fromkeys((path, *preprocessed.dependencies)))


def file_text(
    path: str,
    text: str,
    flags: Sequence[str],
    preprocessed: Preprocessed,
    *,
    headers: bool,
    wanted: re.Pattern[str] = REGION,
) -> FileText:
    """The ``text`` of the file at ``path``, with what it includes in place where that has ``wanted`` lines.

    As ``with_headers`` says.
    """
    macros = macros_defined(files_of(path, preprocessed), flags)
    whole = with_headers(path, text, preprocessed, wanted, headers=headers)
    if whole is None:
        return FileText(text, path, flags, preprocessed.text, macros)
    return FileText(whole.text, path, flags, whole.preprocessed, macros, names=whole.names)


@dataclass(frozen=True, slots=True)
class FileText:
    """What regions are read from: the user's text, its name, the flags, the preprocessed text, and macros.

    ``chunks`` are those of the preprocessed text, if they are known. What is included stands in both texts if
    there are ``names``: those of files that have others there.
    """

    text: str
    path: str
    flags: Sequence[str]
    preprocessed: str
    macros: frozenset[str] = frozenset()
    chunks: ChunkIndex | None = None
    names: Mapping[str, str] | None = None

    def user_text(self) -> SourceText:
        """The user's text with its lines."""
        return SourceText(self.text, self.path, self.names)


Regions = tuple[tuple[Region | RejectedRegion, ...], tuple[Diagnostic, ...]]
"""The regions of a file, and what there is to say besides."""


def regions_in(file: FileText, user_text: SourceText) -> Regions:
    """What stands between the markers of the preprocessed text, which ``user_text`` finds in the user's."""
    lines = LineTable(file.preprocessed, user_text, file.path)
    chunks = file.chunks or ChunkIndex(file.preprocessed)
    finder = RegionFinder(user_text, lines, chunks)
    finder.find()
    model = DataModel.from_flags(preprocessing_flags(file.path, file.flags))
    functions = _FunctionParser(file.text, file.path, model, lines, chunks, file.macros)
    regions, problems = with_temporaries(functions.read(finder.candidates), finder.candidates, lines, chunks)
    return regions, (*finder.diagnostics, *problems)


def residents_in(
    file: FileText, user_text: SourceText, regions: Sequence[Region | RejectedRegion]
) -> tuple[tuple[ResidentBlock, ...], tuple[Diagnostic, ...]]:
    """The blocks of a file whose arrays stay on a device, or distributed, and what is wrong with others."""
    if not any(each.value in file.preprocessed for each in BlockKind):
        return (), ()
    lines = LineTable(file.preprocessed, user_text, file.path)
    model = DataModel.from_flags(preprocessing_flags(file.path, file.flags))
    return ResidentReader(user_text, lines, ChunkIndex(file.preprocessed), model, regions).read()


def text_of(path: str) -> str:
    """The text of the file at ``path``; raises SourceError if it cannot be read or is no text."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        message = f"cannot read the file: {error.strerror or error}"
        raise SourceError(Diagnostic(Severity.ERROR, "unreadable-file", message, Location(path, 0))) from None
    if b"\0" in data:
        message = "the file holds NUL bytes, so it is not C text"
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise SourceError(Diagnostic(Severity.ERROR, "not-c-source", message, Location(path, line)))
    return data.decode("utf-8", "surrogateescape")


def _told(visible: VisibleNames, distinct: Mapping[str, frozenset[str]]) -> VisibleNames:
    """``visible`` with the parameters that are ``distinct``."""
    changed = {
        name: replace(visible.symbols[name], distinct=others)
        for name, others in distinct.items()
        if name in visible.symbols and visible.symbols[name].storage is StorageClass.PARAMETER
    }
    return replace(visible, symbols={**visible.symbols, **changed}) if changed else visible


@dataclass(frozen=True, slots=True)
class _FunctionParser:
    """Turns candidates into regions, one function at a time."""

    text: str
    path: str
    model: DataModel
    lines: LineTable
    chunks: ChunkIndex
    macros: frozenset[str]

    def read(self, candidates: Sequence[Candidate]) -> tuple[Region | RejectedRegion, ...]:
        """One result per candidate, in order."""
        results: dict[int, Region] = {}
        for number in sorted(
            {each.chunk for each in candidates if each.chunk is not None and each.problem is None}
        ):
            inside = [each for each in candidates if each.chunk == number and each.problem is None]
            results |= self._read_function(number, inside)
        return tuple(results.get(each.index) or _rejected(each) for each in candidates)

    def _read_function(self, number: int, candidates: Sequence[Candidate]) -> dict[int, Region]:
        chunk = self.chunks.chunks[number]
        offsets = [offset for each in candidates for offset in _offsets(each)]
        surroundings = marker_contexts(self.lines.text, chunk.start, chunk.end, offsets)
        balanced = [
            each for each in candidates if self._check_nesting(each, surroundings) and self._check_team(each)
        ]
        pragmas: dict[int, tuple[str, ...]] = {}
        for each in balanced:
            begin, end = _offsets(each)
            braced = surroundings[begin].controlled or surroundings[begin].labelled
            opening, closing = (("{",), ("}",)) if braced else ((), ())
            pragmas[begin] = (*opening, f"#pragma {blocks.begin_pragma(each.index)}")
            pragmas[end] = (f"#pragma {blocks.end_pragma(each.index)}", *closing)
        if not balanced:
            return {}
        try:
            calls = calls_in(self.chunks, [_offsets(each) for each in balanced])
            parsed = parse_function(self.chunks, self.lines, number, pragmas, calls.mentioned)
        except FunctionSyntaxError as error:
            for each in balanced:
                each.problem = self._syntax_problem(error)
            return {}
        file = self._file_scope(number, parsed.declarations)
        regions = [self._region(each, parsed, file, surroundings) for each in balanced]
        distinct = distinct_parameters(self.chunks, self.lines, number, parsed.function)
        around = CallerFile(self.chunks, self.lines, file, parsed)
        return {
            region.index: replace(
                region, callees=read_callees(calls, around, region), visible=_told(region.visible, distinct)
            )
            for region in regions
            if region is not None
        }

    def _file_scope(self, number: int, declarations: tuple[Declared, ...]) -> VisibleNames:
        """What is declared before function ``number``: the same each time that it is read for other loops."""
        known: tuple[tuple[Declared, ...], VisibleNames] | None = self.chunks.known.get(("scope", number))
        if known is not None and known[0] == declarations:
            return known[1]
        found = file_scope(declarations, self.model, self.lines.text)
        self.chunks.known["scope", number] = declarations, found
        return found

    def _check_nesting(self, candidate: Candidate, surroundings: dict[int, MarkerContext]) -> bool:
        begin, end = (surroundings[offset] for offset in _offsets(candidate))
        empty = _is_empty(candidate, self.lines.text)
        dangling = not empty and (end.controlled or end.labelled)
        if begin.bracket != "{" or begin.block != end.block or dangling:
            message = "the region does not begin and end in the same block"
        elif begin.previous not in {"{", "}", ";"} and not begin.controlled and not begin.labelled:
            message = "the region begins in the middle of a statement"
        elif end.previous not in {"{", "}", ";"} and not empty:
            message = "the region ends in the middle of a statement"
        else:
            return True
        candidate.problem = self._bracket_problem(candidate)
        if candidate.problem is not None:
            return False
        self._reject(
            candidate, "unbalanced-region", message, "put both pragmas around whole statements of one block"
        )
        return False

    def _check_team(self, candidate: Candidate) -> bool:
        """Whether all directives of OpenMP in the region are for teams that are made in it."""
        place = shared_from_outside(self.lines.text, *_offsets(candidate))
        if place is None:
            return True
        line = self.lines.user_location(self.lines.presumed_at(place))
        candidate.problem = Diagnostic(
            Severity.WARNING,
            "openmp-team",
            "this directive of OpenMP is for threads that begin outside the region",
            Location(line.file, line.line),
            "mark the whole block of 'omp parallel', with its directive",
        )
        return False

    def _bracket_problem(self, candidate: Candidate) -> Diagnostic | None:
        """What is wrong if a bracket of the candidate's function has no counterpart."""
        chunk = self.chunks.chunks[candidate.chunk or 0]
        bracket = misplaced_bracket(self.lines.text, chunk.start, chunk.end)
        if bracket is None:
            return None
        location = self.lines.user_location(self.lines.presumed_at(bracket.start))
        column = bracket.start - self.lines.text.rfind("\n", 0, bracket.start)
        what = (
            f"'{bracket.text}' is not closed"
            if bracket.text in "([{"
            else f"syntax error near '{bracket.text}'"
        )
        return self._syntax_problem(FunctionSyntaxError(what, location, bracket.text, column))

    def _region(
        self,
        candidate: Candidate,
        parsed: ParsedFunction,
        file: VisibleNames,
        surroundings: dict[int, MarkerContext],
    ) -> Region | None:
        placement = blocks.place_region(parsed.function, candidate.index)
        if placement is None:
            message = "the region does not begin and end in the same block"
            self._reject(
                candidate,
                "unbalanced-region",
                message,
                "put both pragmas around whole statements of one block",
            )
            return None
        begin, end = (surroundings[offset] for offset in _offsets(candidate))
        candidate.problem = blocks.check_block(placement, begin, end, candidate.location)
        if candidate.problem is not None:
            return None
        return Region(
            index=candidate.index,
            span=candidate.span,
            body=candidate.body,
            begin=candidate.location,
            end=candidate.end_location,
            clauses=candidate.begin.clauses,
            statements=placement.statements,
            function=parsed.function,
            visible=replace(
                visible_at(file, parsed, placement.ancestors, candidate.index), macros=self.macros
            ),
        )

    def _syntax_problem(self, error: FunctionSyntaxError) -> Diagnostic:
        location = Location(error.location.file, error.location.line)
        if location.file == self.path:
            location = locate_token(self.text, self.path, location.line, error.token, error.column)
        code = "not-standard-c" if error.hint else "syntax-error"
        return Diagnostic(Severity.WARNING, code, str(error), location, error.hint)

    @staticmethod
    def _reject(candidate: Candidate, code: str, message: str, hint: str) -> None:
        candidate.problem = Diagnostic(Severity.WARNING, code, message, candidate.location, hint)


def _offsets(candidate: Candidate) -> tuple[int, int]:
    """Where the markers are in the preprocessed text, as the lexer counts (at the ``#``)."""
    if candidate.end is None:
        raise ValueError("a region without end has no place to read")
    return candidate.begin.start, candidate.end.start


def _is_empty(candidate: Candidate, text: str) -> bool:
    begin, end = candidate.begin, candidate.end
    between = text[begin.end : end.start] if end is not None else ""
    return not re.sub(r"^[ \t]*#.*$", "", between, flags=re.MULTILINE).strip()


def _rejected(candidate: Candidate) -> RejectedRegion:
    problem = candidate.problem
    if problem is None:
        message = "the region could not be read"
        problem = Diagnostic(Severity.WARNING, "syntax-error", message, candidate.location)
    return RejectedRegion(
        candidate.index, candidate.span, candidate.location, candidate.end_location, problem
    )
