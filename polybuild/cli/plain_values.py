"""The values of options that are right beyond doubt, for ``polybuild.cli.main``, which imports nothing else.

Made from ``Options``: a test holds it equal, and writes it with ``pytest --update-golden``. ``WORDS`` has
the words that an option takes, ``NUMBERS`` the least and the greatest number and how many it takes.
"""

WORDS = {
    "--backend": ("openmp", "cuda", "hip", "opencl"),
    "--without-nvcc": ("opencl", "openmp", "error"),
    "--schedule": ("auto", "isl", "pluto", "original"),
    "--fusion": ("auto", "min", "max", "depth"),
    "--tile": ("on", "off"),
    "--tile-shape": (
        "auto",
        "rectangular",
        "diamond",
        "diamond-2d",
        "hexagonal",
        "split",
        "hybrid",
        "overlapped",
    ),
    "--device-launches": ("each", "graphs", "together"),
    "--parallel": ("on", "off"),
    "--simd": ("on", "off"),
    "--registers": ("on", "off"),
    "--vector-size": ("0", "8", "16", "32", "64"),
    "--allow-reassociation": ("on", "off"),
    "--contract-arrays": ("auto", "on", "scalars", "copies", "off"),
    "--autodetect": ("off",),
    "--openmp": ("keep", "use"),
    "--headers": ("off",),
    "--verify": ("on", "off"),
    "--runtime-report": ("on", "off"),
    "--distribute": ("off", "mpi"),
    "--adapt": ("on", "off"),
    "--paranoid": ("on", "off"),
    "--on-unsupported": ("warn", "error"),
}

NUMBERS = {
    "--cuda-arch": (50, 999, 16),
    "--tile-sizes": (1, 1048576, 16),
    "--scalars": (0, 2147483647, 1),
    "--min-work": (0, 4611686018427387903, 1),
    "--l1-size": (0, 1099511627776, 1),
    "--l2-size": (0, 1099511627776, 1),
    "--jobs": (0, 1024, 1),
    "--block-sizes": (1, 1024, 3),
    "--grid-sizes": (1, 2147483647, 3),
    "--rank-steps": (0, 64, 1),
}
