"""tf.app.run: parse the flags, call main, exit with what it returns."""

from __future__ import annotations

import sys
from typing import Any

from emplace.compat.v1 import flags as flags
from emplace.framework import listing as _listing


def run(main: Any = None, argv: Any = None) -> None:
    """Parses the flags of the command line, calls `main` with what is left of it and ends the process with its result."""
    main = main or sys.modules["__main__"].main
    try:
        rest = flags.FLAGS(sys.argv if argv is None else argv)
    except flags.Error as e:
        print(f"FATAL Flags parsing error: {e}\nPass --helpshort or --helpfull to see help on flags.", file=sys.stderr)
        sys.exit(1)
    sys.exit(main(rest))

__dir__ = _listing.of_module(globals())
