"""Steps over time of every kind, as solvers have them: tiles over time, equal to the bit."""

from __future__ import annotations

import pytest
from step_programs import Grids, run_steps

GRIDS = Grids(
    """
#include <string.h>
#define EACH for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
#define ALL for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
#define MEAN(p) (0.2 * (p[i][j] + p[i][j - 1] + p[i][j + 1] + p[i - 1][j] + p[i + 1][j]))
""",
    "int steps, int h, int w, double u[4][h][w], double v[restrict h][w], double p[restrict h][w]",
    "h * w",
)
FORMS = {
    "neighbours in loops": """
for (int t = 0; t < steps; t++) {
  EACH {
    double s = 0;
    for (int x = -1; x <= 1; x++) for (int y = -1; y <= 1; y++) s += u[0][0][4 + x + y] * p[i + x][j + y];
    v[i][j] = s;
  }
  EACH p[i][j] = v[i][j];
}""",
    "neighbours in loops, and the point itself": """
for (int t = 0; t < steps; t++) {
  EACH {
    float s = -p[i][j];
    for (int x = -1; x <= 1; x++) for (int y = -1; y < 2; ++y) {
      if (x == 0 && y == 0) continue;
      int up = i + x, left = j + y;
      s += 0.1 * p[up][left];
    }
    v[i][j] = p[i][j] + s;
  }
  EACH p[i][j] = v[i][j];
}""",
    "several sums over neighbours": """
for (int t = 0; t < steps; t++) EACH {
  double up, most = 0, s;
  up = 0.5 * p[i][j];
  s = 1;
  for (int x = 1; x >= -1; x--) {
    up = up + u[t % 2][i + x][j] * x;
    s *= u[t % 2][i][j + x];
    most = u[t % 2][i + x][j + x] - most;
  }
  u[(t + 1) % 2][i][j] = 0.1 * up + 1 / (1 + s * s) + most;
}""",
    "a row of neighbours, farther apart": """
for (int t = 0; t < steps; t++) for (int i = 2; i < h - 2; i++) for (int j = 2; j < w - 2; j++) {
  double s = -4 * u[t % 2][i][j];
  for (int r = 1; r <= 2; r++)
    s += 0.1 * r * (u[t % 2][i - r][j] + u[t % 2][i + r][j] + u[t % 2][i][j - r] + u[t % 2][i][j + r]);
  u[(t + 1) % 2][i][j] = 0.1 * s;
}""",
    "grids that are set before": """
ALL { p[i][j] = (i * j) % 7; v[i][j] = 0; }
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
}""",
    "grids that are set before, and looked at after": """
ALL u[0][i][j] = p[i][j];
ALL { double kept = v[i][j]; u[1][i][j] = kept * kept; }
for (int t = 0; t < steps; t++) EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
for (int i = 0; i < h; i++) for (int j = 1; j < w; j++) v[i][j] = v[i][j - 1] + u[steps % 2][i][j];
EACH p[i][j] = fabs(u[0][i][j] - u[1][i][j]);""",
    "a source, before the step": """
for (int t = 0; t < steps; t++) {
  if (h > 4 && w > 4) p[2][2] += 0.5 * t;
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
}""",
    "a source, after the step": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
  p[h / 2][w / 2] += sin(0.1 * t);
}""",
    "a source of alternating grids": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  u[(t + 1) % 2][h / 2][w / 2] += 1.0;
}""",
    "several sources": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
  if (h > 9 && w > 9) {
    p[3][3] += 0.5;
    p[4][7] += 0.25;
    p[7][2] -= 0.5;
  }
}""",
    "a source inside the sweep": """
for (int t = 0; t < steps; t++) EACH {
  u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  if (i == 3 && j == 4) u[(t + 1) % 2][i][j] += 0.5;
}""",
    "a source as a choice": """
for (int t = 0; t < steps; t++) EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2])
  + (i == h / 2 && j == w / 2 ? 1.0 : 0.0);""",
    "sources in a loop": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
  for (int s = 0; s < 4; s++) if (h > 9 && w > 9) p[2 + s][3 + s] += 0.1;
}""",
    "damping as a choice": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = i < 4 || j < 4 || i >= h - 4 || j >= w - 4 ? 0.9 * v[i][j] : v[i][j];
}""",
    "damping under a condition": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH {
    p[i][j] = v[i][j];
    if (i < 4) p[i][j] *= 0.9;
  }
}""",
    "damping by profiles": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p) * u[0][0][j] * u[0][i][0];
  EACH p[i][j] = v[i][j];
}""",
    "damping by loops of its own": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
  for (int i = 1; i < 4 && i < h - 1; i++) for (int j = 1; j < w - 1; j++) p[i][j] *= 0.9;
}""",
    "damping by a maximum": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j] * (1 - 0.01 * fmax(0, 5 - i));
}""",
    "a mask as a condition": """
