/* The report at run time: which version of each region of a file ran, how often, how long, on how many
   threads, and for the original loops which condition did not hold.

   polybuild puts this text at the end of a file transformed with --runtime-report on, so that it needs no
   library and no include path: every file tells of its own regions, and shares nothing with others. What
   stands before the user's code is in codegen/file/run_report.py. C99 with the atomics of GNU C.

   The environment, read when the first region runs: POLYBUILD_VERBOSE=1 prints the report to standard error
   when the program ends or the library is closed; POLYBUILD_REPORT=FILE appends it to a file, one line of
   JSON for each region, so that processes, ranks and libraries may share one. */
#ifndef POLYBUILD_REPORT_H
#define POLYBUILD_REPORT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined __unix__ || defined __APPLE__
#include <unistd.h>
#define polybuild_report_process() ((long)getpid())
#else
#define polybuild_report_process() 1L
#endif
#ifdef _OPENMP
extern int omp_get_max_threads(void), omp_in_parallel(void);
#endif

enum { POLYBUILD_REPORT_CALLERS = 64 };

static struct polybuild_reported *polybuild_report_first; /* the region that began to run last */
static long polybuild_report_owner;                       /* the process that the numbers are of; 0: none yet */
static int polybuild_report_threads;                      /* that ran a region */
__extension__ static __thread int polybuild_report_thread; /* the number of this one, from 1; 0: none yet */

struct polybuild_report_text {
  char *data;
  size_t used, size;
};

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static void polybuild_report_add(struct polybuild_report_text *text, const char *format, ...)
{
  va_list values;
  int length;
  va_start(values, format);
  length = vsnprintf(0, 0, format, values);
  va_end(values);
  if (length < 0)
    return;
  if (text->size - text->used <= (size_t)length) {
    size_t larger = 2 * text->size + (size_t)length + 256;
    char *data = (char *)realloc(text->data, larger);
    if (!data)
      return;
    text->data = data;
    text->size = larger;
  }
  va_start(values, format);
  (void)vsnprintf(text->data + text->used, text->size - text->used, format, values);
  va_end(values);
  text->used += (size_t)length;
}

/* A string as JSON has it. */
static void polybuild_report_quote(struct polybuild_report_text *text, const char *string)
{
  polybuild_report_add(text, "\"");
  for (; *string; string++) {
    if (*string == '"' || *string == '\\')
      polybuild_report_add(text, "\\%c", *string);
    else if (*string > 0 && *string < ' ')
      polybuild_report_add(text, "\\u%04x", (unsigned)*string);
    else
      polybuild_report_add(text, "%c", *string);
  }
  polybuild_report_add(text, "\"");
}

/* The rank of this process in MPI, as the starters of its programs tell it; NULL outside of MPI. */
static const char *polybuild_report_rank(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",       "MV2_COMM_WORLD_RANK",
                                      "PALS_RANKID",          "FLUX_TASK_RANK", "SLURM_PROCID"};
  size_t position;
  for (position = 0; position < sizeof names / sizeof *names; position++) {
    const char *rank = getenv(names[position]);
    if (rank && *rank && strspn(rank, "0123456789") == strlen(rank))
      return rank;
  }
  return 0;
}

static int polybuild_report_callers(const struct polybuild_reported *region)
{
  unsigned long long rest;
  int count = 0;
  for (rest = region->callers; rest; rest &= rest - 1)
    count++;
  return count;
}

static const char *polybuild_report_times(unsigned long long count)
{
  return count == 1 ? "time" : "times";
}

static void polybuild_report_say(struct polybuild_report_text *text, const struct polybuild_reported *region)
{
  static const char *const words[] = {"the new loops", "the original loops", "the kernels of the device"};
  const char *rank = polybuild_report_rank();
  int version, condition, callers = polybuild_report_callers(region);
  for (version = 0; version < 3; version++) {
    const struct polybuild_ran *ran = &region->ran[version];
    const char *separator = ": ";
    if (!ran->runs)
      continue;
    polybuild_report_add(text, "polybuild: ");
    if (rank)
      polybuild_report_add(text, "rank %s: ", rank);
    polybuild_report_add(text, "%s:%d: %s ran %llu %s, %.3f ms", region->file, region->line, words[version],
                         ran->runs, polybuild_report_times(ran->runs), (double)ran->nanoseconds / 1e6);
    if (version == 0)
      polybuild_report_add(text, ", on %d thread%s", region->threads, region->threads == 1 ? "" : "s");
    if (callers > 1)
      polybuild_report_add(text, ", called by %d%s threads", callers,
                           callers == POLYBUILD_REPORT_CALLERS ? " or more" : "");
    for (condition = 0; version == 1 && condition < region->conditions; condition++) {
      const struct polybuild_condition *failed = &region->condition[condition];
      if (!failed->failed)
        continue;
      polybuild_report_add(text, "%s%s %llu %s, first at %s:%d", separator, failed->words, failed->failed,
                           polybuild_report_times(failed->failed), failed->file, failed->line);
      separator = "; ";
    }
    polybuild_report_add(text, "\n");
  }
}

