#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cluster/bytes.h"
#include "cluster/socket/frame.h"

namespace emplace::cluster {

inline constexpr size_t kTransferPiece = size_t{1} << 20;

// Long values that come in pieces, in any order, each piece once. Any thread may call.
class TransfersIn {
 public:
  explicit TransfersIn(size_t most) : most_(most) {}

  // Where a piece's bytes belong. Throws InvalidArgument for one that can't be or has come before,
  // ResourceExhausted when all that is coming is too much.
  Bytes::Piece place(uint64_t transfer, const PartHead& part);
  // A piece has come; true when it was the last.
  bool came(uint64_t transfer, size_t size);
  // The value of a transfer that is wanted and complete; none until then.
  Bytes::Piece take(uint64_t transfer, size_t size);
  bool complete(uint64_t transfer);
  void abandon(uint64_t transfer);

 private:
  struct Transfer {
    Bytes::Piece memory;
    std::vector<bool> claimed;  // by piece
    size_t left = 0;
  };
  std::mutex mutex_;
  std::map<uint64_t, Transfer> transfers_;
  std::set<uint64_t> abandoned_;
  const size_t most_;
  size_t total_ = 0;
};

}  // namespace emplace::cluster
