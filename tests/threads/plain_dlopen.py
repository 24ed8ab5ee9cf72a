"""A plugin for pytest: sanitizers refuse RTLD_DEEPBIND, with which the package opens its engine."""

import os

del os.RTLD_DEEPBIND
