// .npy files: what is read can be written and read again.
#include "format/npy.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view bytes) {
    const Tensor t = parse_npy(bytes);
    const Tensor again = parse_npy(npy_bytes(t));
    if (!(again.shape() == t.shape()) || again.dtype() != t.dtype()) __builtin_trap();
  });
}
