// Archives of arrays: names of anyone's, and arrays of what the bytes hold as .npy.
#include "format/npy.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  if (size == 0) return 0;
  return fuzz::tried(data, size, [](std::string_view bytes) {
    const size_t name = std::min<size_t>(static_cast<uint8_t>(bytes[0]), bytes.size() - 1);
    const std::pair<std::string, Tensor> arrays[] = {{std::string(bytes.substr(1, name)), parse_npy(bytes.substr(1 + name))},
                                                     {"b", Tensor(DType::kFloat, Shape{2})}};
    if (npz_bytes(arrays).size() < bytes.size() - 1 - name) __builtin_trap();
  });
}
