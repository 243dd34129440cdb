#define WITH_SPACE
