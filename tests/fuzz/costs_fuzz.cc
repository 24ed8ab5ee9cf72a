// Books of costs as JSON: what is read can be written and read again.
#include "emplace/plan.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return emplace::fuzz::tried(data, size, [](std::string_view text) {
    emplace::CostBook::parse(emplace::CostBook::parse(text).json());
  });
}
