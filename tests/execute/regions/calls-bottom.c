static double later(double v) { return v + 0.5; }
double add_one(double v) { return v + 1; }
double first_of(const double *p) { return p[0]; }
void told(const double *p, double *q, int k) { q[k] = p[k] * 2; }
void told_by_place(const double *p, double *q, int k) { q[k] = p[k] * 3; }
void told_value(double v, double *q) { *q = v * 4; }
double told_global(int k) { return table[k % W]; }
double untold(double v) { counter++; return v; }
