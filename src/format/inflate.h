#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace emplace {

// Unpacks bytes as they come. `type`: "ZLIB" or "GZIP"; InvalidArgument for another, Unimplemented
// where the library is missing.
class Unpacker {
 public:
  explicit Unpacker(std::string_view type);
  ~Unpacker();
  // Appends what they hold. DataLoss for bytes that were not packed so.
  void feed(std::string_view packed, std::string& out);
  // DataLoss unless what was packed ends here.
  void finish();

 private:
  struct Stream;
  const std::unique_ptr<Stream> stream_;
};

// What compressed bytes hold; of type "" they are as they are.
std::string unpack(std::string_view packed, std::string_view type);
// Compressed bytes that hold these.
std::string pack(std::string_view bytes, std::string_view type);
// InvalidArgument for a type that there is not.
void check_compression(std::string_view type);

}  // namespace emplace
