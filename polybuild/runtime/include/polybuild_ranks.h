/* What regions that ranks share do when they run (--distribute mpi). The text stands at the end of a file, after
   the user's own headers; what stands at its top needs none. Every rank comes through the same exchanges in
   the same order, so messages need no numbers: those between two ranks stay in their order.

   MPI is used by one thread, outside of parallel loops. A program that does not initialise MPI has it
   initialised by its first region, and finalised at its end. A rank that waits for another longer than
   POLYBUILD_RANKS_TIMEOUT seconds (600) ends the program and says for whom. */
#ifndef POLYBUILD_RANKS_H
#define POLYBUILD_RANKS_H
#include <mpi.h>
#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#define POLYBUILD_YIELD() sched_yield()
#else
#define POLYBUILD_YIELD() ((void)0)
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLYBUILD_EXPECT, POLYBUILD_COUNT, POLYBUILD_PACK, POLYBUILD_PAUSE, POLYBUILD_UNPACK, POLYBUILD_RECORD };
enum { POLYBUILD_VALUES, POLYBUILD_ASKS, POLYBUILD_ANSWERS }; /* what messages are about: their tags */
#define POLYBUILD_PATIENCE 0.01 /* seconds that a rank waits before it looks whether others ask for it */
#define POLYBUILD_SPIN 1e-5     /* seconds that it waits before it lets other processes of its core run */
#define POLYBUILD_GRACE 5.0     /* seconds in which ranks answer, or end the program */
#define POLYBUILD_FAREWELL 0.5  /* seconds from a message to the end of all ranks */
#define POLYBUILD_LARGE (1 << 20) /* bytes: what longer messages are counted in, as MPI counts with 31 bits */

struct polybuild_message {
  char *data;
  unsigned long long bytes;
  MPI_Datatype type;
  int count;
  MPI_Request request;
};

/* Values from byte `first` of an array to before `end` that are current on `owner`, and on `holders`, a bit for each
   rank. What is in no piece is current everywhere. */
struct polybuild_piece {
  unsigned long long first, end, holders;
  int owner;
};

struct polybuild_distributed_array {
  char *data;
  unsigned long long bytes;
  int uses; /* blocks that keep it distributed */
  struct polybuild_piece *pieces;
  size_t count, room, last; /* pieces, in their order; the one that was looked for last */
};

/* One for all files of the program, as arrays that stay distributed are known to all regions. */
__attribute__((weak, visibility("default"))) struct polybuild_world_1 {
  int known, rank, ranks, finalises;
  double timeout; /* seconds */
  MPI_Comm ranks_of_regions;
  MPI_Datatype large;
  const char *file; /* the region that runs */
  int line;
  unsigned long long exchanges, messages, bytes;
  struct polybuild_distributed_array *arrays; /* those that stay distributed */
  size_t distributed;                         /* how many these are */
} polybuild_world_1;
#define polybuild_world polybuild_world_1

/* Those of polybuild_device.h, in programs with kernels. */
extern void polybuild_place(int) __attribute__((weak));
extern void polybuild_fetch(const void *, size_t, size_t, size_t) __attribute__((weak));
extern void polybuild_put(const void *, size_t, size_t, size_t) __attribute__((weak));
extern void polybuild_update_host(const void *) __attribute__((weak));

static void polybuild_await(MPI_Request *, const char *, int);
static int polybuild_next_distributed(struct polybuild_exchange *);
static int polybuild_next_part(struct polybuild_exchange *);
static void polybuild_touched(struct polybuild_exchange *, const void *, unsigned long long, long long);

