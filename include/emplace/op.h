#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/attr.h"
#include "emplace/export.h"

namespace emplace {

class ShapeContext;
struct CostContext;

// One input or output argument. Exactly one of `type`, `type_attr`, `type_list_attr` says its
// dtype; `number_attr` makes it a list of that many tensors.
struct ArgDef {
  std::string name;
  DType type = DType::kInvalid;
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;

  bool is_list() const { return !number_attr.empty() || !type_list_attr.empty(); }
};

struct AttrDef {
  std::string name;
  AttrType type = AttrType::kString;
  bool is_list = false;
  AttrValue default_value;  // not set: the attribute is required (or inferred)
  std::optional<int64_t> minimum;  // of an int, or of a list's length
  std::vector<DType> allowed_types;
  std::vector<std::string> allowed_strings;
};

using ShapeRule = void (*)(ShapeContext&);

// What one call of an operation does, on no device in particular: a device's rates make seconds of
// it. No memory is touched for free, so a call that moves nothing and computes nothing is bookkeeping.
struct Work {
  double flops = 0;   // of matrix products and convolutions; a product and a sum are two
  double pieces = 1;  // one after another, that the products fall into
  double ops = 0;     // simple ones of loops over elements; an exponential counts for ten
  double bytes = 0;   // read and written
};
using CostRule = Work (*)(const CostContext&);

// One row of the op catalogue: what an operation is, on no device in particular.
struct EMPLACE_API OpDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  bool stateful = false;
  bool aggregate = false;
  bool commutative = false;
  bool allows_uninitialized_input = false;
  ShapeRule shape_rule = nullptr;
  CostRule cost_rule = nullptr;
  std::string doc;

  const AttrDef* find_attr(std::string_view name) const;
  int input_index(std::string_view arg) const;   // -1 if none
  int output_index(std::string_view arg) const;
  // "Op<name=Neg; signature=x:T -> y:T; attr=T:type,allowed=[DT_HALF]>", as errors show it.
  std::string summary() const;
};

// "int", "list(type)": as definitions and errors name the kinds.
EMPLACE_API std::string attr_type_name(AttrType type, bool is_list);

// Every operation there is, by name; wrappers and documentation are made from it.
EMPLACE_API std::vector<const OpDef*> catalogue();
EMPLACE_API const OpDef* find_op(std::string_view name);  // null if there is none
// Device types with a kernel for it ("CPU", "GPU"), whatever the dtype.
EMPLACE_API std::vector<std::string> op_devices(std::string_view name);

}  // namespace emplace
