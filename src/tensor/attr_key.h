#pragma once
#include <string>

#include "emplace/attr.h"

namespace emplace {

// The whole value as bytes, other ones for every other value; `AttrValue::str`, for people, leaves
// out the middle of what is long. Of tensors and functions only what `str` says.
std::string attr_key(const AttrValue& value);

}  // namespace emplace