/* Ends all ranks with one message: `why`, and the number of rank `other` if it is one. */
static void polybuild_fail(const char *why, int other)
{
  char who[32] = "";
  double start;
  if (other >= 0)
    snprintf(who, sizeof who, " %d", other);
  fprintf(stderr, "polybuild: %s:%d: rank %d: %s%s\n", polybuild_world.file, polybuild_world.line,
          polybuild_world.rank, why, who);
  fflush(stderr);
  /* launchers that end all ranks at once may drop what they have not passed on yet */
  for (start = MPI_Wtime(); MPI_Wtime() - start < POLYBUILD_FAREWELL;)
    POLYBUILD_YIELD();
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

/* Tells those who ask that this rank has come to the region; whether `rank` said so. */
static int polybuild_answers(int rank)
{
  MPI_Status status;
  MPI_Request request;
  int flag;
  for (;;) {
    MPI_Iprobe(MPI_ANY_SOURCE, POLYBUILD_ASKS, polybuild_world.ranks_of_regions, &flag, &status);
    if (!flag)
      break;
    MPI_Recv(0, 0, MPI_BYTE, status.MPI_SOURCE, POLYBUILD_ASKS, polybuild_world.ranks_of_regions, MPI_STATUS_IGNORE);
    MPI_Isend(0, 0, MPI_BYTE, status.MPI_SOURCE, POLYBUILD_ANSWERS, polybuild_world.ranks_of_regions, &request);
    MPI_Request_free(&request);
  }
  if (rank < 0)
    return 0;
  MPI_Iprobe(rank, POLYBUILD_ANSWERS, polybuild_world.ranks_of_regions, &flag, MPI_STATUS_IGNORE);
  return flag;
}

/* Gives the ranks before this one time to say what they all found out. */
static void polybuild_leave_it_to_others(void)
{
  double start = MPI_Wtime();
  while (MPI_Wtime() - start < POLYBUILD_GRACE)
    polybuild_answers(-1);
}

/* This rank has waited too long in the region: who has not come there? All that have say so when they are asked. */
static void polybuild_name_the_missing(void)
{
  double start = MPI_Wtime();
  int ranks = polybuild_world.ranks, rank, missing = ranks - 1, before = 0;
  char *here = calloc((size_t)ranks, 1), *text = malloc((size_t)ranks * 12 + 80);
  size_t length;
  MPI_Request request;
  if (!here || !text)
    polybuild_fail("waits for other ranks to come to this region", -1);
  here[polybuild_world.rank] = 1;
  for (rank = 0; rank < ranks; rank++)
    if (!here[rank]) {
      MPI_Isend(0, 0, MPI_BYTE, rank, POLYBUILD_ASKS, polybuild_world.ranks_of_regions, &request);
      MPI_Request_free(&request);
    }
  while (missing && MPI_Wtime() - start < POLYBUILD_GRACE)
    for (rank = 0; rank < ranks; rank++)
      if (!here[rank] && polybuild_answers(rank)) {
        here[rank] = 1;
        before += rank < polybuild_world.rank;
        missing--;
      }
  if (before)
    polybuild_leave_it_to_others();
  length = (size_t)sprintf(text, "waits for other ranks to come to this region%s", missing ? ": not here is rank" : "");
  for (rank = 0; rank < ranks; rank++)
    if (!here[rank])
      length += (size_t)sprintf(text + length, " %d", rank);
  polybuild_fail(text, -1);
}

/* The ranks came with different values, of which each has a `sum`: one of them says which ranks differ. */
static void polybuild_name_the_different(long long sum)
{
  int ranks = polybuild_world.ranks, rank;
  long long *sums = malloc((size_t)ranks * sizeof *sums);
  char *text = malloc((size_t)ranks * 12 + 120);
  size_t length;
  MPI_Request request;
  if (!sums || !text)
    polybuild_fail("the ranks came to different regions, or with different sizes", -1);
  MPI_Iallgather(&sum, 1, MPI_LONG_LONG, sums, 1, MPI_LONG_LONG, polybuild_world.ranks_of_regions, &request);
  polybuild_await(&request, 0, -1);
  if (polybuild_world.rank)
    polybuild_leave_it_to_others();
  length = (size_t)sprintf(text, "the ranks came to different regions, or with different sizes: unlike rank 0 is rank");
  for (rank = 1; rank < ranks; rank++)
    if (sums[rank] != sums[0])
      length += (size_t)sprintf(text + length, " %d", rank);
  polybuild_fail(text, -1);
}

static void polybuild_leave_ranks(void)
{
  int finalized = 0;
  if (getenv("POLYBUILD_VERBOSE") && polybuild_world.ranks > 1)
    fprintf(stderr, "polybuild: rank %d of %d: %llu exchanges, sent %llu messages, %llu bytes\n", polybuild_world.rank,
            polybuild_world.ranks, polybuild_world.exchanges, polybuild_world.messages, polybuild_world.bytes);
  MPI_Finalized(&finalized);
  if (polybuild_world.finalises && !finalized) {
    MPI_Type_free(&polybuild_world.large);
    MPI_Comm_free(&polybuild_world.ranks_of_regions);
    MPI_Finalize();
  }
}

/* The processes that the launcher of another MPI started know of none but themselves, and each does all of the work.
   The first one says so. */
static void polybuild_name_the_launcher(void)
{
  int of_open_mpi = getenv("OMPI_COMM_WORLD_SIZE") != 0;
  const char *ranks = getenv(of_open_mpi ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE");
  const char *rank = getenv(of_open_mpi ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK");
  if (polybuild_world.ranks == 1 && ranks && rank && atoi(ranks) > 1 && !atoi(rank))
    fprintf(stderr, "polybuild: %s:%d: each of %s processes does all of the work: start them with the mpirun of the "
                    "MPI that the program was compiled with\n",
            polybuild_world.file, polybuild_world.line, ranks);
}

static void polybuild_join_ranks(void)
{
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized) {
    int provided;
    MPI_Init_thread(0, 0, MPI_THREAD_FUNNELED, &provided);
    polybuild_world.finalises = 1;
  }
  {
    const char *seconds = getenv("POLYBUILD_RANKS_TIMEOUT");
    polybuild_world.timeout = seconds && atof(seconds) > 0 ? atof(seconds) : 600;
  }
  MPI_Type_contiguous(POLYBUILD_LARGE, MPI_BYTE, &polybuild_world.large);
  MPI_Type_commit(&polybuild_world.large);
  MPI_Comm_dup(MPI_COMM_WORLD, &polybuild_world.ranks_of_regions);
  MPI_Comm_rank(MPI_COMM_WORLD, &polybuild_world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &polybuild_world.ranks);
  if (polybuild_place) { /* the ranks of a machine share its devices */
    MPI_Comm machine;
    int position;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &position);
    MPI_Comm_free(&machine);
    polybuild_place(position);
  }
  polybuild_world.known = 1;
  atexit(polybuild_leave_ranks);
}

/* Waits for a request; `late` says for what, NULL: for other ranks to come to this region. */
static void polybuild_await(MPI_Request *request, const char *late, int other)
{
  double start = MPI_Wtime(), later = 0.05 * polybuild_world.rank; /* so that one speaks of what stops several */
  int done = 0;
  for (;;) {
    double waits = MPI_Wtime() - start, waited = waits - (later < POLYBUILD_GRACE ? later : POLYBUILD_GRACE);
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done)
      return;
    if (waits > POLYBUILD_SPIN)
      POLYBUILD_YIELD(); /* the rank that it waits for may be one of them */
    if (waited > POLYBUILD_PATIENCE)
      polybuild_answers(-1);
    if (waited > polybuild_world.timeout && !late)
      polybuild_name_the_missing();
    if (waited > polybuild_world.timeout)
      polybuild_fail(late, other);
  }
}

