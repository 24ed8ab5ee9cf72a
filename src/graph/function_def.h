#pragma once
#include <functional>

#include "emplace/graph.h"
#include "emplace/proto/graph.pb.h"

namespace emplace {

void to_proto(const Function& f, proto::FunctionDef* out);

// Finds functions that are called by name as ops; null if unknown.
using FunctionFinder = std::function<std::shared_ptr<const Function>(const std::string&)>;
std::shared_ptr<Function> from_proto(const proto::FunctionDef& in, const OpRegistry& ops,
                                     const FunctionFinder& find);

// All functions of a library, in its order. Throws InvalidArgument when one calls itself by name.
std::vector<std::shared_ptr<const Function>> from_proto(const proto::FunctionDefLibrary& in,
                                                        const OpRegistry& ops,
                                                        const FunctionFinder& known);

}  // namespace emplace
