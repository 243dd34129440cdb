"""The check that rows which pointers lead to are apart: no two of a table, or none of two tables.

Rows are mostly made one after the other, or cut from one block: then their addresses grow, or the rows
of one table all lie before those of the other, and one look at each pointer tells that. Rows that were
exchanged, or made in turn for several tables, are sorted by their addresses. Pointers that lead nowhere
have no rows.
"""

from __future__ import annotations

ROWS = "polybuild_rows_apart"
STRUCTURE = "polybuild_rows"
DIMENSIONS = 4  # that structure has room for

DEFINITION = f"""\
#ifndef POLYBUILD_ROWS
#define POLYBUILD_ROWS
/* rows from `low` bytes past what each of the pointers holds to before `high`: `count` pointers along
   each of the `dimensions`, `step` bytes apart; after those of `loads` a pointer is read, and `inner`
   bytes are added */
struct {STRUCTURE} {{
  const char *first;
  int dimensions, loads;
  long long count[{DIMENSIONS}], step[{DIMENSIONS}], inner[{DIMENSIONS}], low, high;
}};
struct polybuild_span {{ unsigned long long start, end; int table; }};
POLYBUILD_HELPER long long polybuild_row_count(const struct {STRUCTURE} *rows)
{{
  long long count = 1;
  for (int d = 0; d < rows->dimensions; d++)
    count *= rows->count[d] > 0 ? rows->count[d] : 0;
  return count;
}}
POLYBUILD_HELPER const char *polybuild_row(const struct {STRUCTURE} *rows, long long number)
{{
  const char *at = rows->first;
  for (int d = 0; d < rows->dimensions; d++) {{
    long long inside = 1;
    for (int e = d + 1; e < rows->dimensions; e++)
      inside *= rows->count[e];
    long long place = inside > 1 ? number / inside : number;
    number = inside > 1 ? number % inside : 0;
    at += place * rows->step[d];
    if (rows->loads >> d & 1) {{
      const char *row;
      __builtin_memcpy(&row, at, sizeof row);
      if (!(at = row))
        break;
      at += rows->inner[d];
    }}
  }}
  return at;
}}
POLYBUILD_HELPER void polybuild_sift(struct polybuild_span *spans, long long top, long long count)
{{
  for (long long next; (next = 2 * top + 1) < count; top = next) {{
    struct polybuild_span kept = spans[top];
    next += next + 1 < count && spans[next + 1].start > spans[next].start;
    if (spans[next].start <= kept.start)
      break;
    spans[top] = spans[next];
    spans[next] = kept;
  }}
}}
/* whether no two spans overlap, or none of different tables */
POLYBUILD_HELPER int polybuild_spans_apart(struct polybuild_span *spans, long long count, int same)
{{
  unsigned long long ends[2] = {{0, 0}};
  for (long long k = count / 2; k-- > 0;)
    polybuild_sift(spans, k, count);
  for (long long k = count - 1; k > 0; k--) {{
    struct polybuild_span last = spans[0];
    spans[0] = spans[k];
    spans[k] = last;
    polybuild_sift(spans, 0, k);
  }}
  for (long long k = 0; k < count; k++) {{
    int table = spans[k].table;
    if (spans[k].start < ends[same ? table : !table])
      return 0;
    if (ends[table] < spans[k].end)
      ends[table] = spans[k].end;
  }}
  return 1;
}}
/* whether the rows of two tables share no memory, or those of one where there is no other */
POLYBUILD_HELPER int {ROWS}(const struct {STRUCTURE} *one, const struct {STRUCTURE} *other)
{{
  const struct {STRUCTURE} *tables[2] = {{one, other}};
  unsigned long long least[2] = {{~0ULL, ~0ULL}}, most[2] = {{0, 0}}, before = 0;
  long long counts[2] = {{polybuild_row_count(one), other ? polybuild_row_count(other) : 0}};
  long long up = 0, down = 0, found = 0;
  struct polybuild_span *spans;
  int apart;
  for (int t = 0; t < 2; t++)
    for (long long k = 0; k < counts[t]; k++) {{
      unsigned long long row = (unsigned long long)(__UINTPTR_TYPE__)polybuild_row(tables[t], k), size;
      if (!row)
        continue;
      size = (unsigned long long)(tables[t]->high - tables[t]->low);
      row += (unsigned long long)tables[t]->low;
      up += before && row > before && row - before >= size;
      down += before && row < before && before - row >= size;
      before = row;
      least[t] = row < least[t] ? row : least[t];
      most[t] = row + size > most[t] ? row + size : most[t];
      found++;
    }}
  if (other ? most[0] <= least[1] || most[1] <= least[0] : up >= found - 1 || down >= found - 1)
    return 1;
  spans = __builtin_malloc((unsigned long)found * sizeof *spans);
  if (!spans)
    return 0;
  found = 0;
  for (int t = 0; t < 2; t++)
    for (long long k = 0; k < counts[t]; k++) {{
      const char *row = polybuild_row(tables[t], k);
      if (row) {{
        spans[found].start = (unsigned long long)(__UINTPTR_TYPE__)row + (unsigned long long)tables[t]->low;
        spans[found].end = spans[found].start + (unsigned long long)(tables[t]->high - tables[t]->low);
        spans[found++].table = t;
      }}
    }}
  apart = polybuild_spans_apart(spans, found, !other);
  __builtin_free(spans);
  return apart;
}}
#endif
"""
