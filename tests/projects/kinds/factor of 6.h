#define FACTOR 6
