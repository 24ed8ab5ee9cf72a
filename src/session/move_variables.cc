#include "session/move_variables.h"

#include <cstring>

#include "kernel/resource_variable.h"

namespace emplace {
namespace {

std::string text(const Node& node, std::string_view attr) {
  const AttrValue* v = node.attr(attr);
  return v && v->is<std::string>() ? v->as<std::string>() : std::string();
}

// The value in memory of a device, whichever it is in now.
Tensor value_on(const Tensor& value, Device* to, const std::string& name) {
  if (!is_plain(value.dtype())) return value;
  Tensor host = value;
  if (Device* const from = value.device()) {
    host = Tensor(value.dtype(), value.shape());
    if (value.bytes() > 0) from->copy(host.raw(), value.raw(), value.bytes());
  }
  Tensor out(value.dtype(), value.shape(), to->allocate(value.bytes(), name));
  if (value.bytes() == 0) return out;
  if (to->is_async()) to->copy(out.raw(), host.raw(), host.bytes());
  else std::memcpy(out.raw(), host.raw(), host.bytes());
  return out;
}

}  // namespace

bool is_variable(const Node& node) {
  const std::string& op = node.type();
  return op == "VarHandleOp" || op == "VariableV2" || op == "Variable";
}

std::optional<MovingVariable> copy_variable(const ResourceManager& resources, const Node& node,
                                            Device* to) {
  if (!is_variable(node)) return std::nullopt;
  MovingVariable m{text(node, "container"), text(node, "shared_name"), nullptr, nullptr, 0};
  if (m.container.empty()) m.container = "localhost";
  if (m.name.empty()) m.name = node.name();
  m.from = std::dynamic_pointer_cast<Variable>(resources.find(m.container, m.name));
  if (!m.from || m.from->device() == to) return std::nullopt;
  if (dynamic_cast<const ResourceVariable*>(m.from.get()))
    m.to = std::make_shared<ResourceVariable>(m.container, m.name, m.from->dtype(),
                                              m.from->shape(), to);
  else
    m.to = std::make_shared<Variable>(m.name, m.from->dtype(), m.from->shape(), to);
  if (m.from->initialized()) {
    Tensor value = value_on(m.from->read(), to, m.name);
    m.bytes = static_cast<double>(value.bytes());
    m.to->adopt(std::move(value));
  }
  return m;
}

void put_in_place(ResourceManager& resources, const MovingVariable& m) {
  resources.erase(m.container, m.name);
  resources.find_or_create(m.container, m.name, [&] { return m.to; });
  m.from->clear();
}

}  // namespace emplace
