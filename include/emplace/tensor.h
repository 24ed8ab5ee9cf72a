#pragma once
#include <atomic>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emplace/dtype.h"
#include "emplace/error.h"
#include "emplace/export.h"
#include "emplace/shape.h"

namespace emplace {

class Device;  // the engine's; a tensor only carries the pointer

// Memory behind tensors: counted by reference, freed by its maker. A buffer of strings, handles
// or variants holds live objects and destroys them.
class EMPLACE_API Buffer {
 public:
  Buffer(void* data, size_t bytes, Device* device) : data_(data), bytes_(bytes), device_(device) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device* device() const { return device_; }  // null: host memory
  int refs() const { return refs_.load(std::memory_order_acquire); }
  bool unique() const { return refs() == 1; }
  void ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  virtual void destroy() { delete this; }
  void* data_;
  size_t bytes_;
  Device* device_;

 private:
  std::atomic<int32_t> refs_{1};
};

// Owning pointer to a Buffer; `BufferPtr(p)` takes over the reference that `p` was made with.
class BufferPtr {
 public:
  BufferPtr() = default;
  explicit BufferPtr(Buffer* adopted) : p_(adopted) {}
  BufferPtr(const BufferPtr& o) : p_(o.p_) {
    if (p_) p_->ref();
  }
  BufferPtr(BufferPtr&& o) noexcept : p_(o.p_) { o.p_ = nullptr; }
  BufferPtr& operator=(BufferPtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~BufferPtr() {
    if (p_) p_->unref();
  }
  Buffer* get() const { return p_; }
  Buffer* operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  Buffer* p_ = nullptr;
};

// A value: dtype, shape and a counted buffer. Copying copies the handle. Immutable when shared.
class EMPLACE_API Tensor {
 public:
  Tensor() = default;  // no value: dtype() == kInvalid
  // Fresh host memory, 64-byte aligned; plain dtypes are left unset, others default-constructed.
  Tensor(DType dtype, Shape shape);
  Tensor(DType dtype, Shape shape, BufferPtr buffer, size_t offset = 0);
  // Memory of the caller's, kept until `release` is called (when the last handle goes).
  static Tensor borrow(DType dtype, Shape shape, void* data, std::function<void()> release);

  template <class T>
  static Tensor scalar(T v);
  template <class T>
  static Tensor of(std::initializer_list<T> values, Shape shape);
  template <class T>
  static Tensor vector(std::span<const T> values);
  static Tensor string(std::string v) { return scalar<std::string>(std::move(v)); }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_.dim(i); }
  int64_t num_elements() const { return elements_; }
  size_t bytes() const { return static_cast<size_t>(elements_) * dtype_size(dtype_); }
  bool has_value() const { return dtype_ != DType::kInvalid; }
  void* raw() const { return data_; }
  const BufferPtr& buffer() const { return buffer_; }
  Device* device() const { return buffer_ ? buffer_->device() : nullptr; }

  // Unchecked element access for code that has looked at dtype().
  template <class T>
  T* data() const {
    return static_cast<T*>(data_);
  }
  // Checked access; host tensors only.
  template <class T>
  std::span<const T> values() const {
    expect(DTypeOf<T>::value);
    return {static_cast<const T*>(data_), static_cast<size_t>(elements_)};
  }
  template <class T>
  const T& item() const {  // of a tensor with one element; InvalidArgument of others
    const std::span<const T> all = values<T>();
    if (all.size() != 1) fail_item();
    return all[0];
  }

  // The same memory under another shape (as many elements) or another dtype (as many bytes).
  Tensor reshaped(Shape shape) const;
  Tensor bitcast(DType dtype, Shape shape) const;
  // Rows [begin, end) of the first dimension, sharing memory.
  Tensor slice(int64_t begin, int64_t end) const;
  Tensor copy() const;  // host tensors: own memory

  // As NumPy prints an array: "[[22. 28.]\n [49. 64.]]".
  std::string str() const;
  // First elements on one line, as in node definitions: "1 2 3...".
  std::string summary(int max_elements) const;

 private:
  void expect(DType t) const;
  [[noreturn]] void fail_item() const;

  DType dtype_ = DType::kInvalid;
  int64_t elements_ = 0;
  void* data_ = nullptr;
  Shape shape_;
  BufferPtr buffer_;
};

EMPLACE_API std::ostream& operator<<(std::ostream& os, const Tensor& t);

// What lives behind a DT_RESOURCE value: a variable, a queue, … shared by its handles.
class EMPLACE_API Resource {
 public:
  virtual ~Resource() = default;
  virtual std::string debug_string() const = 0;
};

// The element type of DT_RESOURCE tensors.
class EMPLACE_API ResourceHandle {
 public:
  std::string device, container, name, type_name;
  std::shared_ptr<Resource> resource;
};

// What lives inside a DT_VARIANT value (a tensor list, an optional).
class EMPLACE_API VariantValue {
 public:
  virtual ~VariantValue() = default;
  virtual std::string_view type_name() const = 0;
};

// The element type of DT_VARIANT tensors. Values are immutable when shared.
class EMPLACE_API Variant {
 public:
  std::shared_ptr<VariantValue> value;
};

template <class T>
Tensor Tensor::scalar(T v) {
  Tensor t(DTypeOf<T>::value, Shape{});
  *t.data<T>() = std::move(v);
  return t;
}

template <class T>
Tensor Tensor::of(std::initializer_list<T> values, Shape shape) {
  Tensor t(DTypeOf<T>::value, std::move(shape));
  if (static_cast<int64_t>(values.size()) != t.num_elements())
    throw invalid_argument("number of values does not match shape " + t.shape().str());
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

template <class T>
Tensor Tensor::vector(std::span<const T> values) {
  Tensor t(DTypeOf<T>::value, Shape{static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

}  // namespace emplace
