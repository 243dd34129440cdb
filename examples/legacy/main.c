/* main.c - driver */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "field.h"

void output(char *name)
{
    FILE *fp = fopen(name, "wb");
    int k;

    if (fp == NULL) {
        perror(name);
        exit(1);
    }
    fprintf(fp, "P5 %d %d 255\n", NX, NY);
    for (k = 0; k < NX * NY; k++) {
        double v = temp[k] < 0.0 ? 0.0 : temp[k] > 1.0 ? 1.0 : temp[k];
        putc((int)(255.0 * v), fp);
    }
    fclose(fp);
}

int main(int argc, char **argv)
{
    struct timespec t0, t1;

    init();
    timespec_get(&t0, TIME_UTC);
    advance();
    timespec_get(&t1, TIME_UTC);
    printf("seconds %.6f\n", (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec));
    output(argc > 1 ? argv[1] : "field.pgm");
    return 0;
}
