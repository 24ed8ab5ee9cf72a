#pragma once
#include <memory>

#include "base/host_cache.h"
#include "cluster/bytes.h"

namespace emplace::cluster {

// Host memory for `size` bytes that are to come, not yet touched. Throws ResourceExhausted.
inline Bytes::Piece fresh_block(size_t size) {
  char* const data = static_cast<char*>(host_alloc(size));
  return {data, size, std::shared_ptr<const void>(data, [size](void* p) { host_free(p, size); }), true};
}

}  // namespace emplace::cluster
