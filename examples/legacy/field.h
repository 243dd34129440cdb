/* field.h - shared state of the transport code */
#ifndef FIELD_H
#define FIELD_H

#define NX 1200
#define NY 900
#define IDX(i, j) ((j) * NX + (i))
#define T(i, j) temp[IDX(i, j)]
#define TN(i, j) tnew[IDX(i, j)]
#define U(i, j) velx[IDX(i, j)]
#define V(i, j) vely[IDX(i, j)]

extern double temp[], tnew[], velx[], vely[];
extern double dt, kappa;
extern int nstep;

void init(void);
void advance(void);
void output(char *name);

#endif