static void polybuild_report_json(struct polybuild_report_text *text, const struct polybuild_reported *region)
{
  static const char *const words[] = {"new", "original", "device"};
  const char *rank = polybuild_report_rank();
  const char *separator = "";
  int position;
  polybuild_report_add(text, "{\"schema\": \"urn:polybuild:run:1\", \"file\": ");
  polybuild_report_quote(text, region->file);
  polybuild_report_add(text, ", \"line\": %d, \"end_line\": %d, \"process\": %ld, \"rank\": %s, \"callers\": %d",
                       region->line, region->end_line, polybuild_report_process(), rank ? rank : "null",
                       polybuild_report_callers(region));
  polybuild_report_add(text, ", \"threads\": %d, \"versions\": {", region->threads);
  for (position = 0; position < 3; position++)
    polybuild_report_add(text, "%s\"%s\": {\"runs\": %llu, \"seconds\": %.9f}", position ? ", " : "",
                         words[position], region->ran[position].runs,
                         (double)region->ran[position].nanoseconds / 1e9);
  polybuild_report_add(text, "}, \"failed\": [");
  for (position = 0; position < region->conditions; position++) {
    const struct polybuild_condition *failed = &region->condition[position];
    if (!failed->failed)
      continue;
    polybuild_report_add(text, "%s{\"condition\": ", separator);
    polybuild_report_quote(text, failed->words);
    polybuild_report_add(text, ", \"file\": ");
    polybuild_report_quote(text, failed->file);
    polybuild_report_add(text, ", \"line\": %d, \"runs\": %llu}", failed->line, failed->failed);
    separator = ", ";
  }
  polybuild_report_add(text, "]}\n");
}

/* Appends `text` to the file called `name`, in one piece. */
static void polybuild_report_append(const char *name, const struct polybuild_report_text *text)
{
  FILE *file = fopen(name, "a");
  if (file) {
    (void)setvbuf(file, 0, _IOFBF, text->used + 1);
    (void)fwrite(text->data, 1, text->used, file);
  }
  if (!file || fclose(file) != 0)
    fprintf(stderr, "polybuild: the report cannot be written to %s\n", name);
}

static void polybuild_report_end(void)
{
  struct polybuild_report_text said = {0, 0, 0}, json = {0, 0, 0};
  struct polybuild_reported *region, *next, *ordered = 0;
  if (polybuild_report_owner != polybuild_report_process()) /* a child of fork that ran no region */
    return;
  for (region = polybuild_report_first; region; region = next) { /* the one that ran first comes first */
    next = region->next;
    region->next = ordered;
    ordered = region;
  }
  polybuild_report_first = 0;
  for (region = ordered; region; region = region->next) {
    polybuild_report_say(&said, region);
    if (region->callers)
      polybuild_report_json(&json, region);
  }
  if (said.used && polybuild_asked("POLYBUILD_VERBOSE"))
    (void)fwrite(said.data, 1, said.used, stderr);
  if (json.used && polybuild_asked("POLYBUILD_REPORT"))
    polybuild_report_append(getenv("POLYBUILD_REPORT"), &json);
  free(said.data);
  free(json.data);
}

/* The numbers belong to this process: those of the parent are forgotten in a child of fork. */
static void polybuild_report_own(void)
{
  long process = polybuild_report_process(), owner = __atomic_load_n(&polybuild_report_owner, __ATOMIC_RELAXED);
  struct polybuild_reported *region;
  int position;
  if (owner == process || !__atomic_compare_exchange_n(&polybuild_report_owner, &owner, process, 0,
                                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    return;
  if (!owner) {
    (void)atexit(polybuild_report_end);
    return;
  }
  for (region = polybuild_report_first; region; region = region->next) {
    memset(region->ran, 0, sizeof region->ran);
    region->callers = 0;
    region->threads = 0;
    for (position = 0; position < region->conditions; position++)
      region->condition[position].failed = 0;
  }
}

static void polybuild_run_begins(struct polybuild_run *run)
{
  struct polybuild_reported *region = run->region;
  if (!polybuild_asked("POLYBUILD_VERBOSE") && !polybuild_asked("POLYBUILD_REPORT")) {
    __atomic_store_n(&polybuild_reporting, 0, __ATOMIC_RELAXED);
    return;
  }
  polybuild_report_own();
  if (!polybuild_report_thread)
    polybuild_report_thread = __atomic_add_fetch(&polybuild_report_threads, 1, __ATOMIC_RELAXED);
  if (!__atomic_exchange_n(&region->known, 1, __ATOMIC_RELAXED)) {
    region->next = __atomic_load_n(&polybuild_report_first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&polybuild_report_first, &region->next, region, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
      ;
  }
  run->began = polybuild_clock();
}

/* `version` is that of `ran` which ran; for 0 it was the original one if a condition did not hold. */
static void polybuild_run_ends(struct polybuild_run *run, int version)
{
  struct polybuild_reported *region = run->region;
  struct polybuild_ran *ran = &region->ran[version == 0 && run->failed >= 0 ? 1 : version];
  unsigned long long time = polybuild_clock() - run->began;
  int threads = 1, most = __atomic_load_n(&region->threads, __ATOMIC_RELAXED);
  if (!run->began)
    return;
#ifdef _OPENMP
  if (region->parallel && !omp_in_parallel())
    threads = omp_get_max_threads();
#endif
  __atomic_fetch_add(&ran->runs, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&ran->nanoseconds, time, __ATOMIC_RELAXED);
  __atomic_fetch_or(&region->callers, 1ULL << (polybuild_report_thread % POLYBUILD_REPORT_CALLERS),
                    __ATOMIC_RELAXED);
  if (run->failed >= 0 && version != 2)
    __atomic_fetch_add(&region->condition[run->failed].failed, 1, __ATOMIC_RELAXED);
  else if (version == 0)
    while (threads > most && !__atomic_compare_exchange_n(&region->threads, &most, threads, 0, __ATOMIC_RELAXED,
                                                          __ATOMIC_RELAXED))
      ;
}

#endif
