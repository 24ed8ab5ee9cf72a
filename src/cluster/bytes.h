#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "emplace/error.h"

namespace emplace::cluster {

// A message in pieces, each kept alive by its owner: what is long is never copied to be put together.
class Bytes {
 public:
  struct Piece {
    const char* data = nullptr;
    size_t size = 0;
    std::shared_ptr<const void> owner;
    bool ours = false;  // came for us alone, at an aligned address: may become a tensor as it is
  };

  Bytes() = default;
  explicit Bytes(std::string text) { add(std::move(text)); }
  void add(std::string text) {
    auto owner = std::make_shared<const std::string>(std::move(text));
    add({owner->data(), owner->size(), owner});
  }
  void add(Piece piece) {
    size_ += piece.size;
    if (piece.size) pieces_.push_back(std::move(piece));
  }
  size_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

// Reads a message from its beginning. Throws DataLoss where it is shorter than it says.
class BytesReader {
 public:
  explicit BytesReader(const Bytes& bytes) : bytes_(bytes), left_(bytes.size()) {}
  size_t left() const { return left_; }

  void read(void* to, size_t size) {
    if (size > left_) throw Error(Code::kDataLoss, "A message ends before its time.");
    left_ -= size;
    for (char* out = static_cast<char*>(to); size > 0;) {
      const Bytes::Piece& piece = bytes_.pieces()[piece_];
      const size_t n = std::min(size, piece.size - at_);
      std::memcpy(out, piece.data + at_, n);
      out += n;
      size -= n;
      at_ += n;
      if (at_ == piece.size) at_ = 0, ++piece_;
    }
  }
  // The next `size` bytes as they came, where they came as one piece for us alone; else null.
  const Bytes::Piece* whole_piece(size_t size) {
    if (at_ != 0 || size == 0 || size > left_) return nullptr;
    const Bytes::Piece& piece = bytes_.pieces()[piece_];
    if (!piece.ours || piece.size != size) return nullptr;
    left_ -= size;
    ++piece_;
    return &piece;
  }
  std::string text(size_t size) {
    if (size > left_) throw Error(Code::kDataLoss, "A message ends before its time.");
    std::string text(size, '\0');
    read(text.data(), size);
    return text;
  }

 private:
  const Bytes& bytes_;
  size_t left_, piece_ = 0, at_ = 0;
};

}  // namespace emplace::cluster
