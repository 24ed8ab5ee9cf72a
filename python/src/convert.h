#pragma once
#include <nanobind/nanobind.h>

#include "emplace/attr.h"
#include "emplace/graph.h"

namespace emplace::python {

// A Python value as the attribute that `type` (and `list`) declares: ints for dtypes, None or a
// sequence for shapes, NumPy arrays for tensors, a name for functions. Throws TypeError naming `name`.
AttrValue to_attr(nanobind::handle value, AttrType type, bool list, std::string_view name);

// The Python form of an attribute: what to_attr takes, strings as bytes.
nanobind::object from_attr(const AttrValue& value);

nanobind::object from_shape(const Shape& shape);  // None or a list with None for unknown
Shape to_shape(nanobind::handle value);

}  // namespace emplace::python
