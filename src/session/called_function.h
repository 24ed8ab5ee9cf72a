#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernel/called_function.h"
#include "session/session_impl.h"

namespace emplace {

// Finds a function by its name; null if there is none.
using FunctionLookup = std::function<std::shared_ptr<const Function>(const std::string& name)>;

// Puts a function into a graph, and those that it calls in turn as far as they are known. `each`: is
// shown their nodes.
void add_with_called(Graph& graph, const std::shared_ptr<const Function>& f, const FunctionLookup& find,
                     const std::function<void(const Node&)>& each = {});

// The function called `name`, with those it calls in turn, for kernels to call over somebody's
// devices and resources. What names no device runs on the first CPU. NotFound when one of them is
// missing.
std::shared_ptr<CalledFunction> called_function(const std::string& name, const FunctionLookup& find,
                                                const SessionOptions& options,
                                                const KernelRegistry& kernels, SharedParts shared);

}  // namespace emplace
