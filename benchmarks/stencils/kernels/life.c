/* The Game of Life on bytes: which cells live in the next generation, copied back. */
#include "driver.h"

static void kernel_life(int n, int steps, unsigned char now[restrict n][n], unsigned char next[restrict n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                int near = now[i - 1][j - 1] + now[i - 1][j] + now[i - 1][j + 1] + now[i][j - 1] + now[i][j + 1] +
                           now[i + 1][j - 1] + now[i + 1][j] + now[i + 1][j + 1];
                next[i][j] = (near == 3) | ((near == 2) & now[i][j]);
            }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                now[i][j] = next[i][j];
    }
#pragma endscop
}

static void run(const int *size)
{
    int n = size[0], steps = size[1];
    size_t bytes = (size_t)n * n;
    unsigned char(*now)[n] = (void *)new_ints("now", bytes / sizeof(int) + 1, 2);
    unsigned char(*next)[n] = (void *)new_ints("next", bytes / sizeof(int) + 1, 2);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            now[i][j] = (unsigned char)((i * 7 + j * 13 + i * j) % 5 < 2);

    timer_start();
    kernel_life(n, steps, now, next);
    timer_stop();
}

const struct kernel kernel = {"life", "n steps", {500, 50}, run};
