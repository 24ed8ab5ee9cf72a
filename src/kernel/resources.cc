#include "kernel/resources.h"

#include <fmt/format.h>

#include "kernel/kernel.h"
#include "kernel/resource_variable.h"

namespace emplace {
namespace {

Error without_value(const Variable& v) {
  if (const auto* const behind_handle = dynamic_cast<const ResourceVariable*>(&v))
    return behind_handle->missing();
  return failed_precondition("Attempting to use uninitialized value " + v.name());
}

}  // namespace

Variable::Variable(std::string name, DType dtype, Shape shape, Device* device)
    : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), device_(device) {}

bool Variable::initialized() const {
  std::lock_guard lock(mutex_);
  return value_.has_value();
}

Tensor Variable::read() const {
  std::lock_guard lock(mutex_);
  if (!value_.has_value()) throw without_value(*this);
  return value_;
}

Tensor Variable::snapshot() const {
  const Tensor value = read();
  Tensor own = fresh(value.shape());
  copy_bytes(own, value);
  return own;
}

void Variable::assign(const Tensor& value, int own_aliases) {
  check_value(value);
  std::lock_guard lock(mutex_);
  const bool fits = value_.has_value() && value_.shape() == value.shape();
  if (fits && value_.raw() == value.raw()) return;
  if (!fits || !only_ours(own_aliases)) value_ = fresh(value.shape());
  copy_bytes(value_, value);
}

void Variable::adopt(Tensor value) {
  check_value(value);
  std::lock_guard lock(mutex_);
  value_ = std::move(value);
}

void Variable::clear() {
  std::lock_guard lock(mutex_);
  value_ = Tensor();
}

void Variable::update(int own_aliases, FunctionRef<void(Tensor&)> f) {
  std::lock_guard lock(mutex_);
  if (!value_.has_value()) throw without_value(*this);
  make_private(own_aliases);
  f(value_);
}

Variable::Place Variable::place() const {
  std::lock_guard lock(mutex_);
  if (!value_.has_value()) return {nullptr, 0};
  return {value_.raw(), value_.buffer() ? value_.buffer()->refs() : 0};
}

std::string Variable::debug_string() const {
  return fmt::format("Variable '{}' {} {}", name_, dtype_name(dtype_), shape_.str());
}

Tensor Variable::fresh(const Shape& shape) const {
  const int64_t n = checked_elements(shape.dims());
  if (!device_ || !is_plain(dtype_)) return Tensor(dtype_, shape);
  return Tensor(dtype_, shape, device_->allocate(n * dtype_size(dtype_), name_));
}

bool Variable::only_ours(int own_aliases) const {
  return value_.buffer() && value_.buffer()->refs() <= 1 + own_aliases;
}

void Variable::make_private(int own_aliases) {
  if (only_ours(own_aliases)) return;
  Tensor own = fresh(value_.shape());
  copy_bytes(own, value_);
  value_ = std::move(own);
}

void Variable::copy_bytes(Tensor& to, const Tensor& from) const {
  if (device_ && device_->is_async() && is_plain(dtype_))
    device_->copy(to.raw(), from.raw(), from.bytes());
  else
    copy_elements(to, from);
}

void Variable::check_value(const Tensor& value) const {
  if (value.dtype() == dtype_) return;
  throw invalid_argument(fmt::format(
      "Trying to assign variable with wrong dtype. Expected {} got {}", dtype_proto_name(dtype_),
      dtype_proto_name(value.dtype())));
}

std::shared_ptr<Resource> ResourceManager::find_or_create(
    const std::string& container, const std::string& name,
    const std::function<std::shared_ptr<Resource>()>& make) {
  std::lock_guard lock(mutex_);
  if (const auto known = resources_.find({container, name}); known != resources_.end())
    return known->second;
  return resources_.emplace(std::pair(container, name), make()).first->second;
}

std::shared_ptr<Resource> ResourceManager::find(const std::string& container,
                                                const std::string& name) const {
  std::lock_guard lock(mutex_);
  auto it = resources_.find({container, name});
  return it == resources_.end() ? nullptr : it->second;
}

bool ResourceManager::erase(const std::string& container, const std::string& name) {
  std::lock_guard lock(mutex_);
  return resources_.erase({container, name}) > 0;
}

void ResourceManager::clear(const std::string& container) {
  std::lock_guard lock(mutex_);
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (!container.empty() && it->first.first != container) {
      ++it;
    } else if (auto* variable = dynamic_cast<Variable*>(it->second.get()); variable && it->second.use_count() > 1) {
      variable->clear();  // a plan holds it
      ++it;
    } else {
      it = resources_.erase(it);
    }
  }
}

std::vector<std::shared_ptr<Resource>> ResourceManager::all() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Resource>> result;
  for (const auto& [key, resource] : resources_) result.push_back(resource);
  return result;
}

void ResourceManager::wrong_type(const std::string& container, const std::string& name) {
  throw invalid_argument(
      fmt::format("Resource {}/{} exists with another type", container, name));
}

}  // namespace emplace
