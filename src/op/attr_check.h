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

// complete_attrs, where it is said what becomes of attributes that the definition does not know.
// Imports keep them: a newer program may have written them.
enum class UnknownAttrs { kRefused, kKept };
AttrList complete_attrs(const OpDef& op, std::span<const DType> input_types, AttrList attrs,
                        std::string_view node, UnknownAttrs unknown);

}  // namespace emplace
