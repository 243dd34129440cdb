from setuptools import Extension, setup

setup(ext_modules=[Extension("tables", ["tables.pyx", "kernels.c"])], polybuild={"parallel": True})
