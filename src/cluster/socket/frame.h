// What goes over a connection between processes of Emplace's: our own protocol, little-endian.
//
//   hello   both sides, once: who speaks (Hello, then the token's bytes)
//   frame   FrameHead, `parts` PartHeads, `size` bytes of text (names' numbers and protobufs),
//           then the bytes of the parts that come inline
//
// A message is one frame. Its long pieces (tensors) are parts: they follow it, or lie in memory that both
// processes see, or come in pieces over connections of their own.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emplace::cluster {

enum class FrameKind : uint8_t {
  kCall = 1,
  kPost,     // a call that nobody answers
  kAnswer,   // to the call `id`
  kError,    // … with the code `number`; the text is the error's
  kCancel,   // the call `id` is no longer waited for
  kPing,
  kPong,
  kPiece,    // of the transfer `id`; the part says from where on, and how long the whole is
  kAbandon,  // no more of the transfer `id` will come
  kSegment,  // shared memory `id`, of `size_of_segment`: the file comes with it
  kForget,   // nothing will come in shared memory `id` any more
  kRelease,  // shared memory `id` may be written to again
};
inline constexpr uint8_t kLastFrameKind = static_cast<uint8_t>(FrameKind::kRelease);

struct FrameHead {
  FrameKind kind{};
  uint8_t unused = 0;
  uint16_t number = 0;  // a call's method (methods.h), an error's code
  uint32_t parts = 0;
  uint64_t id = 0;
  uint64_t size = 0;
};
static_assert(sizeof(FrameHead) == 24);

enum class Way : uint32_t { kInline = 0, kSegment, kTransfer };

struct PartHead {
  uint64_t at = 0;     // where in the text the part belongs
  uint64_t size = 0;
  uint64_t where = 0;  // which segment or transfer
  Way way = Way::kInline;
  uint32_t unused = 0;
};
static_assert(sizeof(PartHead) == 32);

inline constexpr char kMagic[8] = {'E', 'M', 'P', 'L', 'A', 'C', 'E', 1};
struct Hello {
  char magic[8] = {};
  uint32_t kind = 0;  // kForMessages, kForPieces (for the connection `link`); an answer's: or kRefused
  uint32_t token = 0;  // bytes that follow
  uint64_t link = 0;   // the answer's: what to call the connection, and the proof of who may
  uint64_t key = 0;
};
static_assert(sizeof(Hello) == 32);

inline constexpr uint32_t kForMessages = 0, kForPieces = 1, kRefused = 2;  // … the words follow as a token
inline constexpr uint32_t kMostParts = 65'536;
inline constexpr uint32_t kMostToken = 4'096;
inline constexpr size_t kLargePiece = size_t{64} << 10;  // from here on a piece is a part

}  // namespace emplace::cluster
