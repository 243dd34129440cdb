#ifndef PICTURE_H
#define PICTURE_H

/* Write the temperature u, n by n values from 0 to 1, as a picture of at most
   512 by 512 points in PPM format. Returns 0 if the file cannot be written. */
int write_picture(const char *name, int n, double u[n][n]);

#endif
