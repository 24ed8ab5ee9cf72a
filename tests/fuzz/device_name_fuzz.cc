// Device names: what parses prints and parses to the same.
#include "base/device_name.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view text) {
    const auto name = DeviceName::try_parse(text);
    if (name && DeviceName::parse(name->to_string()) != *name) __builtin_trap();
  });
}
