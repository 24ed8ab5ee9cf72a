"""Is what an example printed what its docstring says? Floats by value, the rest by text."""

import doctest
import re

import numpy as np

_FLOAT = re.compile(r"(?<![\w.])[+-]?(?:\d+\.\d*|\.\d+|\d+(?=e[+-]?\d))(?:e[+-]?\d+)?(?![\w])", re.I)
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+\b|\bobject at [^>]*")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_checker = doctest.OutputChecker()


def _loose(text: str) -> str:
    """Blanks and line breaks are the printer's business."""
    return re.sub(r"\s+", "", text)


def agrees(want: str, got: str) -> bool:
    if not want.strip():  # an example without a result only has to run
        return True
    if _checker.check_output(want, got, _FLAGS):
        return True
    want, got = (_ADDRESS.sub("at ...", t) for t in (want, got))
    given, found = ([float(f) for f in _FLOAT.findall(t)] for t in (want, got))
    if not _checker.check_output(_loose(_FLOAT.sub("...", want)), _loose(_FLOAT.sub("...", got)), _FLAGS):
        return False
    if "..." in want and len(given) != len(found):
        return True
    return len(given) == len(found) and np.allclose(given, found, rtol=1e-3, atol=1e-3, equal_nan=True)


def same_error(want: str, error: BaseException) -> bool:
    """`want`: "ValueError: some text"; the class must agree, and the beginning of the text."""
    name, _, said = want.strip().partition(":")
    names = {base.__name__ for base in type(error).__mro__}
    if name.strip().rpartition(".")[2] not in names:
        return False
    return _loose(said.partition("...")[0])[:16] in _loose(str(error))
