#pragma once
#include <string>
#include <string_view>

#include "op/op_def.h"

namespace emplace {

// Checks one attribute's value against its definition: kind, minimum, allowed values; throws
// InvalidArgument. A whole number given for a float, or an empty list of another kind, is
// converted. `node` is for the error text.
void check_attr(const OpDef& op, const AttrDef& def, AttrValue& value, std::string_view node);

// "; NodeDef: {{node n}}", or nothing without a node.
std::string node_clause(std::string_view node);

}  // namespace emplace
