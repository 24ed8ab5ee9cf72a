#pragma once
#include <nanobind/nanobind.h>

#include "emplace/attr.h"
#include "emplace/op.h"
#include "emplace/session.h"

namespace emplace::python {

SessionOptions to_options(nanobind::dict options);
// Attributes by the kinds that `op` declares; names that begin with `_` are taken as they come.
AttrList to_attrs(const OpDef& op, nanobind::dict attrs);

}  // namespace emplace::python
