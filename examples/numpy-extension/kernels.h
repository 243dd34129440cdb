#ifndef KERNELS_H
#define KERNELS_H

/* The squared distance of each of n points from the nearest of m centres, in d dimensions. */
void nearest(int n, int m, int d, const double *restrict points, const double *restrict centres,
             double *restrict distance);

/* Each inner point of an n by m grid becomes the mean of its four neighbours, so many times; next is scratch. */
void smooth(int n, int m, double *restrict grid, double *restrict next, int sweeps);

#endif
