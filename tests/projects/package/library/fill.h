void fill(int n, long a[n]);
