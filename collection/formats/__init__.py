"""Files to frames and back.

Only this package knows the field's own column names (``docno``, ``qid``, ``Q0``). All readers also read gzip, whatever
the file's name, and raise :class:`.FormatError` with path and line for anything that does not fit
the format. All writers compress files whose name ends in ``.gz``, replace an existing file only when everything is
written, and raise :class:`~collection.core.errors.InputError` if that fails.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