#define POLYBUILD_KEPT (1 << 26) /* bytes: longer messages give their memory back */

/* Memory of messages, kept for the next exchange: pages that are new each time cost more than what is copied to them.
   There is no more of it than was in use at once. */
static struct polybuild_room {
  char *data;
  unsigned long long bytes;
  int taken;
} *polybuild_rooms;
static size_t polybuild_room_count;

/* The smallest room that is large enough, or else another one of the `bytes`, in the place of the largest that is not. */
static char *polybuild_take_room(unsigned long long bytes)
{
  struct polybuild_room *room, *best = 0;
  for (room = polybuild_rooms; room < polybuild_rooms + polybuild_room_count; room++)
    if (!room->taken
        && (!best || (best->bytes < bytes ? room->bytes > best->bytes : room->bytes >= bytes && room->bytes < best->bytes)))
      best = room;
  if (!best) {
    room = realloc(polybuild_rooms, (polybuild_room_count + 1) * sizeof *room);
    if (!room)
      polybuild_fail("there is no memory for messages", -1);
    polybuild_rooms = room;
    best = room + polybuild_room_count++;
    best->data = 0;
    best->bytes = 0;
  }
  if (best->bytes < bytes) {
    free(best->data);
    best->data = malloc(bytes);
    best->bytes = bytes;
    if (!best->data)
      polybuild_fail("there is no memory for messages", -1);
  }
  best->taken = 1;
  return best->data;
}

