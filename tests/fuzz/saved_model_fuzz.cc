// The file of a SavedModel.
#include <cstdlib>

#include "base/file.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  static const std::string folder = [] {
    char name[] = "/tmp/emplace_fuzz_XXXXXX";
    return std::string(mkdtemp(name));
  }();
  return fuzz::tried(data, size, [](std::string_view bytes) {
    write_file(folder + "/saved_model.pb", bytes);
    load_model(folder);
  });
}
