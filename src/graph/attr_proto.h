#pragma once
#include <algorithm>

#include "emplace/attr.h"
#include "emplace/proto/graph.pb.h"
#include "op/op_def.h"

namespace emplace {

void to_proto(const AttrValue& value, proto::AttrValue* out);
// An unset value for a placeholder, which stands for a function's attribute.
AttrValue from_proto(const proto::AttrValue& in);

template <class Map>
AttrList attrs_from_proto(const Map& map) {
  AttrList out;
  out.reserve(map.size());
  for (const auto& [name, value] : map) out.emplace_back(name, from_proto(value));
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

template <class Map>
void attrs_to_proto(const AttrList& attrs, Map* map) {
  for (const auto& [name, value] : attrs) to_proto(value, &(*map)[name]);
}

void to_proto(const OpDef& op, proto::OpDef* out);

}  // namespace emplace