static void polybuild_leave_room(const char *data)
{
  struct polybuild_room *room = polybuild_rooms;
  for (; data && room < polybuild_rooms + polybuild_room_count; room++)
    if (room->data == data) {
      room->taken = 0;
      if (room->bytes > POLYBUILD_KEPT) {
        free(room->data);
        room->data = 0;
        room->bytes = 0;
      }
      return;
    }
}

/* Makes room for a message of the `bytes` that were counted. */
static void polybuild_make_room(struct polybuild_message *message, unsigned long long bytes)
{
  unsigned long long units = bytes / POLYBUILD_LARGE + 1;
  message->bytes = bytes;
  message->data = polybuild_take_room(bytes > 0x7fffffff ? units * POLYBUILD_LARGE : bytes);
  message->type = bytes > 0x7fffffff ? polybuild_world.large : MPI_BYTE;
  message->count = bytes > 0x7fffffff ? (int)units : (int)bytes;
}

static int polybuild_rank_here(void) { return polybuild_world.rank; }

/* Whether the conditions of a region hold on all ranks, which must have come with the same `values`. */
static int polybuild_agree(const char *file, int line, int holds, const long long *values, int count)
{
  long long mine[3], all[3], sum = line;
  int position, joins = !polybuild_world.known;
  MPI_Request request;
  if (joins)
    polybuild_join_ranks();
  polybuild_world.file = file;
  polybuild_world.line = line;
  if (joins)
    polybuild_name_the_launcher();
  if (polybuild_world.ranks == 1)
    return holds;
  for (position = 0; position < count; position++)
    sum = (long long)(((unsigned long long)sum * 0x9e3779b97f4a7c15ULL ^ (unsigned long long)values[position]) >> 1);
  mine[0] = holds;
  mine[1] = sum;
  mine[2] = -sum;
  MPI_Iallreduce(mine, all, 3, MPI_LONG_LONG, MPI_MIN, polybuild_world.ranks_of_regions, &request);
  polybuild_await(&request, 0, -1);
  if (all[1] != -all[2])
    polybuild_name_the_different(sum);
  if (!all[0])
    polybuild_collect_values(0); /* the original loops read and write everything */
  return (int)all[0];
}

/* The first value of the block of `rank` among those from `lowest` to `highest`; the end of the one before it. */
static long long polybuild_block(long long lowest, long long highest, int rank)
{
  long long count = highest < lowest ? 0 : highest - lowest + 1, ranks = polybuild_world.ranks;
  return lowest + count / ranks * rank + (count % ranks < rank ? count % ranks : rank);
}

#define POLYBUILD_SUMS (1 << 20) /* sums of work, at most: of more values neighbours share one */

/* How many instances values have that blocks are made of, in sums of `width` neighbours, and where blocks begin. */
static struct {
  long long lowest, width, *begins;
  unsigned long long *sums, values;
} polybuild_weights;

/* Divides the values so that the blocks of all ranks have the same work: each begins as near as can be to its share of
   all. */
