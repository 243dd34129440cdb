#include "lib/fill.h"

long more(long x) { return x + 1; }
