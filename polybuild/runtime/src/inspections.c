/* What looks at data found, as long as the data are the same (see polybuild_recall). */
#include <stdlib.h>
#include <string.h>

#include "entries.h"

/* What one loop found: for boxes with these stamps, and values of which `keys` are what it depends on. */
struct inspection {
    struct inspection *next;
    int number, uses, keys, count;
    struct {
        polybuild_box box;
        unsigned long long stamp;
    } *read;
    long long *values;
};

static bool same_box(const polybuild_box *one, const polybuild_box *other) {
    return one->low == other->low && one->width == other->width && one->rows == other->rows &&
           one->row_pitch == other->row_pitch && one->planes == other->planes &&
           one->plane_pitch == other->plane_pitch;
}

static struct inspection *find(const polybuild_region *region, int number) {
    struct inspection *found = region->seen;
    while (found && found->number != number)
        found = found->next;
    return found;
}

/* Whether nothing has changed since; what reads no byte of an array does not depend on it. */
static bool holds(const struct inspection *known, const polybuild_use *uses, int use_count, const long long *values,
                  int keys, int count) {
    if (known->uses != use_count || known->keys != keys || known->count != count ||
        memcmp(known->values, values, (size_t)keys * sizeof *values) != 0)
        return false;
    for (int i = 0; i < use_count; i++)
        if (!same_box(&known->read[i].box, uses[i].box) ||
            (uses[i].box->width && known->read[i].stamp != pb_resident_stamp(uses[i].box)))
            return false;
    return true;
}

int pb_recall(polybuild_region *region, int number, const polybuild_use *uses, int use_count, long long *values,
              int keys, int count) {
    pb_lock();
    const struct inspection *known = find(region, number);
    bool held = known && holds(known, uses, use_count, values, keys, count);
    for (int i = keys; held && i < count; i++)
        values[i] = known->values[i];
    pb_unlock();
    return held;
}

/* Memory for what is found by loop `number`, in place of what was found before; NULL: none. */
static struct inspection *renew(polybuild_region *region, int number, int use_count, int count) {
    struct inspection *made = find(region, number);
    if (!made) {
        made = calloc(1, sizeof *made);
        if (!made)
            return NULL;
        made->number = number;
        made->next = region->seen;
        region->seen = made;
    }
    free(made->read);
    free(made->values);
    made->read = calloc((size_t)use_count + 1, sizeof *made->read);
    made->values = calloc((size_t)count + 1, sizeof *made->values);
    made->count = -1; /* matches nothing */
    return made->read && made->values ? made : NULL;
}

void pb_remember(polybuild_region *region, int number, const polybuild_use *uses, int use_count,
                 const long long *values, int keys, int count) {
    pb_lock();
    bool known = true;
    for (int i = 0; i < use_count; i++)
        known = known && (!uses[i].box->width || pb_resident_stamp(uses[i].box));
    const struct inspection *before = find(region, number);
    bool held = before && holds(before, uses, use_count, values, keys, count);
    struct inspection *made = known && !held ? renew(region, number, use_count, count) : NULL;
    if (made) {
        for (int i = 0; i < use_count; i++) {
            made->read[i].box = *uses[i].box;
            made->read[i].stamp = uses[i].box->width ? pb_resident_stamp(uses[i].box) : 0;
        }
        memcpy(made->values, values, (size_t)count * sizeof *values);
        made->uses = use_count;
        made->keys = keys;
        made->count = count;
    }
    pb_unlock();
}
