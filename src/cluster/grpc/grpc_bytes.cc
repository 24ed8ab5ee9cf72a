#include "cluster/grpc/grpc_bytes.h"

namespace emplace::cluster {

grpc::ByteBuffer to_buffer(const Bytes& bytes) {
  std::vector<grpc::Slice> slices;
  for (const Bytes::Piece& piece : bytes.pieces()) {
    auto* const owner = new std::shared_ptr<const void>(piece.owner);
    slices.emplace_back(
        const_cast<char*>(piece.data), piece.size,
        [](void* kept) { delete static_cast<std::shared_ptr<const void>*>(kept); }, owner);
  }
  return {slices.data(), slices.size()};
}

Bytes from_buffer(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  Bytes bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& s : slices) {
    auto owner = std::make_shared<const grpc::Slice>(s);
    bytes.add({reinterpret_cast<const char*>(owner->begin()), owner->size(), owner});
  }
  return bytes;
}

}  // namespace emplace::cluster
