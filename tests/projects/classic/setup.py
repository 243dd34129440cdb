"""Through scikit-build or, with SKBUILD_CORE=1, through what scikit-build-core has in its place."""

import os

if os.environ.get("SKBUILD_CORE"):
    from scikit_build_core.setuptools.wrapper import setup
else:
    from skbuild import setup

setup(name="tables", version="1", packages=["table"], cmake_install_dir="table")