static void polybuild_divide(long long lowest, long long highest)
{
  int ranks = polybuild_world.ranks, rank = 0;
  unsigned long long at, all = (unsigned long long)ranks, total = 0, before = 0;
  for (at = 0; at < polybuild_weights.values; at++)
    total += polybuild_weights.sums[at];
  for (at = 0; at < polybuild_weights.values && total; before += polybuild_weights.sums[at++])
    for (; rank < ranks; rank++) {
      unsigned long long begun = (unsigned long long)rank, sum = polybuild_weights.sums[at];
      unsigned long long share = total / all * begun + total % all * begun / all;
      double part = sum ? (double)(share - before) / (double)sum : 0;
      if (share >= before + sum)
        break;
      polybuild_weights.begins[rank] = lowest + (long long)at * polybuild_weights.width
                                    + (long long)(part * (double)polybuild_weights.width + 0.5);
    }
  for (; rank < ranks; rank++) /* nothing is to be done */
    polybuild_weights.begins[rank] = polybuild_block(lowest, highest, rank);
  polybuild_weights.begins[0] = lowest;
  polybuild_weights.begins[ranks] = highest + 1;
}

/* Whether the work of the values from `lowest` to `highest` is to be counted: the first time that it is asked, unless
   there is one rank; the second time all is counted. */
__attribute__((unused)) static int polybuild_weighs(long long lowest, long long highest)
{
  unsigned long long count = (unsigned long long)highest - (unsigned long long)lowest + 1;
  size_t ranks = (size_t)polybuild_world.ranks;
  if (ranks == 1 || highest < lowest)
    return 0;
  if (polybuild_weights.sums) {
    polybuild_divide(lowest, highest);
    free(polybuild_weights.sums);
    polybuild_weights.sums = 0;
    return 0;
  }
  polybuild_weights.lowest = lowest;
  polybuild_weights.width = (long long)((count - 1) / POLYBUILD_SUMS + 1);
  polybuild_weights.values = (count - 1) / (unsigned long long)polybuild_weights.width + 1;
  polybuild_weights.sums = calloc(polybuild_weights.values, sizeof *polybuild_weights.sums);
  if (!polybuild_weights.begins)
    polybuild_weights.begins = malloc((ranks + 1) * sizeof *polybuild_weights.begins);
  if (!polybuild_weights.sums || !polybuild_weights.begins)
    polybuild_fail("there is no memory to divide the work", -1);
  return 1;
}

__attribute__((unused)) static void polybuild_weigh(long long value, long long work)
{
  if (work > 0)
    polybuild_weights.sums[(value - polybuild_weights.lowest) / polybuild_weights.width] += (unsigned long long)work;
}

/* As polybuild_block, where the work of the values was counted. */
__attribute__((unused)) static long long polybuild_even_block(long long lowest, long long highest, int rank)
{
  if (polybuild_world.ranks == 1 || highest < lowest)
    return polybuild_block(lowest, highest, rank);
  return polybuild_weights.begins[rank];
}

/* Rows of one length and distance that a device has or is to have: copied as one. */
static struct {
  const char *low;
  size_t width, rows, pitch;
} polybuild_rows;

/* Copies these rows from the device to the host, which sends them, or back, which `received` them. */
static void polybuild_copy_rows(int received)
{
  if (polybuild_rows.rows)
    (received ? polybuild_put : polybuild_fetch)(polybuild_rows.low, polybuild_rows.width, polybuild_rows.rows,
                                                 polybuild_rows.pitch);
  polybuild_rows.rows = 0;
}

static void polybuild_add_row(const char *low, size_t width, int received)
{
  size_t rows = polybuild_rows.rows, distance = (size_t)low - (size_t)polybuild_rows.low;
  if (!polybuild_fetch)
    return;
  if (rows == 1 && low == polybuild_rows.low + polybuild_rows.width) {
    polybuild_rows.width += width; /* neighbours are one row */
    return;
  }
  if (!rows || width != polybuild_rows.width || low < polybuild_rows.low + width
      || (rows > 1 && distance != rows * polybuild_rows.pitch)) {
    polybuild_copy_rows(received);
    polybuild_rows.low = low;
    polybuild_rows.width = width;
    rows = 0;
  } else if (rows == 1)
    polybuild_rows.pitch = distance;
  polybuild_rows.rows = rows + 1;
}