for (int t = 0; t < steps; t++) {
  EACH if (u[0][i][j] > 9) v[i][j] = MEAN(p);
  EACH if (u[0][i][j] > 9) p[i][j] = v[i][j];
}""",
    "a mask as a choice": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = u[0][i][j] > 9 ? MEAN(p) : p[i][j];
  EACH p[i][j] = v[i][j];
}""",
    "a mask that continues": """
for (int t = 0; t < steps; t++) {
  EACH {
    if (u[0][i][j] < 9) continue;
    v[i][j] = MEAN(p);
  }
  EACH {
    if (u[0][i][j] < 9) continue;
    p[i][j] = v[i][j];
  }
}""",
    "a mask as a factor": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = p[i][j] + u[0][i][j] * (MEAN(p) - p[i][j]);
  EACH p[i][j] = v[i][j];
}""",
    "a mask with two branches": """
for (int t = 0; t < steps; t++) EACH if (v[i][j] > 5) u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
else u[(t + 1) % 2][i][j] = u[t % 2][i][j];""",
    "coefficients": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = u[0][i][j] * p[i][j] + u[1][i][j] * (p[i - 1][j] + p[i + 1][j])
    + u[2][i][j] * (p[i][j - 1] + p[i][j + 1]);
  EACH p[i][j] = v[i][j];
}""",
    "coefficients of faces": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = p[i][j] + u[0][i][j] * (p[i + 1][j] - p[i][j]) - u[0][i - 1][j] * (p[i][j] - p[i
    - 1][j]) + u[1][i][j] * (p[i][j + 1] - p[i][j]) - u[1][i][j - 1] * (p[i][j] - p[i][j - 1]);
  EACH p[i][j] = v[i][j];
}""",
    "a norm each four steps": """
