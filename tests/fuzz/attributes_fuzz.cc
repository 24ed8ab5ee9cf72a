// AttrValue in bytes: what is read can be written and read again.
#include "emplace/proto/graph.pb.h"
#include "fuzz.h"
#include "graph/attr_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view bytes) {
    proto::AttrValue message, written;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
    to_proto(from_proto(message), &written);
    from_proto(written);
  });
}