/* Goes on to the next message: `elements` of it are named by calls of polybuild_send, and looked at, sent or
   received. First the sizes of what comes are counted, from all others, then what goes is packed, last what came
   is put in its place. 0: all is done, or in an exchange that pauses, all is on its way; the next call goes on. */
static int polybuild_next(struct polybuild_exchange *x)
{
  int ranks = polybuild_world.ranks, rank = polybuild_world.rank;
  struct polybuild_message *message;
  if (ranks == 1)
    return 0;
  polybuild_copy_rows(x->stage == POLYBUILD_UNPACK);
  if (x->kind == POLYBUILD_BEFORE || x->kind == POLYBUILD_ALIKE)
    return polybuild_next_distributed(x);
  if (x->kind == POLYBUILD_PARTS)
    return polybuild_next_part(x);
  if (x->stage == POLYBUILD_RECORD && ++x->from < ranks) {
    x->to = (x->from + 1) % ranks;
    return 1;
  }
  if (x->kind == POLYBUILD_AFTER && polybuild_world.distributed && !x->keeps) {
    x->keeps = x->to = 1;
    x->stage = POLYBUILD_RECORD;
    return 1;
  }
  if (!x->messages) {
    x->messages = calloc((size_t)ranks * 2, sizeof *x->messages);
    if (!x->messages)
      polybuild_fail("there is no memory for messages", -1);
    polybuild_world.exchanges++;
    x->other = 0;
    x->stage = POLYBUILD_EXPECT;
  } else if (x->stage == POLYBUILD_PAUSE) {
    x->stage = POLYBUILD_UNPACK;
  } else {
    message = x->messages + (x->stage == POLYBUILD_COUNT || x->stage == POLYBUILD_PACK ? ranks : 0) + x->other;
    if (x->stage == POLYBUILD_COUNT && x->bytes) {
      polybuild_make_room(message, x->bytes);
      x->at = message->data;
      x->stage = POLYBUILD_PACK;
      return 1;
    }
    if (x->stage == POLYBUILD_EXPECT && x->bytes) {
      polybuild_make_room(message, x->bytes);
      MPI_Irecv(message->data, message->count, message->type, x->other, POLYBUILD_VALUES, polybuild_world.ranks_of_regions,
                &message->request);
    }
    if (x->stage == POLYBUILD_PACK) {
      MPI_Isend(message->data, message->count, message->type, x->other, POLYBUILD_VALUES, polybuild_world.ranks_of_regions,
                &message->request);
      polybuild_world.messages++;
      polybuild_world.bytes += message->bytes;
      x->stage = POLYBUILD_COUNT;
    }
    x->other++;
  }
  for (;;) {
    if (x->other == rank)
      x->other++;
    if (x->other >= ranks) {
      x->other = rank == 0;
      if (x->stage == POLYBUILD_UNPACK)
        break;
      x->stage = x->stage == POLYBUILD_EXPECT ? POLYBUILD_COUNT : x->pauses ? POLYBUILD_PAUSE : POLYBUILD_UNPACK;
    }
    if (x->stage == POLYBUILD_PAUSE)
      return 0;
    x->bytes = 0;
    x->from = x->stage == POLYBUILD_COUNT ? rank : x->other;
    x->to = x->stage == POLYBUILD_COUNT ? x->other : rank;
    if (x->stage != POLYBUILD_UNPACK)
      return 1;
    message = x->messages + x->other;
    if (message->bytes) {
      polybuild_await(&message->request, "waits for values of rank", x->other);
      x->at = message->data;
      return 1;
    }
    x->other++;
  }
  for (message = x->messages; message < x->messages + 2 * ranks; message++) {
    if (message >= x->messages + ranks && message->bytes)
      polybuild_await(&message->request, "sends values to rank", (int)(message - x->messages) - ranks);
    polybuild_leave_room(message->data);
  }
  free(x->messages);
  x->messages = 0;
  return 0;
}

/* `count` elements of `size` bytes, one beside the other from `elements` on, are part of the message. After a region
   those of arrays that stay distributed stay where they are. */
