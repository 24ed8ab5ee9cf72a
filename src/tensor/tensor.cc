#include "emplace/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <ostream>

#include "base/host_cache.h"

namespace emplace {
namespace {

// Calls f with a typed pointer to the elements of a dtype that is not plain.
template <class F>
void visit_objects(DType dtype, void* data, F f) {
  switch (dtype) {
    case DType::kString: return f(static_cast<std::string*>(data));
    case DType::kResource: return f(static_cast<ResourceHandle*>(data));
    case DType::kVariant: return f(static_cast<Variant*>(data));
    default: return;
  }
}

// Lies at the front of its own block, the elements behind it: one allocation a tensor.
class HostBuffer final : public Buffer {
 public:
  static constexpr size_t kHeader = kHostAlignment;

  // Null when there is no memory.
  static HostBuffer* make(DType dtype, size_t elements, size_t bytes) {
    void* block = try_host_alloc(bytes + kHeader);
    if (block == nullptr) return nullptr;
    return new (block) HostBuffer(dtype, elements, bytes, static_cast<char*>(block) + kHeader);
  }

 private:
  HostBuffer(DType dtype, size_t elements, size_t bytes, void* data)
      : Buffer(data, bytes, nullptr), dtype_(dtype), elements_(elements) {
    visit_objects(dtype, data,
                  [elements](auto* p) { std::uninitialized_value_construct_n(p, elements); });
  }

  void destroy() override {
    visit_objects(dtype_, data_, [n = elements_](auto* p) { std::destroy_n(p, n); });
    const size_t block = bytes_ + kHeader;
    this->~HostBuffer();
    host_free(this, block);
  }

  DType dtype_;
  size_t elements_;
};
static_assert(sizeof(HostBuffer) <= HostBuffer::kHeader);

class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(void* data, size_t bytes, std::function<void()> release)
      : Buffer(data, bytes, nullptr), release_(std::move(release)) {}
  ~BorrowedBuffer() override {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

int64_t elements_of(DType dtype, const Shape& shape) {
  if (dtype_size(dtype) == 0) throw invalid_argument("a tensor needs a valid dtype");
  if (!shape.has_rank()) throw invalid_argument("a tensor's shape must be known, not <unknown>");
  const int64_t n = checked_elements(shape.dims());
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(n), dtype_size(dtype), &bytes) ||
      bytes > static_cast<size_t>(INT64_MAX) - kHostAlignment)
    throw invalid_argument(
        fmt::format("a tensor of shape {} and type {} is larger than memory "
                    "can be",
                    shape.str(), dtype_proto_name(dtype)));
  return n;
}

[[noreturn]] void throw_out_of_memory(DType dtype, const Shape& shape) {
  throw resource_exhausted(
      fmt::format("OOM when allocating tensor with shape{} and type {} on host", shape.str(),
                  dtype_proto_name(dtype)));
}

// Quantised elements are read as the integers they are stored in.
DType storage_of(DType t) {
  switch (t) {
    case DType::kQint8: return DType::kInt8;
    case DType::kQuint8: return DType::kUint8;
    case DType::kQint16: return DType::kInt16;
    case DType::kQuint16: return DType::kUint16;
    case DType::kQint32: return DType::kInt32;
    default: return t;
  }
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape)
    : dtype_(dtype), elements_(elements_of(dtype, shape)), shape_(std::move(shape)) {
  HostBuffer* buffer = HostBuffer::make(dtype, static_cast<size_t>(elements_), bytes());
  if (buffer == nullptr) throw_out_of_memory(dtype, shape_);
  buffer_ = BufferPtr(buffer);
  data_ = buffer->data();
}

Tensor::Tensor(DType dtype, Shape shape, BufferPtr buffer, size_t offset)
    : dtype_(dtype),
      elements_(elements_of(dtype, shape)),
      shape_(std::move(shape)),
      buffer_(std::move(buffer)) {
  const size_t available = buffer_ ? buffer_->bytes() : 0;
  if (offset > available || bytes() > available - offset)
    throw internal_error(fmt::format("a tensor of {} bytes at {} does not fit a buffer of {}",
                                     bytes(), offset, available));
  if (buffer_) data_ = static_cast<char*>(buffer_->data()) + offset;
}

Tensor Tensor::borrow(DType dtype, Shape shape, void* data, std::function<void()> release) {
  const size_t bytes = static_cast<size_t>(elements_of(dtype, shape)) * dtype_size(dtype);
  if (data == nullptr && bytes > 0)
    throw invalid_argument("no memory to borrow for a tensor of shape " + shape.str());
  auto* buffer = new BorrowedBuffer(data, bytes, std::move(release));
  return Tensor(dtype, std::move(shape), BufferPtr(buffer));
}

void Tensor::expect(DType t) const {
  if (dtype_ != t && storage_of(dtype_) != t)
    throw invalid_argument(fmt::format("expected a tensor of {}, not of {}", dtype_proto_name(t),
                                       dtype_proto_name(dtype_)));
  if (device() != nullptr)
    throw failed_precondition("a tensor in a device's memory cannot be read on the host");
}

void Tensor::fail_item() const {
  throw invalid_argument("a tensor of shape " + shape_.str() + " is not a single item");
}

Tensor Tensor::reshaped(Shape shape) const {
  if (!shape.has_rank() || checked_elements(shape.dims()) != elements_)
    throw invalid_argument(
        fmt::format("a tensor of shape {} cannot be reshaped to {}", shape_.str(), shape.str()));
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::bitcast(DType dtype, Shape shape) const {
  const int64_t elements = elements_of(dtype, shape);
  if (!is_plain(dtype) || !is_plain(dtype_) ||
      static_cast<size_t>(elements) * dtype_size(dtype) != bytes())
    throw invalid_argument(fmt::format("a tensor of {} {} cannot be read as {} {}",
                                       dtype_proto_name(dtype_), shape_.str(),
                                       dtype_proto_name(dtype), shape.str()));
  Tensor t = *this;
  t.dtype_ = dtype;
  t.elements_ = elements;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::slice(int64_t begin, int64_t end) const {
  if (rank() < 1 || begin < 0 || begin > end || end > dim(0))
    throw invalid_argument(
        fmt::format("rows [{}, {}) do not lie in a tensor of shape {}", begin, end, shape_.str()));
  const int64_t row = dim(0) == 0 ? 0 : elements_ / dim(0);
  Tensor t = *this;
  t.shape_.set_dim(0, end - begin);
  t.elements_ = row * (end - begin);
  if (data_)
    t.data_ = static_cast<char*>(data_) + static_cast<size_t>(row * begin) * dtype_size(dtype_);
  return t;
}

Tensor Tensor::copy() const {
  if (!has_value()) return {};
  expect(storage_of(dtype_));
  Tensor t(dtype_, shape_);
  if (is_plain(dtype_)) {
    if (elements_ > 0) std::memcpy(t.data_, data_, bytes());
  } else {
    visit_objects(dtype_, data_,
                  [&]<class T>(const T* from) { std::copy_n(from, elements_, t.data<T>()); });
  }
  return t;
}

std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << t.str(); }

}  // namespace emplace
