// ConfigProto as text.
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return emplace::fuzz::tried(data, size,
                              [](std::string_view text) { emplace::session_options(text); });
}
