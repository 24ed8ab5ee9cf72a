#include "tensor/fingerprint.h"

#include "base/flat_index.h"

namespace emplace {

void Fingerprint::add(uint64_t n) {
  value_ = (value_ ^ n) * 0x9e3779b97f4a7c15ULL;
  value_ ^= value_ >> 29;
}

void Fingerprint::add(std::string_view bytes) { add(hash_of_bytes(bytes)); }

void Fingerprint::add(const Tensor& t) {
  add(static_cast<uint64_t>(t.dtype()));
  for (const int64_t d : t.shape().dims()) add(static_cast<uint64_t>(d));
  if (t.dtype() == DType::kString)
    for (const std::string& s : t.values<std::string>()) add(std::string_view(s));
  else if (is_plain(t.dtype()) && t.has_value() && !t.device())
    add(std::string_view(static_cast<const char*>(t.raw()), t.bytes()));
}

}  // namespace emplace
