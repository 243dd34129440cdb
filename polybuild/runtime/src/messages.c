/* Messages on standard error, and the clock. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "internal.h"

void pb_say(const polybuild_region *region, const char *format, ...) {
    char text[1024];
    int used = region ? snprintf(text, sizeof text, "polybuild: %s:%d: ", region->file, region->line)
                      : snprintf(text, sizeof text, "polybuild: ");
    size_t length = used < 0 ? 0 : (size_t)used < sizeof text ? (size_t)used : sizeof text - 1;
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text + length, sizeof text - length, format, values);
    va_end(values);
    fprintf(stderr, "%s\n", text); /* one call: lines of several threads do not mix */
}

unsigned long long pb_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long long)time.tv_sec * 1000000000ULL + (unsigned long long)time.tv_nsec;
}
