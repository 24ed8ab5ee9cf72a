#include "kernel/keep.h"

#include <fmt/format.h>

#include <cstring>

#include "device/element_work.h"

namespace emplace {
namespace {

char* element(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.raw()) + static_cast<size_t>(i) * dtype_size(t.dtype());
}

// Between places in host memory no device is asked: a card's would wait for its work.
void move(KernelContext& c, void* to, const void* from, size_t bytes, bool on_device) {
  if (bytes == 0) return;
  if (on_device) c.device().copy(to, from, bytes);
  else std::memcpy(to, from, bytes);
}

template <class T>
void assign(Tensor& to, int64_t first, const Tensor& from) {
  std::copy_n(from.data<T>(), from.num_elements(), to.data<T>() + first);
}

}  // namespace

Tensor keep(KernelContext& c, const Tensor& t) {
  if (!is_plain(t.dtype())) return t;  // never laid out by a plan
  Tensor own = t.device() ? c.temp(t.dtype(), t.shape()) : Tensor(t.dtype(), t.shape());
  move(c, own.raw(), t.raw(), t.bytes(), t.device());
  return own;
}

Tensor keep_rows(KernelContext& c, const Tensor& t, int64_t begin, int64_t end,
                 const Shape& shape) {
  return keep(c, t.slice(begin, end).reshaped(shape));
}

void put(KernelContext& c, Tensor& to, int64_t first, const Tensor& from) {
  if (to.dtype() != from.dtype())  // elements differ in size, and in what they own
    throw internal_error(fmt::format("a tensor of {} can't be put in one of {}",
                                     dtype_proto_name(from.dtype()), dtype_proto_name(to.dtype())));
  switch (to.dtype()) {
    case DType::kString: return assign<std::string>(to, first, from);
    case DType::kVariant: return assign<Variant>(to, first, from);
    case DType::kResource: return assign<ResourceHandle>(to, first, from);
    default:
      move(c, element(to, first), from.raw(), from.bytes(), to.device() || from.device());
  }
}

void put_zeros(KernelContext& c, Tensor& to, int64_t first, int64_t count) {
  if (!is_plain(to.dtype())) return;  // made empty
  const size_t bytes = static_cast<size_t>(count) * dtype_size(to.dtype());
  if (bytes == 0) return;
  if (!to.device()) {
    std::memset(element(to, first), 0, bytes);
    return;
  }
  if (auto* const card = dynamic_cast<ElementWork*>(&c.device()))
    return card->zero(element(to, first), bytes);
  const std::vector<char> zeros(bytes);
  c.device().copy(element(to, first), zeros.data(), bytes);
}

void check_output(const KernelContext& c, int output, DType kept) {
  if (kept != c.output_type(output))
    throw internal_error(fmt::format(
        "Output {} of type {} does not match declared output type {} for node {{{{node {}}}}}",
        output, dtype_proto_name(kept), dtype_proto_name(c.output_type(output)), c.node()));
}

Shape with_first(int64_t first, const Shape& rest) {
  if (!rest.has_rank()) return Shape::unknown();
  std::vector<int64_t> dims{first};
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return Shape(std::span<const int64_t>(dims));
}

Shape without_first(const Shape& s) {
  if (!s.has_rank() || s.rank() == 0) return Shape::unknown();
  return Shape(s.dims().subspan(1));
}

Shape shape_from(const Tensor& t) {
  if (t.rank() == 0) return Shape::unknown();
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < t.num_elements(); ++i)
    dims.push_back(t.dtype() == DType::kInt64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i]);
  return Shape(std::span<const int64_t>(dims));
}

}  // namespace emplace
