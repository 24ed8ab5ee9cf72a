#pragma once
#include <fmt/format.h>

#include <memory>
#include <string>

#include "kernel/kernel.h"

namespace emplace {

// What stacks and arrays of a step share: a handle that owns its resource, and scalars of the host.

template <class R>
Tensor handle_to(std::shared_ptr<R> resource, std::string name, std::string_view type) {
  Tensor t(DType::kResource, Shape{});
  auto& h = *t.data<ResourceHandle>();
  h.name = std::move(name);
  h.type_name = type;
  h.resource = std::move(resource);
  return t;
}

inline int32_t int_in(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.num_elements() != 1)
    throw invalid_argument(fmt::format("input {} of {} must be a scalar, but has shape {}", i,
                                       c.node(), t.shape().str()));
  return *t.data<int32_t>();
}

}  // namespace emplace
