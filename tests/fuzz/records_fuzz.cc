// Files of records: the first byte says of which kind, the rest is the file.
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "format/record_files.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  if (size == 0) return 0;
  static const std::string path = [] {
    char name[] = "/tmp/emplace_fuzz_XXXXXX";
    return std::string(mkdtemp(name)) + "/records";
  }();
  return fuzz::tried(data, size, [](std::string_view bytes) {
    const auto kind = static_cast<uint8_t>(bytes[0]);
    write_file(path, bytes.substr(1));
    constexpr const char* kCompressions[] = {"", "ZLIB", "GZIP"};
    const std::string compression = kCompressions[kind / 4 % 3];
    std::unique_ptr<OpenFile> file;
    switch (kind % 4) {
      case 0: file = open_framed(path, compression); break;
      case 1: file = open_lines(path, kind / 16, compression); break;
      case 2: file = open_fixed(path, {1 + kind / 16, kind % 3, kind % 2, 0, kind % 5 == 0}, compression); break;
      default: file = open_whole(path);
    }
    while (file->next()) {
    }
  });
}
