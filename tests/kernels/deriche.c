/* Deriche's recursive smoothing of an image, in single precision.
 *
 * The filter's impulse response is k (1 + alpha |x|) exp(-alpha |x|). It runs over
 * each row left to right and right to left, adds the two, then does the same down
 * and up each column. */
#include "driver.h"

#include <math.h>

void kernel_deriche(int height, int width, float alpha, float image[height][width],
                    float forth[height][width], float back[height][width], float smooth[height][width])
{
    const float e = expf(-alpha), e2 = expf(-2.0f * alpha);
    const float k = (1.0f - e) * (1.0f - e) / (1.0f + 2.0f * alpha * e - e2);
    const float ahead0 = k, ahead1 = k * e * (alpha - 1.0f);
    const float behind1 = k * e * (alpha + 1.0f), behind2 = -k * e2;
    const float feed1 = 2.0f * e, feed2 = -e2;

#pragma scop
    for (int i = 0; i < height; i++) {
        float x1 = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int j = 0; j < width; j++) {
            forth[i][j] = ahead0 * image[i][j] + ahead1 * x1 + feed1 * y1 + feed2 * y2;
            x1 = image[i][j];
            y2 = y1;
            y1 = forth[i][j];
        }
    }
    for (int i = 0; i < height; i++) {
        float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int j = width - 1; j >= 0; j--) {
            back[i][j] = behind1 * x1 + behind2 * x2 + feed1 * y1 + feed2 * y2;
            x2 = x1;
            x1 = image[i][j];
            y2 = y1;
            y1 = back[i][j];
        }
    }
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++)
            smooth[i][j] = forth[i][j] + back[i][j];

    for (int j = 0; j < width; j++) {
        float x1 = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int i = 0; i < height; i++) {
            forth[i][j] = ahead0 * smooth[i][j] + ahead1 * x1 + feed1 * y1 + feed2 * y2;
            x1 = smooth[i][j];
            y2 = y1;
            y1 = forth[i][j];
        }
    }
    for (int j = 0; j < width; j++) {
        float x1 = 0.0f, x2 = 0.0f, y1 = 0.0f, y2 = 0.0f;
        for (int i = height - 1; i >= 0; i--) {
            back[i][j] = behind1 * x1 + behind2 * x2 + feed1 * y1 + feed2 * y2;
            x2 = x1;
            x1 = smooth[i][j];
            y2 = y1;
            y1 = back[i][j];
        }
    }
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++)
            smooth[i][j] = forth[i][j] + back[i][j];
#pragma endscop
}

static void run(const int *size)
{
    int height = size[0], width = size[1];
    float (*image)[width] = new_floats("image", height * width);
    float (*forth)[width] = new_floats("forth", height * width);
    float (*back)[width] = new_floats("back", height * width);
    float (*smooth)[width] = new_floats("smooth", height * width);

    timer_start();
    kernel_deriche(height, width, 0.25f, image, forth, back, smooth);
    timer_stop();
}

const struct kernel kernel = {"deriche", "height width", {2160, 4096}, run};