for (int s = 0; s < steps; s++) {
  for (int t = 0; t < 4; t++) {
    EACH v[i][j] = MEAN(p);
    EACH p[i][j] = v[i][j];
  }
  double norm = 0;
  EACH norm += p[i][j] * p[i][j];
  if (h > 0 && w > 0) u[0][0][0] = norm;
}""",
    "a norm after some steps": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
  if (t % 4 == 3) {
    double norm = 0;
    EACH norm += p[i][j] * p[i][j];
    u[0][0][0] = norm;
  }
}""",
    "a norm beside alternating grids": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  if ((t + 1) % 8 == 0) {
    double norm = 0;
    EACH norm += fabs(u[0][i][j] - u[1][i][j]);
    p[0][0] = norm;
  }
}""",
    "a norm each few steps, in the middle of one": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  if (t % 4 == 0) {
    double norm = 0;
    EACH norm += (v[i][j] - p[i][j]) * (v[i][j] - p[i][j]);
    u[0][0][0] = norm;
  }
  EACH p[i][j] = v[i][j];
}""",
    "a norm of each other grid": """
for (int t = 0; t < steps; t++) {
  EACH u[(t + 1) % 2][i][j] = MEAN(u[t % 2]);
  if (t % 5 == 0) {
    double norm = 0;
    EACH norm += u[(t + 1) % 2][i][j];
    p[0][0] = norm;
  }
}""",
    "a largest change each few steps": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  if (t % 4 == 1) {
    double most = 0;
    EACH most = fmax(most, fabs(v[i][j] - p[i][j]));
    u[0][0][0] = most;
  }
  EACH p[i][j] = v[i][j];
}""",
    "two norms, each after some steps": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
  if (t % 4 == 3) {
    double norm = 0;
    EACH norm += p[i][j];
    u[0][0][0] = norm;
  }
  if (t % 8 == 5) u[1][0][0] = p[h / 2][w / 2];
}""",
    "a norm and a source": """
if (h > 2 && w > 2) for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  v[h / 2][w / 2] += 0.1 * t;
  EACH p[i][j] = v[i][j];
  if (t % 4 == 3) {
    double norm = 0;
    EACH norm += p[i][j] * p[i][j];
    u[0][0][0] = norm;
  }
}""",
    "red and black, by a loop over colours": """
for (int t = 0; t < steps; t++) for (int c = 0; c < 2; c++) for (int i = 1; i < h - 1; i++)
  for (int j = 1 + (i + c) % 2; j < w - 1; j += 2) p[i][j] = (p[i - 1][j] + p[i][j - 1] + p[i][j + 1]
    + p[i + 1][j]) / 4;""",
    "red and black, by a condition in a loop over colours": """
for (int t = 0; t < steps; t++) for (int c = 0; c < 2; c++) EACH if ((i + j) % 2 == c)
  p[i][j] += 0.3 * (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j] - 4 * p[i][j]);""",
    "red and black, from where the colour begins": """
for (int t = 0; t < steps; t++) for (int c = 0; c < 2; c++) for (int i = 1; i < h - 1; i++) {
  int first = (i + c) % 2 == 0 ? 1 : 2;
  for (int j = first; j < w - 1; j += 2)
    p[i][j] = (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]) / 4;
}""",
    "red and black, by where rows start in turn": """
for (int t = 0; t < steps; t++) {
  int jsw = 1, isw;
  for (int pass = 1; pass <= 2; pass++) {
    isw = jsw;
    for (int i = 1; i < h - 1; i++) {
      for (int j = isw; j < w - 1; j += 2)
        p[i][j] = 0.25 * (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]);
      isw = 3 - isw;
    }
    jsw = 3 - jsw;
  }
}""",
    "red and black, by headers that say where rows start": """
int isw, jsw, pass;
for (int t = 0; t < steps; t++)
  for (pass = 1, jsw = 1; pass <= 2; pass++, jsw = 3 - jsw) {
    isw = jsw;
    for (int i = 1; i < h - 1; i++, isw = 3 - isw) for (int j = isw; j < w - 1; j += 2)
      p[i][j] = 0.25 * (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]);
  }""",
    "three colours of lines": """
for (int t = 0; t < steps; t++) for (int c = 0; c < 3; c++) EACH if (i % 3 == c)
  p[i][j] = (p[i - 1][j] + p[i + 1][j]) / 2;""",
    "red and black, in two sweeps": """
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < h - 1; i++) for (int j = 1 + i % 2; j < w - 1; j += 2) p[i][j] = (p[i - 1][j]
    + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]) / 4;
  for (int i = 1; i < h - 1; i++) for (int j = 2 - i % 2; j < w - 1; j += 2) p[i][j] = (p[i - 1][j]
    + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]) / 4;
}""",
    "red and black, by remainders": """
for (int t = 0; t < steps; t++) {
  EACH if ((i + j) % 2 == 0) p[i][j] = (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]) / 4;
  EACH if ((i + j) % 2 == 1) p[i][j] = (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]) / 4;
}""",
    "red and black, by masks": """
for (int t = 0; t < steps; t++) {
  EACH if (((i + j) & 1) == 0) p[i][j] = (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]) / 4;
  EACH if ((i + j) & 1) p[i][j] = (p[i - 1][j] + p[i][j - 1] + p[i][j + 1] + p[i + 1][j]) / 4;
}""",
    "red and black, by the time": """
for (int t = 0; t < 2 * steps; t++) EACH if ((i + j + t) % 2 == 0) p[i][j] = (p[i - 1][j] + p[i][j
  - 1] + p[i][j + 1] + p[i + 1][j]) / 4;""",
    "red and black lines": """
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < h - 1; i += 2) for (int j = 1; j < w - 1; j++) p[i][j] = MEAN(p);
  for (int i = 2; i < h - 1; i += 2) for (int j = 1; j < w - 1; j++) p[i][j] = MEAN(p);
}""",
    "staggered": """
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < h; i++) for (int j = 0; j < w; j++) u[0][i][j] -= 0.5 * (p[i][j] - p[i - 1][j]);
  for (int i = 0; i < h; i++) for (int j = 1; j < w; j++) u[1][i][j] -= 0.5 * (p[i][j] - p[i][j - 1]);
  for (int i = 0; i < h - 1; i++) for (int j = 0; j < w - 1; j++) p[i][j] -= 0.7 * (u[0][i + 1][j]
    - u[0][i][j] + u[1][i][j + 1] - u[1][i][j]);
}""",
    "staggered, in one sweep": """
for (int t = 0; t < steps; t++) {
  EACH {
    u[0][i][j] -= 0.5 * (p[i][j] - p[i - 1][j]);
    u[1][i][j] -= 0.5 * (p[i][j] - p[i][j - 1]);
  }
  EACH p[i][j] -= 0.7 * (u[0][i + 1][j] - u[0][i][j] + u[1][i][j + 1] - u[1][i][j]);
}""",
    "staggered, with sources": """
for (int t = 0; t < steps; t++) {
  for (int j = 0; j < w; j++) u[1][0][j] = t;
  for (int i = 1; i < h; i++) for (int j = 0; j < w; j++) u[0][i][j] -= 0.5 * (p[i][j] - p[i - 1][j]);
  for (int i = 0; i < h - 1; i++) for (int j = 0; j < w; j++) p[i][j] -= 0.7 * (u[0][i + 1][j]
    - u[0][i][j]);
  if (h > 3 && w > 3) p[h / 2][w / 2] += 0.3;
}""",
    "waves, in three grids": """
for (int t = 0; t < steps; t++) {
  EACH u[2][i][j] = 2 * u[1][i][j] - u[0][i][j] + 0.1 * (MEAN(u[1]) - u[1][i][j]);
  EACH u[0][i][j] = u[1][i][j];
  EACH u[1][i][j] = u[2][i][j];
}""",
    "waves, changing values": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = 2 * p[i][j] - v[i][j] + 0.1 * (MEAN(p) - p[i][j]);
  EACH {
    double k = p[i][j];
    p[i][j] = v[i][j];
    v[i][j] = k;
  }
}""",
    "waves, there and back": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = 2 * p[i][j] - v[i][j] + 0.1 * MEAN(p);
  EACH p[i][j] = 2 * v[i][j] - p[i][j] + 0.1 * MEAN(v);
}""",
    "all of a grid copied": """
for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  ALL p[i][j] = v[i][j];
}""",
    "all of a grid copied first": """
for (int t = 0; t < steps; t++) {
  ALL v[i][j] = p[i][j];
  EACH p[i][j] = MEAN(v);
}""",
    "nothing beyond the border": """
for (int t = 0; t < steps; t++) {
  ALL v[i][j] = 0.2 * (p[i][j] + p[i > 0 ? i - 1 : 0][j] + p[i < h - 1 ? i + 1 : h - 1][j]
    + p[i][j > 0 ? j - 1 : 0] + p[i][j < w - 1 ? j + 1 : w - 1]);
  ALL p[i][j] = v[i][j];
}""",
    "neighbours by names": """
for (int t = 0; t < steps; t++) {
  ALL {
    int a = i > 0 ? i - 1 : i, b = i + 1 < h ? i + 1 : i;
    v[i][j] = 0.3 * (p[i][j] + p[a][j] + p[b][j]);
  }
  ALL p[i][j] = v[i][j];
}""",
    "steps counted down": """
int t = steps;
while (t-- > 0) {
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
}""",
    "columns first": """
for (int t = 0; t < steps; t++) {
  for (int j = 1; j < w - 1; j++) for (int i = 1; i < h - 1; i++) v[i][j] = MEAN(p);
  for (int j = 1; j < w - 1; j++) for (int i = 1; i < h - 1; i++) p[i][j] = v[i][j];
}""",
    "all of a grid copied by a call": """
if (h > 0 && w > 0) for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  memcpy(p, v, sizeof(double) * h * w);
}""",
    "rows copied by calls": """
if (w > 2) for (int t = 0; t < steps; t++) {
  EACH v[i][j] = MEAN(p);
  for (int i = 1; i < h - 1; i++) memcpy(&p[i][1], &v[i][1], sizeof(double) * (w - 2));
}""",
    "border values set in each step": """
if (h > 0 && w > 0) for (int t = 0; t < steps; t++) {
  for (int j = 0; j < w; j++) {
    p[0][j] = 1;
    p[h - 1][j] = 2;
  }
  for (int i = 0; i < h; i++) {
    p[i][0] = 3;
    p[i][w - 1] = 4;
  }
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
}""",
    "reflecting borders, copied": """
if (h > 1 && w > 1) for (int t = 0; t < steps; t++) {
  for (int j = 0; j < w; j++) {
    p[0][j] = p[1][j];
    p[h - 1][j] = p[h - 2][j];
  }
  for (int i = 0; i < h; i++) {
    p[i][0] = p[i][1];
    p[i][w - 1] = p[i][w - 2];
  }
  EACH v[i][j] = MEAN(p);
  EACH p[i][j] = v[i][j];
}""",
}

# what tiles over time have to be chosen for, though other loops have tiles, too
CHOSEN = {
    "four colours": """
for (int t = 0; t < steps; t++) for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++)
  for (int i = 1 + a; i < h - 1; i += 2) for (int j = 1 + b; j < w - 1; j += 2) p[i][j] = (p[i - 1][j]
    + p[i][j - 1] + p[i][j + 1] + p[i + 1][j] + p[i - 1][j - 1] + p[i + 1][j + 1]) / 6;""",
    **{
        form: body
        for form, body in FORMS.items()
        if form.startswith("red and black") or "colours" in form or "norm" in form or "change" in form
    },
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run_steps(tmp_path_factory.mktemp("time-steps"), GRIDS, FORMS, (3, 10, 8))


@pytest.mark.parametrize("form", FORMS)
def test_tiled_over_time(outcome, form):
    before, after, region = outcome[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks), region.remarks


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    return run_steps(tmp_path_factory.mktemp("chosen-steps"), GRIDS, CHOSEN, ())


@pytest.mark.parametrize("form", CHOSEN)
def test_tiles_over_time_are_chosen(chosen, form):
    before, after, region = chosen[form]
    assert after == before
    assert any("stencil over time" in each for each in region.remarks), region.remarks
