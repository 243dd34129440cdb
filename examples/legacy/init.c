/* init.c - initial and boundary values */
#include <math.h>
#include "field.h"

double temp[NX * NY], tnew[NX * NY], velx[NX * NY], vely[NX * NY];
double dt = 0.2, kappa = 0.05;
int nstep = 150;

void init(void)
{
    int i, j;

    for (j = 0; j < NY; j++)
        for (i = 0; i < NX; i++) {
            double x = (double)i / NX, y = (double)j / NY;

            U(i, j) = sin(3.0 * 3.14159265 * x) * cos(2.0 * 3.14159265 * y);
            V(i, j) = -cos(3.0 * 3.14159265 * x) * sin(2.0 * 3.14159265 * y);
            T(i, j) = ((i / 75) + (j / 75)) % 2 ? 1.0 : 0.0;
        }
}
