/* Histograms of oriented gradients: of each cell, by direction. */
#include "driver.h"

static void kernel_hog(int cells, const int *restrict start, const int *restrict bin, const double *restrict size,
                       double (*restrict h)[9])
{
#pragma scop
    for (int c = 0; c < cells; c++) {
        for (int b = 0; b < 9; b++)
            h[c][b] = 0;
        for (int p = start[c]; p < start[c + 1]; p++)
            h[c][bin[p]] += size[p];
    }
#pragma endscop
}

static void run(const int *size)
{
    int cells = size[0], mean = size[1], all = 0;
    int *start = new_ints("start", cells + 1, 2 * mean + 1);
    for (int i = 0; i <= cells; i++) {
        int length = start[i];
        start[i] = all;
        all += length;
    }
    all = start[cells];
    int *bin = new_ints("bin", all, 9);
    double *magnitude = new_doubles("size", all), (*h)[9] = new_doubles("h", (size_t)cells * 9);

    do {
        timer_start();
        kernel_hog(cells, start, bin, magnitude, h);
        timer_stop();
    } while (timer_again());
}

const struct kernel kernel = {"hog", "cells mean", {100000, 64}, run};
