#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"

static PyObject *total(PyObject *self, PyObject *arguments)
{
  enum { n = 50000 };
  static long a[n];
  long sum = 0;

  (void)self;
  (void)arguments;
  fill(n, a);
  for (int i = 0; i < n; i++)
    sum += a[i];
  return PyLong_FromLong(sum);
}

static PyMethodDef methods[] = {{"total", total, METH_NOARGS, "The sum of the table."}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tables", 0, -1, methods, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit_tables(void)
{
  return PyModule_Create(&definition);
}
