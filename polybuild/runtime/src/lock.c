/* The one lock of the runtime. */
#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void pb_lock(void) { pthread_mutex_lock(&lock); }

void pb_unlock(void) { pthread_mutex_unlock(&lock); }
