#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emplace/attr.h"
#include "emplace/dtype.h"
#include "emplace/op.h"

namespace emplace {

// Reads one signature in the notation of `reference/op-signatures.txt`:
//   "Abs(x: T) -> (y: T) | T: type in [half,float]; keep: bool = false | stateful commutative"
// Throws InvalidArgument that quotes the place it does not understand.
OpDef parse_signature(std::string_view signature);

// One row as the families write it.
struct OpRow {
  const char* signature;
  ShapeRule shape_rule;
  CostRule cost_rule;
  const char* doc;
};

// The catalogue. Filled by explicit calls, then frozen: look-ups need no lock.
class OpRegistry {
 public:
  void add(OpDef def);  // AlreadyExists for a second op of that name
  void add(std::span<const OpRow> rows);
  const OpDef* find(std::string_view name) const;  // null if unknown
  const OpDef& get(std::string_view name) const;   // NotFound "Op type not registered 'X'"
  std::vector<const OpDef*> all() const;           // sorted by name

 private:
  std::unordered_map<std::string, std::unique_ptr<OpDef>> defs_;
  std::unordered_map<std::string_view, const OpDef*> index_;
};

// The whole catalogue; defined in all/, which names every family.
const OpRegistry& op_catalogue();  // see also catalogue() in <emplace/op.h>

// ---- Checking a call against its definition.

// Fills in what `attrs` leaves open: dtypes and list lengths inferred from the inputs, then
// defaults; checks constraints. `input_types` are the flattened inputs. Throws InvalidArgument.
// The result is sorted by name. Attributes that the definition does not know are refused unless
// their names begin with '_'; attr_check.h has it otherwise. `node` is for the error texts.
AttrList complete_attrs(const OpDef& op, std::span<const DType> input_types, AttrList attrs,
                        std::string_view node = {});

// Flattened dtypes of the arguments under complete attributes (ref-ness is in ArgDef).
std::vector<DType> input_types(const OpDef& op, const AttrList& attrs);
std::vector<DType> output_types(const OpDef& op, const AttrList& attrs);

// Range [begin, end) of flattened positions that argument `arg` covers.
struct ArgRange {
  int begin, end;
};
ArgRange input_range(const OpDef& op, const AttrList& attrs, int arg);
ArgRange output_range(const OpDef& op, const AttrList& attrs, int arg);
// Per flattened position: is it a reference?
std::vector<bool> input_refs(const OpDef& op, const AttrList& attrs);
std::vector<bool> output_refs(const OpDef& op, const AttrList& attrs);

}  // namespace emplace
