#pragma once
#include <nanobind/nanobind.h>

#include "emplace/error.h"

namespace emplace::python {

// Exceptions of Python's on their way through the engine, which carries errors of its own. With the
// GIL.

// The error that is set in Python, as one of the engine's. `late`: if nobody asks for it, it is
// raised at the main thread's next line.
Error keep_exception(bool late);
// The exception that such an error stands for; null where it is the engine's own.
nanobind::object kept_exception(const Error& e);

}  // namespace emplace::python
