/* advance.c - upwind transport and diffusion of heat, nstep steps */
#include "field.h"

void advance(void)
{
    int i, j, n;
    double fx, fy;

#pragma scop
    for (n = 0; n < nstep; n++) {
        for (j = 1; j < NY - 1; j++)
            for (i = 1; i < NX - 1; i++) {
                if (U(i, j) > 0.0)
                    fx = U(i, j) * (T(i, j) - T(i - 1, j));
                else
                    fx = U(i, j) * (T(i + 1, j) - T(i, j));
                if (V(i, j) > 0.0)
                    fy = V(i, j) * (T(i, j) - T(i, j - 1));
                else
                    fy = V(i, j) * (T(i, j + 1) - T(i, j));
                TN(i, j) = T(i, j) - dt * (fx + fy)
                         + kappa * (T(i + 1, j) + T(i - 1, j) + T(i, j + 1) + T(i, j - 1) - 4.0 * T(i, j));
            }
        for (j = 1; j < NY - 1; j++)
            for (i = 1; i < NX - 1; i++)
                T(i, j) = TN(i, j);
    }
#pragma endscop
}
