"""The width of strips that threads share, in C."""

from __future__ import annotations

STRIP = "polybuild_strip"

STRIP_DEFINITION = f"""\
#ifndef POLYBUILD_STRIP
#define POLYBUILD_STRIP
/* how wide strips of `count` iterations are: as many for each thread, of `longest` ones at most, and of whole
   multiples of `line` ones */
POLYBUILD_HELPER long long {STRIP}(long long count, long long threads, long long line, long long longest)
{{
  long long strips = count > 0 ? (count - 1) / longest + 1 : 1;
  strips = ((strips - 1) / threads + 1) * threads;
  return count > 0 ? ((count - 1) / strips / line + 1) * line : line;
}}
#endif
"""
