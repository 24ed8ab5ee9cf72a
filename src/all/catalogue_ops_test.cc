// Every row of the catalogue can be written as a TensorFlow op definition and used as a node.
#include <gtest/gtest.h>

#include "emplace/graph.h"
#include "graph/attr_proto.h"
#include "op/op_def.h"

namespace emplace {
namespace {

TEST(Catalogue, EveryRowHasARuleAndReadsAsWritten) {
  for (const OpDef* op : op_catalogue().all()) {
    EXPECT_TRUE(op->shape_rule != nullptr || op->outputs.empty()) << op->name;
    proto::OpDef def;
    to_proto(*op, &def);
    EXPECT_EQ(def.name(), op->name);
    EXPECT_EQ(static_cast<size_t>(def.attr_size()), op->attrs.size());
  }
}

TEST(Catalogue, DefaultsFitTheirOwnConstraints) {
  for (const OpDef* op : op_catalogue().all())
    for (const AttrDef& attr : op->attrs) {
      if (!attr.default_value.is_set()) continue;
      if (attr.type == AttrType::kInt && !attr.is_list && attr.minimum) {
        EXPECT_GE(attr.default_value.as<int64_t>(), *attr.minimum) << op->name << "." << attr.name;
      }
      if (!attr.allowed_strings.empty() && !attr.is_list) {
        EXPECT_NE(std::find(attr.allowed_strings.begin(), attr.allowed_strings.end(),
                            attr.default_value.as<std::string>()),
                  attr.allowed_strings.end())
            << op->name << "." << attr.name;
      }
    }
}

}  // namespace
}  // namespace emplace
