"""From the syntax tree of a region to its polyhedral model.

``extract_scop`` (in ``extract``) is the only entry. Beneath it, ``names`` says
what each identifier is, ``expressions`` turns C expressions into piecewise
affine ones, ``loops`` turns headers into iteration domains, ``arrays`` and
``accesses`` turn references into access relations (``delinearise`` gives flat
arrays the dimensions they were meant to have), and ``assumptions`` collects what
must hold at run time for the model to be exact.
"""
