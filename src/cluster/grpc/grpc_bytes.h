#pragma once
#include <grpcpp/support/byte_buffer.h>

#include "cluster/bytes.h"

namespace emplace::cluster {

// Without copies: a slice keeps what it shows.
grpc::ByteBuffer to_buffer(const Bytes& bytes);
Bytes from_buffer(const grpc::ByteBuffer& buffer);

}  // namespace emplace::cluster
