#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emplace/dtype.h"
#include "emplace/shape.h"
#include "emplace/tensor.h"

namespace emplace {

class AttrValue;
// Attributes of a node, sorted by name.
using AttrList = std::vector<std::pair<std::string, AttrValue>>;

// A function named in an attribute, with attributes of its own.
struct FunctionName {
  std::string name;
  AttrList attrs;
};

// The type an attribute is declared with; `list` says list(type).
enum class AttrType : uint8_t { kString, kInt, kFloat, kBool, kType, kShape, kTensor, kFunc };

// One attribute's value: a scalar of the eight kinds or a list of them.
class EMPLACE_API AttrValue {
 public:
  using Value =
      std::variant<std::monostate, std::string, int64_t, float, bool, DType, Shape, Tensor,
                   FunctionName, std::vector<std::string>, std::vector<int64_t>,
                   std::vector<float>, std::vector<bool>, std::vector<DType>, std::vector<Shape>,
                   std::vector<Tensor>, std::vector<FunctionName>>;

  AttrValue() = default;
  AttrValue(std::string v) : v_(std::move(v)) {}
  AttrValue(std::string_view v) : v_(std::string(v)) {}
  AttrValue(const char* v) : v_(std::string(v)) {}
  AttrValue(int v) : v_(int64_t{v}) {}
  AttrValue(int64_t v) : v_(v) {}
  AttrValue(float v) : v_(v) {}
  AttrValue(double v) : v_(static_cast<float>(v)) {}
  AttrValue(bool v) : v_(v) {}
  AttrValue(DType v) : v_(v) {}
  AttrValue(Shape v) : v_(std::move(v)) {}
  AttrValue(Tensor v) : v_(std::move(v)) {}
  AttrValue(FunctionName v) : v_(std::move(v)) {}
  template <class T>
  AttrValue(std::vector<T> v) : v_(std::move(v)) {}

  bool is_set() const { return v_.index() != 0; }
  bool is_list() const { return v_.index() > 8; }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(v_);
  }
  // The value as T; throws InvalidArgument when it is of another kind.
  template <class T>
  const T& as() const {
    if (const T* p = std::get_if<T>(&v_)) return *p;
    bad_kind();
  }
  const Value& value() const { return v_; }
  bool operator==(const AttrValue& o) const;

  // As in node definitions: `DT_FLOAT`, `"SAME"`, `[2,3]`, `[1, 2]`,
  // `Tensor<type: float shape: [3,2] values: 1 2 3...>`.
  std::string str() const;

 private:
  [[noreturn]] void bad_kind() const;
  Value v_;
};

// The attribute called `name`, or null.
EMPLACE_API const AttrValue* find_attr(const AttrList& attrs, std::string_view name);
EMPLACE_API void set_attr(AttrList& attrs, std::string_view name, AttrValue value);

}  // namespace emplace
