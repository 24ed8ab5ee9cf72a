"""All frozen cases; the modules add theirs to the table."""

import frozen_functions  # noqa: F401
import frozen_keras  # noqa: F401
import frozen_math  # noqa: F401
