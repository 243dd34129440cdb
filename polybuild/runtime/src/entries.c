/* One runtime for a process.
 *
 * The runtime is linked into each program and library that needs it, so a process may have several copies
 * of it. Devices, resident arrays and counters have to be the same for all of them: every copy passes its
 * calls on to the first one of its version. Where that is each finds out by itself: a copy has a note
 * (as of ELF) in the object that it is linked into, and the loader knows all objects, in the order in
 * which they came. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "entries.h"

struct pb_entries {
#define VALUE(result, name, parameters, arguments) result(*name) parameters;
#define NOTHING(name, parameters, arguments) void(*name) parameters;
    PB_ENTRIES(VALUE, NOTHING)
#undef VALUE
#undef NOTHING
};

extern PB_PRIVATE const struct pb_entries pb_own_entries;
PB_USED const struct pb_entries pb_own_entries = {
#define VALUE(result, name, parameters, arguments) pb_##name,
#define NOTHING(name, parameters, arguments) pb_##name,
    PB_ENTRIES(VALUE, NOTHING)
#undef VALUE
#undef NOTHING
};

static const struct pb_entries *chosen = &pb_own_entries;

#if defined(__ELF__) && defined(__GNUC__)
#include <link.h>

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)
/* The note: sizes of its name and of what it says, its type, its name, and how far it is to the entries. */
__asm__(".pushsection .note.polybuild, \"a\", %note\n"
        ".balign 4\n"
        ".long 10\n.long 4\n.long " TEXT(POLYBUILD_DEVICE_VERSION) "\n"
        ".asciz \"polybuild\"\n.balign 4\n"
        ".long pb_own_entries - .\n"
        ".popsection\n");

static const char NOTE[12] = "polybuild";
struct copy { /* of the runtime, and the name of the object that it is in; empty: the program */
    const struct pb_entries *entries;
    char object[4096];
};
struct copies {
    struct copy first, own;
};

/* The entries of the copy with a note among the `bytes` bytes of notes at `at`; NULL if there is none. */
static const struct pb_entries *entries_in(const char *at, size_t bytes, size_t alignment) {
    struct {
        uint32_t name_size, size, type;
    } head;
    while (bytes >= sizeof head) {
        memcpy(&head, at, sizeof head);
        size_t name = (head.name_size + 3u) & ~(size_t)3;
        size_t all = sizeof head + name + ((head.size + alignment - 1) & ~(alignment - 1));
        if (all > bytes)
            break;
        const char *content = at + sizeof head + name;
        if (head.type == POLYBUILD_DEVICE_VERSION && name == sizeof NOTE && head.size == 4 &&
            memcmp(at + sizeof head, NOTE, head.name_size) == 0) {
            int32_t distance;
            memcpy(&distance, content, sizeof distance);
            return (const struct pb_entries *)(const void *)(content + distance);
        }
        at += all;
        bytes -= all;
    }
    return NULL;
}

static int look(struct dl_phdr_info *object, size_t size, void *data) {
    struct copies *copies = data;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const char *notes = (const char *)(uintptr_t)(object->dlpi_addr + part->p_vaddr);
        const struct pb_entries *entries = entries_in(notes, part->p_memsz, part->p_align == 8 ? 8 : 4);
        struct copy *places[] = {copies->first.entries ? NULL : &copies->first,
                                 entries == &pb_own_entries ? &copies->own : NULL};
        for (int k = 0; k < 2 && entries; k++) {
            if (places[k]) {
                places[k]->entries = entries;
                snprintf(places[k]->object, sizeof places[k]->object, "%s", object->dlpi_name);
            }
        }
    }
    return 0;
}

/* Keeps an object loaded: others know of what is in it from now on. */
static void pin(const struct copy *copy) {
    if (copy->entries && *copy->object)
        (void)dlopen(copy->object, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void choose(void) {
    static struct copies copies;
    (void)dl_iterate_phdr(look, &copies);
    pin(&copies.own);
    pin(&copies.first);
    if (copies.own.entries && copies.first.entries)
        chosen = copies.first.entries;
}
#else
static void choose(void) {}
#endif

static const struct pb_entries *entries(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
    return chosen;
}

#define VALUE(result, name, parameters, arguments)                                                                     \
    result polybuild_##name parameters { return entries()->name arguments; }
#define NOTHING(name, parameters, arguments)                                                                           \
    void polybuild_##name parameters { entries()->name arguments; }
PB_ENTRIES(VALUE, NOTHING)
