void smooth(int n, int steps, double *restrict a, double *restrict b);
