/* Multiresolution analysis: each row A[r][q] of a cube is replaced by its product with W. */
#include "driver.h"

static void kernel_doitgen(int nr, int nq, int np, double *cube, double *matrix, double *row)
{
    double (*A)[nq][np] = (double (*)[nq][np])cube;
    double (*W)[np] = (double (*)[np])matrix;

#pragma scop
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                row[p] = 0.0;
                for (int s = 0; s < np; s++)
                    row[p] += A[r][q][s] * W[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = row[p];
        }
#pragma endscop
}

static void run(const int *size)
{
    int nr = size[0], nq = size[1], np = size[2];
    double *A = new_doubles("A", nr * nq * np);
    double *W = new_doubles("W", np * np);
    double *row = new_doubles("row", np);

    timer_start();
    kernel_doitgen(nr, nq, np, A, W, row);
    timer_stop();
}

const struct kernel kernel = {"doitgen", "nr nq np", {150, 140, 160}, run};
