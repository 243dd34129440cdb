"""The values of options that are right beyond doubt, for ``polybuild.cli.main``, which imports nothing else.

Made from ``Options.plain_values``: a test holds it equal, and writes it with ``pytest --update-golden``.
"""

PLAIN_VALUES = {
    "--backend": ("openmp", "cuda", "opencl"),
    "--cuda-arch": ("N", "N,..."),
    "--without-nvcc": ("opencl", "openmp", "error"),
    "--schedule": ("auto", "isl", "pluto", "original"),
    "--fusion": ("auto", "min", "max", "depth"),
    "--tile": ("on", "off"),
    "--tile-sizes": ("N", "N,..."),
    "--tile-shape": ("auto", "rectangular", "diamond", "hexagonal", "split", "hybrid"),
    "--parallel": ("on", "off"),
    "--simd": ("on", "off"),
    "--registers": ("on", "off"),
    "--vector-size": ("N",),
    "--allow-reassociation": ("on", "off"),
    "--contract-arrays": ("auto", "on", "scalars", "copies", "off"),
    "--scalars": ("N",),
    "--min-work": ("N",),
    "--l1-size": ("N",),
    "--l2-size": ("N",),
    "--block-sizes": ("N", "N,..."),
    "--grid-sizes": ("N", "N,..."),
    "--autodetect": ("off",),
    "--headers": ("off",),
    "--verify": ("on", "off"),
    "--paranoid": ("on", "off"),
    "--on-unsupported": ("warn", "error"),
}
