"""All cases; the modules add theirs to the table."""

import cases_errors  # noqa: F401
import cases_flow  # noqa: F401
import cases_math  # noqa: F401
import cases_nets  # noqa: F401
import cases_pins  # noqa: F401
import cases_programs  # noqa: F401
import cases_state  # noqa: F401
import cases_strangers  # noqa: F401
import cases_values  # noqa: F401
