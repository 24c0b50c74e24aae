"""Interfaces of other evaluation tools, computed by Cleverdon.

- :mod:`collection.interfaces.pytrec_eval` takes the place of ``import pytrec_eval``.
- :mod:`collection.interfaces.ir_measures_provider` registers Cleverdon with ir_measures, which PyTerrier uses.
"""