static void polybuild_send(struct polybuild_exchange *x, void *elements, unsigned long long size, long long count)
{
  unsigned long long bytes = count > 0 ? size * (unsigned long long)count : 0;
  char *begin = elements, *end = begin + bytes;
  size_t number;
  if (!bytes)
    return;
  if (x->stage == POLYBUILD_RECORD) {
    polybuild_touched(x, elements, size, count);
    return;
  }
  for (number = 0; x->keeps && number < polybuild_world.distributed; number++) {
    struct polybuild_distributed_array *array = polybuild_world.arrays + number;
    char *limit = array->data + array->bytes;
    if (begin < limit && array->data < end) {
      polybuild_send(x, begin, 1, array->data - begin);
      polybuild_send(x, limit, 1, end - limit);
      return;
    }
  }
  if (x->stage == POLYBUILD_COUNT || x->stage == POLYBUILD_UNPACK)
    polybuild_add_row(elements, bytes, x->stage == POLYBUILD_UNPACK);
  if (x->stage == POLYBUILD_EXPECT || x->stage == POLYBUILD_COUNT) {
    x->bytes += bytes;
    return;
  }
  if (x->stage == POLYBUILD_PACK)
    memcpy(x->at, elements, bytes);
  else
    memcpy(elements, x->at, bytes);
  x->at += bytes;
}

/* Goes on with what ranks accumulate together: the parts of this rank are counted, then packed; then polybuild_part
   hands out those of each rank in their order, so that all combine them alike. */
static int polybuild_next_part(struct polybuild_exchange *x)
{
  struct polybuild_message *mine;
  unsigned long long size;
  int ranks = polybuild_world.ranks;
  if (!x->messages) {
    x->messages = calloc(2, sizeof *x->messages); /* of this rank, and of all */
    if (!x->messages)
      polybuild_fail("there is no memory for messages", -1);
    polybuild_world.exchanges++;
    x->stage = POLYBUILD_COUNT;
    return 1;
  }
  mine = x->messages;
  if (x->stage == POLYBUILD_COUNT && x->bytes) {
    polybuild_make_room(mine, x->bytes);
    x->at = mine->data;
    x->stage = POLYBUILD_PACK;
    return 1;
  }
  if (x->stage == POLYBUILD_PACK) {
    size = mine->type == MPI_BYTE ? mine->bytes : (unsigned long long)mine->count * POLYBUILD_LARGE;
    x->messages[1].data = polybuild_take_room(size * (unsigned long long)ranks);
    MPI_Iallgather(mine->data, mine->count, mine->type, x->messages[1].data, mine->count, mine->type,
                   polybuild_world.ranks_of_regions, &mine->request);
    polybuild_await(&mine->request, 0, -1);
    polybuild_world.messages += (unsigned long long)ranks - 1;
    polybuild_world.bytes += mine->bytes * ((unsigned long long)ranks - 1);
    x->stage = POLYBUILD_UNPACK;
    x->from = -1;
  }
  if (x->stage == POLYBUILD_UNPACK && ++x->from < ranks) {
    size = mine->type == MPI_BYTE ? mine->bytes : (unsigned long long)mine->count * POLYBUILD_LARGE;
    x->at = x->messages[1].data + size * (unsigned long long)x->from;
    return 1;
  }
  polybuild_leave_room(x->messages[1].data);
  polybuild_leave_room(mine->data);
  free(x->messages);
  x->messages = 0;
  return 0;
}

/* One element that ranks accumulate in together: whether it is to be combined with the part of a rank, put in `part`. */
__attribute__((unused)) static int polybuild_part(struct polybuild_exchange *x, void *element, void *part,
                                                  unsigned long long size)
{
  if (x->stage == POLYBUILD_COUNT) {
    x->bytes += size;
    return 0;
  }
  memcpy(x->stage == POLYBUILD_PACK ? x->at : x->from ? part : element, x->stage == POLYBUILD_PACK ? element : x->at,
         size);
  x->at += size;
  return x->stage == POLYBUILD_UNPACK && x->from;
}
#endif
