#include "cluster/socket/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cstring>

namespace emplace::cluster {
namespace {

constexpr size_t kSmallest = size_t{256} << 10;
constexpr size_t kMostTotal = size_t{6} << 30;  // kept for one receiver
constexpr size_t kMostSegments = 4'096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_SEAL;

std::shared_ptr<void> mapped(int file, size_t size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {memory, [size](void* p) { munmap(p, size); }};
}

// Four sizes to each doubling.
size_t rounded(size_t size) {
  const size_t step = std::max(std::bit_floor(size) / 4, kSmallest);
  return (size + step - 1) / step * step;
}

}  // namespace

std::optional<SharedOut::Filled> SharedOut::fill(const Bytes::Piece& piece) {
  Filled filled;
  void* memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    filled.segment = take(piece.size, filled);
    if (filled.segment == 0) return {};
    memory = segments_[filled.segment].memory.get();
  }
  std::memcpy(memory, piece.data, piece.size);
  return filled;
}

uint64_t SharedOut::take(size_t size, Filled& filled) {
  uint64_t best = 0;
  for (const auto& [id, s] : segments_)
    if (!s.used && s.capacity >= size && s.capacity / 2 <= rounded(size) &&
        (best == 0 || s.capacity < segments_[best].capacity))
      best = id;
  if (best != 0) {
    segments_[best].used = true;
    return best;
  }
  const size_t capacity = rounded(size);
  for (auto it = segments_.begin(); it != segments_.end() && total_ + capacity > kMostTotal;) {
    if (it->second.used) {
      ++it;
      continue;
    }
    total_ -= it->second.capacity;
    filled.forgotten.push_back(it->first);
    it = segments_.erase(it);
  }
  if (total_ + capacity > kMostTotal || segments_.size() >= kMostSegments) return 0;
  Segment made{Fd(memfd_create("emplace", MFD_CLOEXEC | MFD_ALLOW_SEALING)), nullptr, capacity, true};
  if (!made.file || ftruncate(made.file.get(), static_cast<off_t>(capacity)) != 0 ||
      fcntl(made.file.get(), F_ADD_SEALS, kSeals) != 0)
    return 0;
  // Taken now: a write to a page that can't be had would end the process.
  if (posix_fallocate(made.file.get(), 0, static_cast<off_t>(capacity)) != 0) return 0;
  made.memory = mapped(made.file.get(), capacity);
  if (!made.memory) return 0;
  filled.file = made.file.get();
  filled.capacity = capacity;
  total_ += capacity;
  segments_.emplace(next_, std::move(made));
  return next_++;
}

void SharedOut::release(uint64_t segment) {
  const std::lock_guard lock(mutex_);
  if (const auto it = segments_.find(segment); it != segments_.end()) it->second.used = false;
}

void SharedIn::add(uint64_t segment, Fd file, size_t capacity) {
  struct stat found {};
  const int seals = file ? fcntl(file.get(), F_GET_SEALS) : -1;
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(file.get(), &found) != 0 || found.st_size < 0 ||
      static_cast<uint64_t>(found.st_size) < capacity || capacity == 0)
    throw invalid_argument("what came as shared memory is none");
  auto memory = mapped(file.get(), capacity);
  if (!memory) throw resource_exhausted(fmt::format("{} bytes of shared memory", capacity));
  const std::lock_guard lock(mutex_);
  if (segments_.size() >= kMostSegments) throw resource_exhausted("too many pieces of shared memory");
  segments_[segment] = {std::move(memory), capacity};
}

void SharedIn::forget(uint64_t segment) {
  const std::lock_guard lock(mutex_);
  segments_.erase(segment);
}

Bytes::Piece SharedIn::piece(uint64_t segment, size_t size, std::function<void()> released) {
  const std::lock_guard lock(mutex_);
  const auto it = segments_.find(segment);
  if (it == segments_.end() || size > it->second.capacity)
    throw invalid_argument("a message names shared memory that was not given");
  char* const data = static_cast<char*>(it->second.memory.get());
  return {data, size,
          std::shared_ptr<const void>(data, [memory = it->second.memory, released = std::move(released)](
                                                const void*) { released(); }),
          true};
}

}  // namespace emplace::cluster
