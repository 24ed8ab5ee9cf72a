// TensorProto in bytes: what is read has its dtype and shape again once written.
#include "emplace/proto/tensor.pb.h"
#include "fuzz.h"
#include "graph/tensor_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace emplace;
  return fuzz::tried(data, size, [](std::string_view bytes) {
    proto::TensorProto message, written;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
    const Tensor t = from_proto(message);
    to_proto(t, &written);
    const Tensor again = from_proto(written);
    if (!(again.shape() == t.shape()) || again.dtype() != t.dtype()) __builtin_trap();
  });
}
