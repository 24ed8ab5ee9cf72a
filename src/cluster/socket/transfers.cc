#include "cluster/socket/transfers.h"

#include <algorithm>

#include "cluster/socket/block.h"

namespace emplace::cluster {
namespace {

constexpr size_t kRemembered = 1'024;  // abandoned transfers, of which pieces may still be under way

}  // namespace

Bytes::Piece TransfersIn::place(uint64_t id, const PartHead& part) {
  const size_t whole = part.where;
  if (part.at % kTransferPiece != 0 || part.at >= whole ||
      part.size != std::min(kTransferPiece, whole - part.at))
    throw invalid_argument("a piece came that can't be");
  const std::lock_guard lock(mutex_);
  auto it = transfers_.find(id);
  if (it == transfers_.end()) {
    if (abandoned_.contains(id)) return fresh_block(part.size);
    if (whole > most_ - total_) throw resource_exhausted("more is coming than can be taken");
    const size_t pieces = (whole + kTransferPiece - 1) / kTransferPiece;
    it = transfers_.emplace(id, Transfer{fresh_block(whole), std::vector<bool>(pieces), whole}).first;
    total_ += whole;
  }
  Transfer& t = it->second;
  if (t.memory.size != whole || t.claimed[part.at / kTransferPiece])
    throw invalid_argument("a piece came twice, or of another value");
  t.claimed[part.at / kTransferPiece] = true;
  return {t.memory.data + part.at, part.size, t.memory.owner, true};
}

bool TransfersIn::came(uint64_t id, size_t size) {
  const std::lock_guard lock(mutex_);
  const auto it = transfers_.find(id);
  if (it == transfers_.end()) return false;  // abandoned
  it->second.left -= size;
  return it->second.left == 0;
}

bool TransfersIn::complete(uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto it = transfers_.find(id);
  return it != transfers_.end() && it->second.left == 0;
}

Bytes::Piece TransfersIn::take(uint64_t id, size_t size) {
  const std::lock_guard lock(mutex_);
  const auto it = transfers_.find(id);
  if (it == transfers_.end() || it->second.left != 0 || it->second.memory.size != size)
    throw invalid_argument("a message names a value that did not come");
  Bytes::Piece piece = std::move(it->second.memory);
  total_ -= piece.size;
  transfers_.erase(it);
  return piece;
}

void TransfersIn::abandon(uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto it = transfers_.find(id);
  abandoned_.insert(id);
  if (abandoned_.size() > kRemembered) abandoned_.erase(abandoned_.begin());
  if (it == transfers_.end()) return;
  total_ -= it->second.memory.size;
  transfers_.erase(it);
}

}  // namespace emplace::cluster
