#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "emplace/tensor.h"

namespace emplace {

class Device;

// A variable's memory, shared by the ref and resource forms. Readers take a handle to the tensor;
// a writer writes in place when nobody else holds one, else into fresh memory (copy on write), so
// that a concurrent reader never sees half a write.
class Variable : public Resource {
 public:
  Variable(std::string name, DType dtype, Shape shape, Device* device);

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }  // declared; may have unknown dimensions
  Device* device() const { return device_; }
  bool initialized() const;

  // FailedPrecondition "Attempting to use uninitialized value <name>" when not set.
  Tensor read() const;      // shares memory
  Tensor snapshot() const;  // own memory
  void assign(const Tensor& value, int own_aliases);  // copies the bytes; may change the shape
  void adopt(Tensor value);                           // takes the handle
  void clear();
  // Calls f(Tensor&) on memory that f may change in place. `own_aliases`: handles that the caller's
  // plan holds but is done with.
  void update(int own_aliases, FunctionRef<void(Tensor&)> f);

  // Where its value lies (null: none), and how many hold it.
  struct Place {
    const void* address;
    int holders;
  };
  Place place() const;

  std::mutex& mutex() const { return mutex_; }
  std::string debug_string() const override;

 private:
  Tensor fresh(const Shape& shape) const;
  void make_private(int own_aliases);
  void copy_bytes(Tensor& to, const Tensor& from) const;
  void check_value(const Tensor& value) const;
  bool only_ours(int own_aliases) const;

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  Device* const device_;
  mutable std::mutex mutex_;
  Tensor value_;
};

// The resources of a session, by container and name. Thread-safe.
class ResourceManager {
 public:
  // The resource of that name, made by `make` when there is none.
  std::shared_ptr<Resource> find_or_create(const std::string& container, const std::string& name,
                                           const std::function<std::shared_ptr<Resource>()>& make);
  // … as an R. Throws InvalidArgument when it exists with another type.
  template <class R>
  std::shared_ptr<R> find_or_create_as(const std::string& container, const std::string& name,
                                       const std::function<std::shared_ptr<Resource>()>& make) {
    auto r = std::dynamic_pointer_cast<R>(find_or_create(container, name, make));
    if (!r) wrong_type(container, name);
    return r;
  }
  std::shared_ptr<Resource> find(const std::string& container, const std::string& name) const;
  bool erase(const std::string& container, const std::string& name);
  // Forgets what the container ("": every one) holds. Variables that plans keep handles to stay and
  // lose their value.
  void clear(const std::string& container);
  // Every resource, in order of container and name.
  std::vector<std::shared_ptr<Resource>> all() const;

 private:
  [[noreturn]] static void wrong_type(const std::string& container, const std::string& name);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Resource>> resources_;
};

}  // namespace emplace
