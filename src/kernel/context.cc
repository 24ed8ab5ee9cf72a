#include <algorithm>

#include <fmt/format.h>

#include "kernel/kernel.h"

namespace emplace {

std::shared_ptr<void>& KernelHost::keepsake(uint32_t) {
  throw internal_error("nothing is kept between calls here");
}

bool KernelInit::static_shapes() const {
  auto known = [](const Shape& s) { return s.is_fully_known(); };
  return input_shapes.size() == input_types.size() &&
         output_shapes.size() == output_types.size() &&
         std::all_of(input_shapes.begin(), input_shapes.end(), known) &&
         std::all_of(output_shapes.begin(), output_shapes.end(), known);
}

int KernelInit::input_index(std::string_view arg, int within) const {
  const int position = op->input_index(arg);
  if (position < 0) throw internal_error(fmt::format("{} has no input '{}'", op->name, arg));
  return input_range(*op, *attrs, position).begin + within;
}

const AttrValue* KernelInit::find(std::string_view name) const {
  return op->find_attr(name) ? find_attr(*attrs, name) : nullptr;
}

void KernelInit::missing_attr(std::string_view name) const {
  throw invalid_argument(
      fmt::format("No attr named '{}' in NodeDef of '{}' ({})", name, node, op ? op->name : "?"));
}

void CallSite::count(size_t inputs, size_t outputs) {
  num_inputs = inputs & 0xffffff;
  num_outputs = outputs & 0xffffff;
  if (num_inputs != inputs || num_outputs != outputs)
    throw invalid_argument(fmt::format("an operation can't have {} inputs and {} outputs", inputs,
                                       outputs));
}

void KernelContext::set_output(int i, Tensor t) {
  Tensor& slot = output_slot(i);
  if (i >= 32 || !(site_->planned >> i & 1)) {
    slot = std::move(t);
    return;
  }
  if (t.raw() == slot.raw() && t.raw()) return;
  if (!(t.shape() == slot.shape())) not_as_planned(i, t.shape());
  if (Device* d = slot.device(); d && is_plain(slot.dtype()))
    d->copy(slot.raw(), t.raw(), t.bytes());
  else
    copy_elements(slot, t);
}

void KernelContext::not_as_planned(int i, const Shape& shape) const {
  throw internal_error(fmt::format("output {} of {} has shape {}, planned was {}", i, node(),
                                   shape.str(), output_slot(i).shape().str()));
}

Tensor& KernelContext::allocate(int i, const Shape& shape) {
  checked_elements(shape.dims());
  const bool host = i < 32 && (site_->host_outputs >> i & 1);
  Tensor& slot = output_slot(i);
  slot = host_->allocate(*this, i, output_type(i), shape, host);
  return slot;
}

Tensor KernelContext::temp(DType dtype, const Shape& shape) {
  const int64_t n = checked_elements(shape.dims());
  if (!is_plain(dtype)) return Tensor(dtype, shape);
  return Tensor(dtype, shape, device().allocate(n * dtype_size(dtype), node()));
}

const ResourceHandle& KernelContext::handle(int i) const {
  const Tensor& t = input(i);
  if (t.dtype() != DType::kResource || t.num_elements() != 1)
    throw invalid_argument(fmt::format("input {} of {} is not a resource handle", i, node()));
  return *t.data<ResourceHandle>();
}

Variable& KernelContext::variable(int i) const {
  const ResourceHandle& h = handle(i);
  auto* v = dynamic_cast<Variable*>(h.resource.get());
  if (!v) bad_resource(i);
  return *v;
}

void KernelContext::bad_resource(int i) const {
  const ResourceHandle& h = handle(i);
  if (!h.resource)
    throw not_found(fmt::format("Resource {}/{} does not exist.", h.container, h.name));
  throw invalid_argument(
      fmt::format("Trying to access a handle's resource using the wrong type. The handle points to "
                  "a resource (name '{}') of type '{}'.",
                  h.name, h.type_name));
}

void copy_elements(Tensor& to, const Tensor& from) {
  const int64_t n = from.num_elements();
  switch (from.dtype()) {
    case DType::kString:
      std::copy_n(from.data<std::string>(), n, to.data<std::string>());
      break;
    case DType::kResource:
      std::copy_n(from.data<ResourceHandle>(), n, to.data<ResourceHandle>());
      break;
    case DType::kVariant:
      std::copy_n(from.data<Variant>(), n, to.data<Variant>());
      break;
    default:
      if (n > 0) std::memcpy(to.raw(), from.raw(), from.bytes());
  }
}

}  // namespace emplace
