#include "tensor/attr_key.h"

#include <cstring>
#include <type_traits>

namespace emplace {
namespace {

template <class T>
void put_bits(std::string& key, const T& v) {
  char bytes[sizeof v];
  std::memcpy(bytes, &v, sizeof v);
  key.append(bytes, sizeof v);
}

void put(std::string& key, const std::string& v) {
  put_bits(key, v.size());
  key += v;
}
void put(std::string& key, const Shape& v) { put(key, v.str()); }
template <class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void put(std::string& key, T v) { put_bits(key, v); }
template <class T>
void put(std::string& key, const std::vector<T>& list) {
  put_bits(key, list.size());
  for (size_t i = 0; i < list.size(); ++i) put(key, static_cast<const T&>(list[i]));
}

template <class T>
bool put_value(std::string& key, const AttrValue& value) {
  if (!value.is<T>()) return false;
  put(key, value.as<T>());
  return true;
}

template <class... T>
bool put_any(std::string& key, const AttrValue& value) {
  return (put_value<T>(key, value) || ...) || (put_value<std::vector<T>>(key, value) || ...);
}

}  // namespace

std::string attr_key(const AttrValue& value) {
  std::string key;
  return put_any<std::string, int64_t, float, bool, DType, Shape>(key, value) ? key : value.str();
}

}  // namespace emplace
