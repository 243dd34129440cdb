/* Arrays that stay distributed (#pragma polybuild distributed), after polybuild_ranks.h: between
   polybuild_distribute and polybuild_release_ranks the elements of an array are current on the rank that computed
   them, and on those that read them since. Each rank knows of all elements who that is: regions tell what each
   rank writes, and what it reads, as functions of its block. So whoever reads something is sent it without having
   asked (Kwon, Jafri, Kim, Eigenmann, PPoPP 2012: "A hybrid approach of OpenMP for clusters"). */
#ifndef POLYBUILD_DISTRIBUTED_H
#define POLYBUILD_DISTRIBUTED_H

#define POLYBUILD_HOLDERS 64 /* ranks that may hold what another computed; others are sent it each time */
#define POLYBUILD_LONGEST (1 << 30) /* bytes: MPI counts those of a block with 31 bits */

/* The blocks of memory that are one message. */
struct polybuild_list {
  MPI_Aint *at;
  int *bytes, count, room;
  unsigned long long sum;
  MPI_Datatype type;
  MPI_Request request;
};

static void *polybuild_more(void *memory, size_t count, size_t size)
{
  memory = realloc(memory, count * size);
  if (!memory)
    polybuild_fail("there is no memory to keep arrays distributed", -1);
  return memory;
}

/* The first piece that ends after byte `at`. */
static size_t polybuild_piece_at(struct polybuild_distributed_array *array, unsigned long long at)
{
  size_t low = 0, high = array->count, near = array->last;
  for (; near < array->count && near <= array->last + 1; near++)
    if (array->pieces[near].end > at && (!near || array->pieces[near - 1].end <= at))
      return array->last = near;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (array->pieces[middle].end > at)
      high = middle;
    else
      low = middle + 1;
  }
  return array->last = low;
}

/* Puts `added` pieces in the place of `removed` ones. */
static struct polybuild_piece *polybuild_replace(struct polybuild_distributed_array *array, size_t at, size_t removed,
                                                 size_t added)
{
  size_t count = array->count - removed + added;
  if (count > array->room) {
    array->room = 2 * count;
    array->pieces = polybuild_more(array->pieces, array->room, sizeof *array->pieces);
  }
  if (at + removed < array->count)
    memmove(array->pieces + at + added, array->pieces + at + removed,
            (array->count - at - removed) * sizeof *array->pieces);
  array->count = count;
  return array->pieces + at;
}

/* Where the pieces from byte `at` on begin, one of which is cut there if need be. */
static size_t polybuild_cut(struct polybuild_distributed_array *array, unsigned long long at)
{
  size_t where = polybuild_piece_at(array, at);
  if (where < array->count && array->pieces[where].first < at) {
    struct polybuild_piece *piece = polybuild_replace(array, where, 0, 1);
    piece[0].end = at; /* what stood there was moved by one, and is still here */
    piece[1].first = at;
    where++;
  }
  return where;
}

/* `owner` wrote these bytes; -1: all ranks did. */
static void polybuild_owned(struct polybuild_distributed_array *array, unsigned long long first,
                            unsigned long long end, int owner)
{
  size_t from = polybuild_piece_at(array, first), to = from;
  struct polybuild_piece *piece = array->pieces + from;
  if (from < array->count && piece->first <= first && piece->end >= end && piece->owner == owner && !piece->holders)
    return;
  from = polybuild_cut(array, first);
  to = polybuild_cut(array, end);
  if (owner < 0) {
    polybuild_replace(array, from, to - from, 0);
    return;
  }
  piece = from ? array->pieces + from - 1 : 0;
  if (piece && piece->end == first && piece->owner == owner && !piece->holders) {
    piece->end = end;
    polybuild_replace(array, from, to - from, 0);
    return;
  }
  piece = polybuild_replace(array, from, to - from, 1);
  piece->first = first;
  piece->end = end;
  piece->holders = 0;
  piece->owner = owner;
}

