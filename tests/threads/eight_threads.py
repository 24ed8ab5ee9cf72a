"""A plugin for pytest (`-p eight_threads`): the body of each test runs in eight threads at once.

Tests that take a fixture, which belongs to one run, and those that look at the whole process run as ever.
"""

from typing import Any

import pytest

from in_threads import at_once

_OF_THE_PROCESS = ("memory", "logged", "log_device")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    arguments = pyfuncitem._fixtureinfo.argnames
    given = pyfuncitem.callspec.params if hasattr(pyfuncitem, "callspec") else {}
    if set(arguments) - set(given) or any(word in pyfuncitem.name for word in _OF_THE_PROCESS):
        return None
    at_once(8, lambda _: pyfuncitem.obj(**{name: given[name] for name in arguments}))
    return True
