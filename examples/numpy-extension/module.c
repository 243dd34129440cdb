/* The module: arrays come as buffers, so nothing of NumPy is needed to build it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"

/* A buffer of doubles in so many dimensions, the last one contiguous; 0 with an exception if it is none. */
static int get(PyObject *object, Py_buffer *view, int dimensions, int writable)
{
  int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object, view, flags) != 0)
    return 0;
  if (view->ndim == dimensions && view->format && view->format[0] == 'd' && view->format[1] == 0)
    return 1;
  PyErr_Format(PyExc_TypeError, "an array of doubles with %d dimensions is needed", dimensions);
  PyBuffer_Release(view);
  return 0;
}

static PyObject *py_nearest(PyObject *self, PyObject *args)
{
  (void)self;
  PyObject *objects[3], *result = NULL;
  Py_buffer points, centres, distance;
  if (!PyArg_ParseTuple(args, "OOO", &objects[0], &objects[1], &objects[2]) || !get(objects[0], &points, 2, 0))
    return NULL;
  if (get(objects[1], &centres, 2, 0)) {
    if (get(objects[2], &distance, 1, 1)) {
      if (points.shape[1] == centres.shape[1] && distance.shape[0] == points.shape[0]) {
        Py_BEGIN_ALLOW_THREADS
        nearest((int)points.shape[0], (int)centres.shape[0], (int)points.shape[1], points.buf, centres.buf,
                distance.buf);
        Py_END_ALLOW_THREADS
        result = Py_NewRef(Py_None);
      } else {
        PyErr_SetString(PyExc_ValueError, "the shapes do not fit");
      }
      PyBuffer_Release(&distance);
    }
    PyBuffer_Release(&centres);
  }
  PyBuffer_Release(&points);
  return result;
}

static PyObject *py_smooth(PyObject *self, PyObject *args)
{
  (void)self;
  PyObject *object, *scratch, *result = NULL;
  Py_buffer grid, next;
  int sweeps;
  if (!PyArg_ParseTuple(args, "OOi", &object, &scratch, &sweeps) || !get(object, &grid, 2, 1))
    return NULL;
  if (get(scratch, &next, 2, 1)) {
    if (grid.len == next.len && grid.buf != next.buf) {
      Py_BEGIN_ALLOW_THREADS
      smooth((int)grid.shape[0], (int)grid.shape[1], grid.buf, next.buf, sweeps);
      Py_END_ALLOW_THREADS
      result = Py_NewRef(Py_None);
    } else {
      PyErr_SetString(PyExc_ValueError, "two arrays of one size are needed");
    }
    PyBuffer_Release(&next);
  }
  PyBuffer_Release(&grid);
  return result;
}

static PyMethodDef functions[] = {
  {"nearest", py_nearest, METH_VARARGS, "nearest(points, centres, distance): squared distances from the nearest"},
  {"smooth", py_smooth, METH_VARARGS, "smooth(grid, scratch, sweeps): means of four neighbours"},
  {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "pairs", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_pairs(void)
{
  return PyModule_Create(&module);
}
