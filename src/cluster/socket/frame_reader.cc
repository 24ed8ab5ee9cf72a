#include "cluster/socket/frame_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cluster/socket/block.h"

namespace emplace::cluster {

bool FrameReader::next(Stream& stream, Frame& frame) {
  while (true) switch (stage_) {
      case Stage::kHead:
        if (!get(stream, &frame_.head, sizeof frame_.head)) return false;
        check_head();
        frame_.parts.resize(frame_.head.parts);
        stage_ = Stage::kParts;
        break;
      case Stage::kParts:
        if (!get(stream, frame_.parts.data(), frame_.parts.size() * sizeof(PartHead))) return false;
        check_parts();
        frame_.text = fresh_block(frame_.head.size);
        stage_ = Stage::kText;
        break;
      case Stage::kText:
        if (!get(stream, const_cast<char*>(frame_.text.data), frame_.text.size)) return false;
        begin_contents();
        stage_ = Stage::kContents;
        break;
      case Stage::kContents:
        for (; part_ < frame_.contents.size(); ++part_) {
          const Bytes::Piece& piece = frame_.contents[part_];
          if (!get(stream, const_cast<char*>(piece.data), piece.size)) return false;
        }
        frame = std::exchange(frame_, {});
        part_ = 0;
        stage_ = Stage::kHead;
        return true;
    }
}

// Goes on where it stopped when the stream had no more.
bool FrameReader::get(Stream& stream, void* to, size_t size) {
  while (got_ < size) {
    char* const at = static_cast<char*>(to) + got_;
    if (begin_ < end_) {
      const size_t n = std::min(size - got_, end_ - begin_);
      std::memcpy(at, buffer_.data() + begin_, n);
      begin_ += n;
      got_ += n;
    } else if (size - got_ >= buffer_.size()) {
      const ssize_t n = stream.read(at, size - got_);
      if (n == Stream::kNotNow) return false;
      if (n == 0) throw broken_connection("the other side has ended");
      got_ += static_cast<size_t>(n);
    } else if (!refill(stream)) {
      return false;
    }
  }
  got_ = 0;
  return true;
}

// A look that finds less than it could take has emptied the socket: another would find nothing.
bool FrameReader::refill(Stream& stream) {
  if (drained_ && !stream.holds_more()) return false;
  const ssize_t n = stream.read(buffer_.data(), buffer_.size());
  if (n == Stream::kNotNow) return false;
  if (n == 0) throw broken_connection("the other side has ended");
  begin_ = 0;
  end_ = static_cast<size_t>(n);
  drained_ = end_ < buffer_.size();
  return true;
}

void FrameReader::check_head() const {
  const FrameHead& h = frame_.head;
  const auto kind = static_cast<uint8_t>(h.kind);
  if (kind == 0 || kind > kLastFrameKind || h.parts > kMostParts ||
      (h.kind == FrameKind::kPiece && (h.parts != 1 || h.size != 0)))
    throw invalid_argument("what came is no frame");
  if (h.size > max_message_)
    throw resource_exhausted(
        fmt::format("a message of {} bytes came; {} are taken", h.size, max_message_));
}

void FrameReader::check_parts() const {
  size_t left = max_message_ - frame_.head.size;
  uint64_t last = 0;
  for (const PartHead& p : frame_.parts) {
    if (p.size > left)
      throw resource_exhausted(fmt::format("a message of more than {} bytes came", max_message_));
    left -= p.size;
    if (frame_.head.kind == FrameKind::kPiece) continue;
    if (p.at < last || p.at > frame_.head.size || p.way > Way::kTransfer)
      throw invalid_argument("a message contradicts itself");
    last = p.at;
  }
}

void FrameReader::begin_contents() {
  frame_.contents.clear();
  for (const PartHead& p : frame_.parts)
    if (frame_.head.kind == FrameKind::kPiece)
      frame_.contents.push_back(places_.place(frame_.head.id, p));
    else if (p.way == Way::kInline)
      frame_.contents.push_back(fresh_block(p.size));
}

}  // namespace emplace::cluster