static void polybuild_enlist(struct polybuild_list *list, char *data, unsigned long long bytes)
{
  for (; bytes; list->count++) {
    int part = bytes > POLYBUILD_LONGEST ? POLYBUILD_LONGEST : (int)bytes;
    if (list->count == list->room) {
      list->room = 2 * list->room + 16;
      list->at = polybuild_more(list->at, (size_t)list->room, sizeof *list->at);
      list->bytes = polybuild_more(list->bytes, (size_t)list->room, sizeof *list->bytes);
    }
    MPI_Get_address(data, list->at + list->count);
    list->bytes[list->count] = part;
    list->sum += (unsigned long long)part;
    data += part;
    bytes -= (unsigned long long)part;
  }
}

/* Rank `to` reads these bytes: what it has not is sent to it. `lists`: from each rank, and to each. */
static void polybuild_needed(struct polybuild_distributed_array *array, unsigned long long first,
                             unsigned long long end, int to, struct polybuild_list *lists)
{
  unsigned long long bit = to < POLYBUILD_HOLDERS ? 1ULL << to : 0;
  size_t at = polybuild_piece_at(array, first);
  for (; at < array->count && array->pieces[at].first < end; at++) {
    struct polybuild_piece *piece = array->pieces + at;
    if (piece->owner == to || piece->holders & bit)
      continue;
    if (piece->first < first) {
      at = polybuild_cut(array, first);
      piece = array->pieces + at;
    }
    if (piece->end > end) {
      at = polybuild_cut(array, end) - 1;
      piece = array->pieces + at;
    }
    piece->holders |= bit;
    if (to == polybuild_world.rank)
      polybuild_enlist(lists + piece->owner, array->data + piece->first, piece->end - piece->first);
    else if (piece->owner == polybuild_world.rank)
      polybuild_enlist(lists + polybuild_world.ranks + to, array->data + piece->first, piece->end - piece->first);
  }
}

static struct polybuild_list *polybuild_new_lists(void)
{
  struct polybuild_list *lists = polybuild_more(0, (size_t)polybuild_world.ranks * 2, sizeof *lists);
  memset(lists, 0, (size_t)polybuild_world.ranks * 2 * sizeof *lists);
  return lists;
}

/* What a device has of a message, or is to have of one that was `received`. */
static void polybuild_copy_list(const struct polybuild_list *list, int received)
{
  int number;
  for (number = 0; number < list->count; number++)
    polybuild_add_row((const char *)(size_t)list->at[number], (size_t)list->bytes[number], received);
  polybuild_copy_rows(received);
}

/* Sends and receives all messages, from memory to memory. */
static void polybuild_transfer(struct polybuild_list *lists)
{
  int ranks = polybuild_world.ranks, number;
  struct polybuild_list *list;
  for (number = 0; number < 2 * ranks; number++) {
    list = lists + number;
    if (!list->count)
      continue;
    MPI_Type_create_hindexed(list->count, list->bytes, list->at, MPI_BYTE, &list->type);
    MPI_Type_commit(&list->type);
    if (number < ranks)
      MPI_Irecv(MPI_BOTTOM, 1, list->type, number, POLYBUILD_VALUES, polybuild_world.ranks_of_regions, &list->request);
    else {
      polybuild_copy_list(list, 0);
      MPI_Isend(MPI_BOTTOM, 1, list->type, number - ranks, POLYBUILD_VALUES, polybuild_world.ranks_of_regions, &list->request);
      polybuild_world.messages++;
      polybuild_world.bytes += list->sum;
    }
  }
  for (number = 0; number < 2 * ranks; number++) {
    list = lists + number;
    if (list->count) {
      polybuild_await(&list->request, number < ranks ? "waits for values of rank" : "sends values to rank",
                      number % ranks);
      MPI_Type_free(&list->type);
      if (number < ranks)
        polybuild_copy_list(list, 1);
    }
    free(list->at);
    free(list->bytes);
  }
  free(lists);
}

/* Makes the array whole on every rank: NULL, all of them. */
__attribute__((weak, visibility("default"))) void polybuild_collect_values(const void *data)
{
  struct polybuild_list *lists = 0;
  size_t number;
  int to;
  for (number = 0; number < polybuild_world.distributed; number++) {
    struct polybuild_distributed_array *array = polybuild_world.arrays + number;
    if (!array->count || (data && ((const char *)data < array->data || (const char *)data >= array->data + array->bytes)))
      continue;
    if (!lists)
      lists = polybuild_new_lists();
    for (to = 0; to < polybuild_world.ranks; to++)
      polybuild_needed(array, 0, array->bytes, to, lists);
    array->count = 0;
  }
  if (lists)
    polybuild_transfer(lists);
  if (polybuild_world.distributed && polybuild_update_host)
    polybuild_update_host(data);
}

