#pragma once
#include <memory>
#include <string>

#include "kernel/kernel.h"

namespace emplace {

// The name under which a node's resource is found: the one it shares, or the node's own.
inline std::string shared_name(const KernelInit& init) {
  const auto& shared = init.attr<std::string>("shared_name");
  return shared.empty() ? std::string(init.node) : shared;
}

// A kernel that gives a handle to a resource found when it was prepared.
struct GiveHandle {
  std::shared_ptr<Resource> resource;
  std::string container, name, type_name;
  void operator()(KernelContext& c) const {
    Tensor t(DType::kResource, Shape{});
    auto& h = *t.data<ResourceHandle>();
    h.container = container;
    h.name = name;
    h.type_name = type_name;
    h.device = c.device().name();
    h.resource = resource;
    c.set_output(0, std::move(t));
  }
};

}  // namespace emplace
