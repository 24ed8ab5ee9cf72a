#include "kernel/sum.h"

#include <fmt/format.h>

#include <complex>

#include "device/element_work.h"

namespace emplace {
namespace {

template <class T>
void add(Tensor& to, const Tensor& from) {
  T* out = to.data<T>();
  const T* in = from.data<T>();
  for (int64_t i = 0; i < to.num_elements(); ++i) out[i] = static_cast<T>(out[i] + in[i]);
}

}  // namespace

void add_elements(Device& device, Tensor& to, const Tensor& from) {
  if (auto* const card = dynamic_cast<ElementWork*>(&device); card && to.device())
    return card->add(to.dtype(), to.raw(), from.raw(), to.num_elements());
  switch (to.dtype()) {
    case DType::kFloat: return add<float>(to, from);
    case DType::kDouble: return add<double>(to, from);
    case DType::kInt32: return add<int32_t>(to, from);
    case DType::kInt64: return add<int64_t>(to, from);
    case DType::kInt16: return add<int16_t>(to, from);
    case DType::kInt8: return add<int8_t>(to, from);
    case DType::kUint8: return add<uint8_t>(to, from);
    case DType::kComplex64: return add<std::complex<float>>(to, from);
    case DType::kComplex128: return add<std::complex<double>>(to, from);
    default:
      throw unimplemented(fmt::format("no sum of {}", dtype_proto_name(to.dtype())));
  }
}

}  // namespace emplace
