#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cluster/bytes.h"
#include "cluster/socket/fd.h"

namespace emplace::cluster {

// Memory that a process shares with another one of the same user, a segment to each value under way:
// one copy in, none out. The sender makes segments and gives their files along; the receiver says when a
// segment may be written to again. Any thread may call.
class SharedOut {
 public:
  struct Filled {
    uint64_t segment = 0;
    int file = -1;        // to be given along: the segment is new
    size_t capacity = 0;
    std::vector<uint64_t> forgotten;  // segments that the receiver is to let go
  };
  // None where there is no more memory to be had so.
  std::optional<Filled> fill(const Bytes::Piece& piece);
  void release(uint64_t segment);

 private:
  struct Segment {
    Fd file;
    std::shared_ptr<void> memory;
    size_t capacity = 0;
    bool used = false;
  };
  uint64_t take(size_t size, Filled& filled);

  std::mutex mutex_;
  std::map<uint64_t, Segment> segments_;
  uint64_t next_ = 1;
  size_t total_ = 0;
};

class SharedIn {
 public:
  // Throws InvalidArgument where the file is not what it should be: it could shrink under a reader.
  void add(uint64_t segment, Fd file, size_t capacity);
  void forget(uint64_t segment);
  // The first bytes of a segment; `released` is called when nobody has them any more.
  Bytes::Piece piece(uint64_t segment, size_t size, std::function<void()> released);

 private:
  struct Segment {
    std::shared_ptr<void> memory;
    size_t capacity = 0;
  };
  std::mutex mutex_;
  std::map<uint64_t, Segment> segments_;
};

}  // namespace emplace::cluster
