#include "emplace/attr.h"

#include <fmt/format.h>

#include <algorithm>

#include "emplace/error.h"
#include "tensor/text.h"

namespace emplace {
namespace {

constexpr size_t kLongString = 80;
constexpr size_t kLongList = 30;
constexpr size_t kEnds = 5;  // items of a long list shown at either end
constexpr int kTensorValues = 3;

std::string text(std::monostate) { return "<unset>"; }
std::string text(int64_t v) { return std::to_string(v); }
std::string text(float v) { return number_text(v); }
std::string text(bool v) { return v ? "true" : "false"; }
std::string text(DType v) { return std::string(dtype_enum_name(v)); }
std::string text(const Shape& v) { return v.str(); }

std::string text(const std::string& v) {
  const std::string escaped = c_escaped(v);
  if (escaped.size() < kLongString) return '"' + escaped + '"';
  return '"' + escaped.substr(0, 10) + "..." + escaped.substr(escaped.size() - 10) + '"';
}

std::string text(const Tensor& v) {
  return fmt::format("Tensor<type: {} shape: {} values: {}>", dtype_proto_name(v.dtype()),
                     v.shape().str(), v.summary(kTensorValues));
}

std::string text(const FunctionName& v) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : v.attrs) entries.push_back(name + "=" + value.str());
  std::sort(entries.begin(), entries.end());
  return fmt::format("{}[{}]", v.name, fmt::join(entries, ", "));
}

template <class T>
std::string text(const std::vector<T>& list) {
  std::vector<std::string> items;
  const bool is_long = list.size() >= kLongList;
  for (size_t i = 0; i < list.size(); ++i) {
    if (is_long && i == kEnds) {
      items.push_back("...");
      i = list.size() - kEnds;
    }
    items.push_back(text(static_cast<const T&>(list[i])));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool same(const AttrList& a, const AttrList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second == y.second;
  });
}

bool same(const ResourceHandle& a, const ResourceHandle& b) {
  return a.resource == b.resource && a.name == b.name && a.container == b.container &&
         a.device == b.device;
}

bool same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.raw() == b.raw()) return true;
  if (a.device() != nullptr || b.device() != nullptr) return false;
  if (a.dtype() == DType::kString)
    return std::ranges::equal(a.values<std::string>(), b.values<std::string>());
  if (a.dtype() == DType::kResource)
    return std::ranges::equal(
        a.values<ResourceHandle>(), b.values<ResourceHandle>(),
        [](const ResourceHandle& x, const ResourceHandle& y) { return same(x, y); });
  if (a.dtype() == DType::kVariant)
    return std::ranges::equal(a.values<Variant>(), b.values<Variant>(), {}, &Variant::value,
                              &Variant::value);
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

bool same(const FunctionName& a, const FunctionName& b) {
  return a.name == b.name && same(a.attrs, b.attrs);
}

// By bits: two nodes with the same NaN have the same attribute; 0.0 and -0.0 differ.
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}

bool name_before(const std::pair<std::string, AttrValue>& attr, std::string_view name) {
  return attr.first < name;
}

constexpr std::string_view kKinds[] = {
    "unset",      "string",     "int",         "float",        "bool",      "type",
    "shape",      "tensor",     "func",        "list(string)", "list(int)", "list(float)",
    "list(bool)", "list(type)", "list(shape)", "list(tensor)", "list(func)"};
static_assert(std::size(kKinds) == std::variant_size_v<AttrValue::Value>);

}  // namespace

bool AttrValue::operator==(const AttrValue& o) const {
  if (v_.index() != o.v_.index()) return false;
  return std::visit([&o]<class T>(const T& mine) { return same(mine, *std::get_if<T>(&o.v_)); },
                    v_);
}

std::string AttrValue::str() const {
  return std::visit([](const auto& v) { return text(v); }, v_);
}

void AttrValue::bad_kind() const {
  throw invalid_argument(fmt::format(
      "the attribute's value {} is of kind {}, not the one asked for", str(), kKinds[v_.index()]));
}

const AttrValue* find_attr(const AttrList& attrs, std::string_view name) {
  const auto it = std::lower_bound(attrs.begin(), attrs.end(), name, name_before);
  return it != attrs.end() && it->first == name ? &it->second : nullptr;
}

void set_attr(AttrList& attrs, std::string_view name, AttrValue value) {
  const auto it = std::lower_bound(attrs.begin(), attrs.end(), name, name_before);
  if (it != attrs.end() && it->first == name) {
    it->second = std::move(value);
  } else {
    attrs.emplace(it, std::string(name), std::move(value));
  }
}

}  // namespace emplace
