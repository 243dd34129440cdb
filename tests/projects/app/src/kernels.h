void fill(int n, long a[n][n], long b[n]);