/* A block begins in which the `bytes` at `data` stay where they are computed. Where regions check themselves they are
   made whole after each: the original loops read all of them. */
__attribute__((unused)) static void polybuild_distribute(const void *data, unsigned long long bytes)
{
  char *begin = (char *)(size_t)data; /* regions wrote to it, or nothing will be sent */
  const char *checks = getenv("POLYBUILD_VERIFY");
  struct polybuild_distributed_array *array = polybuild_world.arrays;
  size_t number;
  if (!bytes || (checks && *checks && *checks != '0'))
    return;
  for (number = 0; number < polybuild_world.distributed; number++, array++) {
    if (array->data == begin)
      array->uses++;
    if (array->data < begin + bytes && begin < array->data + array->bytes)
      return; /* what is in none is sent after each region, which is always right */
  }
  polybuild_world.arrays = polybuild_more(polybuild_world.arrays, number + 1, sizeof *array);
  array = polybuild_world.arrays + polybuild_world.distributed++;
  memset(array, 0, sizeof *array);
  array->data = begin;
  array->bytes = bytes;
  array->uses = 1;
}

__attribute__((unused)) static void polybuild_release_ranks(const void *data)
{
  struct polybuild_distributed_array *array = polybuild_world.arrays;
  size_t number;
  for (number = 0; number < polybuild_world.distributed; number++, array++)
    if (array->data == (const char *)data && !--array->uses) {
      polybuild_collect_values(data);
      free(array->pieces);
      *array = polybuild_world.arrays[--polybuild_world.distributed];
      return;
    }
}

/* Goes on to the next rank, of which polybuild_want tells what it reads, or where all wrote the same what that is. */
static int polybuild_next_distributed(struct polybuild_exchange *x)
{
  if (!polybuild_world.distributed)
    return 0;
  if (x->kind == POLYBUILD_ALIKE)
    return !x->stage++;
  if (!x->lists) {
    x->lists = polybuild_new_lists();
    polybuild_world.exchanges++;
    return 1;
  }
  if (++x->to < polybuild_world.ranks)
    return 1;
  polybuild_transfer(x->lists);
  x->lists = 0;
  return 0;
}

/* What rank `x->to` reads of `count` elements of `size` bytes, one beside the other from `elements` on; or these were
   written by rank `x->from`, or by all. */
static void polybuild_touched(struct polybuild_exchange *x, const void *elements, unsigned long long size,
                              long long count)
{
  const char *begin = elements, *end = begin + (count > 0 ? size * (unsigned long long)count : 0);
  struct polybuild_distributed_array *array = polybuild_world.arrays;
  for (; array < polybuild_world.arrays + polybuild_world.distributed; array++) {
    const char *limit = array->data + array->bytes;
    unsigned long long from = begin > array->data ? (unsigned long long)(begin - array->data) : 0;
    unsigned long long to = end < limit ? (unsigned long long)(end - array->data) : array->bytes;
    if (end <= array->data || begin >= limit || begin >= end)
      continue;
    if (x->kind == POLYBUILD_BEFORE)
      polybuild_needed(array, from, to, x->to, x->lists);
    else
      polybuild_owned(array, from, to, x->kind == POLYBUILD_ALIKE ? -1 : x->from);
  }
}

/* Rank `x->to` may read any element of the array that has `element`: if none is known to have it, of any. */
__attribute__((unused)) static void polybuild_want_all(struct polybuild_exchange *x, const void *element)
{
  const char *at = element;
  size_t number, others = 0;
  for (number = 0; number < polybuild_world.distributed; number++) {
    struct polybuild_distributed_array *array = polybuild_world.arrays + number;
    if (at >= array->data && at < array->data + array->bytes)
      polybuild_needed(array, 0, array->bytes, x->to, x->lists);
    else
      others++;
  }
  for (number = 0; others == polybuild_world.distributed && number < others; number++)
    polybuild_needed(polybuild_world.arrays + number, 0, polybuild_world.arrays[number].bytes, x->to, x->lists);
}
#endif
