"""``python -m polybuild``: the same as the ``polybuild`` command."""

from polybuild.cli.main import main

if __name__ == "__main__":
    main()
