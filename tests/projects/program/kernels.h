#define FACTOR 2
void fill(int n, long a[n]);
