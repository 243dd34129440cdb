cdef extern from "kernels.h":
    void fill(int n, long *a)


def total():
    cdef long a[50000]
    fill(50000, a)
    return sum(a[i] for i in range(50000))
