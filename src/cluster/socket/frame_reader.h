#pragma once
#include <array>
#include <memory>
#include <vector>

#include "cluster/bytes.h"
#include "cluster/socket/frame.h"
#include "cluster/socket/stream.h"

namespace emplace::cluster {

struct Frame {
  FrameHead head;
  std::vector<PartHead> parts;
  Bytes::Piece text;
  std::vector<Bytes::Piece> contents;  // of the parts that come inline, in order
  Fd file;                             // that came along
};

// Cuts frames out of a stream, however it is torn. What it says is looked at before memory is taken
// for it.
class FrameReader {
 public:
  // Where the bytes of a piece go; `transfer`'s memory, which is known.
  class Places {
   public:
    virtual ~Places() = default;
    virtual Bytes::Piece place(uint64_t transfer, const PartHead& part) = 0;
  };
  FrameReader(size_t max_message, Places& places) : max_message_(max_message), places_(places) {}

  // The next frame; false: nothing more now. Throws Unavailable when the other side has ended,
  // ResourceExhausted for what is too long, InvalidArgument for what can't be.
  bool next(Stream& stream, Frame& frame);
  // The socket has something again.
  void look_again() { drained_ = false; }

 private:
  enum class Stage { kHead, kParts, kText, kContents };

  bool get(Stream& stream, void* to, size_t size);
  bool refill(Stream& stream);
  void check_head() const;
  void check_parts() const;
  void begin_contents();

  const size_t max_message_;
  Places& places_;
  Stage stage_ = Stage::kHead;
  Frame frame_;
  size_t part_ = 0, got_ = 0;
  std::array<char, 32 << 10> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool drained_ = false;  // the last look left nothing in the socket
};

}  // namespace emplace::cluster
