#include "device/bfc_allocator.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/log.h"
#include "device/bfc_report.h"

namespace emplace {
namespace {

constexpr double kBackOff = 0.9;

// What an environment variable says, if it says true or false.
bool environment_flag(const char* name, bool otherwise) {
  const char* text = std::getenv(name);
  const std::string_view value = text ? text : "";
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  if (!value.empty()) {
    log_error("{} is '{}' and not 'true' or 'false'; using {}", name, value, otherwise);
  }
  return otherwise;
}

int64_t as_signed(size_t bytes) { return static_cast<int64_t>(bytes); }

}  // namespace

size_t BfcAllocator::rounded(size_t bytes) {
  return std::max(kGranularity, (bytes + kGranularity - 1) & ~(kGranularity - 1));
}

int BfcAllocator::bin_of(size_t bytes) {
  const size_t units = std::max(bytes, kGranularity) / kGranularity;
  return std::min(kNumBins - 1, static_cast<int>(std::bit_width(units)) - 1);
}

bool BfcAllocator::growth_from_environment(bool option) {
  return environment_flag("TF_FORCE_GPU_ALLOW_GROWTH", option);
}

bool BfcAllocator::garbage_collection_from_environment() {
  return environment_flag("TF_ENABLE_GPU_GARBAGE_COLLECTION", true);
}

BfcAllocator::BfcAllocator(std::unique_ptr<SubAllocator> sub, Options options)
    : options_(std::move(options)), sub_(std::move(sub)), limit_(options_.limit) {
  next_region_ =
      rounded(options_.allow_growth ? std::min(kFirstRegion, options_.limit) : options_.limit);
  stats_.limit = as_signed(options_.limit);
}

BfcAllocator::~BfcAllocator() {
  for (Region& region : regions_) sub_->free(region.begin, region.size);
}

void* BfcAllocator::try_allocate(size_t bytes, std::string_view tag,
                                 std::chrono::milliseconds patience) {
  if (bytes == 0 || bytes > static_cast<size_t>(INT64_MAX)) return nullptr;
  const size_t size = rounded(bytes);
  std::unique_lock lock(mutex_);
  if (bytes > limit_) return nullptr;  // waiting would not help
  void* found = find_or_grow(size, bytes, tag);
  if (found || patience.count() <= 0) return found;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  ++waiting_;
  bool in_time = true;
  while (!found && in_time) {
    in_time = freed_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    found = find_or_grow(size, bytes, tag);
  }
  --waiting_;
  return found;
}

void* BfcAllocator::allocate(size_t bytes, std::string_view tag,
                             std::chrono::milliseconds patience) {
  void* found = try_allocate(bytes, tag, patience);
  if (found || bytes == 0) return found;
  log(LogLevel::kInfo, "{}", allocator_dump(*this, bytes, tag));
  throw out_of_memory(bytes, tag);
}

// Null too where the host has no memory for the records.
void* BfcAllocator::find_or_grow(size_t size, size_t bytes, std::string_view tag) noexcept try {
  make_records();
  if (static_cast<size_t>(stats_.in_use) + size > limit_) return nullptr;
  void* found = take_fit(size, bytes, tag);
  if (!found && (extend(size) || (collect_garbage(size) && extend(size)))) {
    found = take_fit(size, bytes, tag);
  }
  return found;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Bins above the first hold only chunks that fit, so the first one found is the best.
void* BfcAllocator::take_fit(size_t size, size_t bytes, std::string_view tag) {
  Handle h = kNone;
  for (uint32_t bins = filled_bins_ >> bin_of(size) << bin_of(size); bins && h == kNone;
       bins &= bins - 1) {
    const Bin& bin = bins_[static_cast<size_t>(std::countr_zero(bins))];
    const auto fit = bin.lower_bound({size, nullptr, kNone});
    if (fit != bin.end()) h = fit->chunk;
  }
  if (h == kNone) return nullptr;
  chunks_[h].tag.reserve(tag.size());
  remove_free(h);
  const size_t found = chunks_[h].size;
  const bool tight = static_cast<size_t>(stats_.in_use) + found > limit_;
  if (found >= 2 * size || found - size >= max_fragment() || (tight && found > size)) split(h, size);
  Chunk& chunk = chunks_[h];
  chunk.requested = bytes;
  chunk.id = next_id_++;
  chunk.tag.assign(tag);
  ++stats_.num_allocs;
  stats_.in_use += as_signed(chunk.size);
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  stats_.largest = std::max(stats_.largest, as_signed(chunk.size));
  return chunk.address;
}

size_t BfcAllocator::max_fragment() const {
  if (options_.fragmentation_fraction <= 0) return kMaxFragment;
  return static_cast<size_t>(options_.fragmentation_fraction * static_cast<double>(limit_));
}

void BfcAllocator::split(Handle h, size_t size) {
  const Handle rest = new_chunk(chunks_[h].address + size, chunks_[h].size - size);
  Chunk& chunk = chunks_[h];
  chunk.size = size;
  chunks_[rest].prev = h;
  chunks_[rest].next = std::exchange(chunk.next, rest);
  if (const Handle after = chunks_[rest].next; after != kNone) chunks_[after].prev = rest;
  region_of(chunks_[rest].address)->start(chunks_[rest].address) = rest + 1;
  insert_free(rest);
}

void BfcAllocator::deallocate(void* pointer) {
  if (!pointer) return;
  std::lock_guard lock(mutex_);
  const Chunk& chunk = allocation(pointer);
  stats_.in_use -= as_signed(chunk.size);
  free_chunk(handle_of(pointer));
  if (waiting_ > 0) freed_.notify_all();
}

void BfcAllocator::free_chunk(Handle h) {
  chunks_[h].id = -1;
  chunks_[h].requested = 0;
  if (const Handle next = chunks_[h].next; next != kNone && chunks_[next].free()) {
    remove_free(next);
    merge(h, next);
  }
  if (const Handle prev = chunks_[h].prev; prev != kNone && chunks_[prev].free()) {
    remove_free(prev);
    merge(prev, h);
    h = prev;
  }
  insert_free(h);
}

void BfcAllocator::merge(Handle into, Handle next) {
  Chunk& gone = chunks_[next];
  region_of(gone.address)->start(gone.address) = 0;
  chunks_[into].size += gone.size;
  chunks_[into].next = gone.next;
  if (gone.next != kNone) chunks_[gone.next].prev = into;
  delete_chunk(next);
}

// --- regions ------------------------------------------------------------------------------------

size_t BfcAllocator::room_to_grow() const {
  const auto reserved = static_cast<size_t>(stats_.reserved);
  return limit_ > reserved ? limit_ - reserved : 0;
}

bool BfcAllocator::extend(size_t size) {
  const size_t available = room_to_grow() / kGranularity * kGranularity;
  if (size > available) return false;
  bool grew = false;
  while (next_region_ < size) {
    next_region_ *= 2;
    grew = true;
  }
  size_t bytes = std::min(next_region_, available);
  regions_.reserve(regions_.size() + 1);
  auto* begin = static_cast<char*>(alloc_region(bytes, size));
  if (!begin || !add_region(begin, bytes)) return false;
  if (!grew) next_region_ *= 2;
  stats_.reserved += as_signed(bytes);
  stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
  return true;
}

// What the device cannot give at once it may give in a smaller piece.
void* BfcAllocator::alloc_region(size_t& bytes, size_t at_least) {
  while (true) {
    if (void* region = sub_->alloc(bytes)) return region;
    const size_t less = rounded(static_cast<size_t>(static_cast<double>(bytes) * kBackOff));
    if (less >= bytes || less < at_least) return nullptr;
    bytes = less;
  }
}

// False, and the region given back, when the host has no memory for its table.
bool BfcAllocator::add_region(char* begin, size_t bytes) {
  const auto at = std::lower_bound(regions_.begin(), regions_.end(), begin,
                                   [](const Region& r, const char* p) { return r.begin < p; });
  const bool join = at != regions_.begin() && (at - 1)->end() == begin && sub_->joins_neighbours();
  const size_t slots = ((join ? (at - 1)->size : 0) + bytes) / kGranularity;
  Starts starts(static_cast<Handle*>(std::calloc(slots, sizeof(Handle))));
  if (!starts) {
    sub_->free(begin, bytes);
    return false;
  }
  const Handle h = new_chunk(begin, bytes);
  if (join) {
    join_region(*(at - 1), h, std::move(starts));
  } else {
    regions_.insert(at, Region{begin, bytes, std::move(starts)})->start(begin) = h + 1;
  }
  free_chunk(h);
  return true;
}

// Appends the chunk of a region that begins where `before` ends.
void BfcAllocator::join_region(Region& before, Handle h, Starts starts) {
  std::copy_n(before.starts.get(), before.size / kGranularity, starts.get());
  before.starts = std::move(starts);
  Handle last = before.start(before.begin) - 1;
  while (chunks_[last].next != kNone) last = chunks_[last].next;
  before.size += chunks_[h].size;
  before.start(chunks_[h].address) = h + 1;
  chunks_[last].next = h;
  chunks_[h].prev = last;
}

// Not worth it when even then there would be too little.
bool BfcAllocator::collect_garbage(size_t size) {
  if (!options_.collect_garbage) return false;
  const size_t unused = unused_bytes();
  return unused > 0 && unused + room_to_grow() >= size && release_unused_regions() > 0;
}

bool BfcAllocator::unused(const Region& region) const {
  const Chunk& first = chunks_[region.start(region.begin) - 1];
  return first.free() && first.size == region.size;  // free neighbours are always joined
}

size_t BfcAllocator::unused_bytes() const {
  size_t bytes = 0;
  for (const Region& region : regions_) bytes += unused(region) ? region.size : 0;
  return bytes;
}

size_t BfcAllocator::release_unused_regions() {
  size_t bytes = 0;
  std::erase_if(regions_, [&](Region& region) {
    if (!unused(region)) return false;
    const Handle h = region.start(region.begin) - 1;
    remove_free(h);
    delete_chunk(h);
    sub_->free(region.begin, region.size);
    bytes += region.size;
    return true;
  });
  stats_.reserved -= as_signed(bytes);
  return bytes;
}

void BfcAllocator::set_limit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes > 0 ? bytes : options_.limit;
  stats_.limit = as_signed(limit_);
  if (static_cast<size_t>(stats_.reserved) > limit_) release_unused_regions();
  next_region_ = std::max(kGranularity, std::min(next_region_, rounded(limit_)));
  if (waiting_ > 0) freed_.notify_all();
}

size_t BfcAllocator::trim() {
  std::lock_guard lock(mutex_);
  return release_unused_regions();
}

// --- records ------------------------------------------------------------------------------------

// All that a split and a new region will need of the host, before anything changes: where it has no memory, nothing
// has happened. There is a node for each chunk, in a bin or spare.
void BfcAllocator::make_records() {
  while (spare_chunks_.size() < 2) {
    Chunk chunk;
    chunk.tag.reserve(96);  // room for most names, so that tags cost no malloc
    Bin one;
    one.insert(FreeKey{});
    if (chunks_.size() == chunks_.capacity()) chunks_.reserve(2 * chunks_.size() + 2);
    spare_chunks_.reserve(chunks_.capacity());
    spare_nodes_.reserve(chunks_.capacity());
    spare_chunks_.push_back(static_cast<Handle>(chunks_.size()));
    chunks_.push_back(std::move(chunk));
    spare_nodes_.push_back(one.extract(one.begin()));
  }
}

BfcAllocator::Handle BfcAllocator::new_chunk(char* address, size_t size) {
  const Handle h = spare_chunks_.back();
  spare_chunks_.pop_back();
  Chunk& chunk = chunks_[h];
  chunk.address = address;
  chunk.size = size;
  chunk.requested = 0;
  chunk.id = -1;
  chunk.prev = chunk.next = kNone;
  return h;
}

void BfcAllocator::delete_chunk(Handle h) {
  chunks_[h].address = nullptr;
  spare_chunks_.push_back(h);
}

void BfcAllocator::insert_free(Handle h) {
  Chunk& chunk = chunks_[h];
  const int b = bin_of(chunk.size);
  Bin& bin = bins_[static_cast<size_t>(b)];
  auto node = std::move(spare_nodes_.back());
  spare_nodes_.pop_back();
  node.value() = FreeKey{chunk.size, chunk.address, h};
  chunk.in_bin = bin.insert(std::move(node)).position;
  filled_bins_ |= 1u << b;
}

void BfcAllocator::remove_free(Handle h) {
  const int b = bin_of(chunks_[h].size);
  Bin& bin = bins_[static_cast<size_t>(b)];
  spare_nodes_.push_back(bin.extract(chunks_[h].in_bin));
  if (bin.empty()) filled_bins_ &= ~(1u << b);
}

BfcAllocator::Region* BfcAllocator::region_of(const void* p) const {
  const auto* address = static_cast<const char*>(p);
  const auto after =
      std::upper_bound(regions_.begin(), regions_.end(), address,
                       [](const char* a, const Region& region) { return a < region.begin; });
  if (after == regions_.begin() || address >= (after - 1)->end()) return nullptr;
  return const_cast<Region*>(&*(after - 1));
}

BfcAllocator::Handle BfcAllocator::handle_of(const void* p) const {
  const Region* region = region_of(p);
  const auto* address = static_cast<const char*>(p);
  if (!region || (address - region->begin) % kGranularity != 0) return kNone;
  return region->start(address) - 1;  // 0, no chunk, becomes kNone
}

const BfcAllocator::Chunk& BfcAllocator::allocation(const void* p) const {
  const Handle h = handle_of(p);
  if (h == kNone || chunks_[h].free()) {
    throw internal_error("not an allocation of " + options_.name);
  }
  return chunks_[h];
}

// --- questions ----------------------------------------------------------------------------------

size_t BfcAllocator::requested_size(const void* p) const {
  std::lock_guard lock(mutex_);
  return allocation(p).requested;
}

size_t BfcAllocator::allocated_size(const void* p) const {
  std::lock_guard lock(mutex_);
  return allocation(p).size;
}

int64_t BfcAllocator::allocation_id(const void* p) const {
  std::lock_guard lock(mutex_);
  return allocation(p).id;
}

bool BfcAllocator::owns(const void* p) const {
  std::lock_guard lock(mutex_);
  return region_of(p) != nullptr;
}

int64_t BfcAllocator::largest_free() const {
  if (filled_bins_ == 0) return 0;
  const auto highest = static_cast<size_t>(std::bit_width(filled_bins_)) - 1;
  return as_signed(bins_[highest].rbegin()->size);
}

AllocatorStats BfcAllocator::stats() const {
  std::lock_guard lock(mutex_);
  AllocatorStats stats = stats_;
  stats.largest_free = largest_free();
  return stats;
}

void BfcAllocator::reset_peak() {
  std::lock_guard lock(mutex_);
  stats_.peak = stats_.in_use;
  stats_.peak_reserved = stats_.reserved;
}

BfcAllocator::Snapshot BfcAllocator::snapshot() const {
  std::lock_guard lock(mutex_);
  Snapshot s{stats_, next_region_, {}, {}};
  s.stats.largest_free = largest_free();
  for (size_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    s.regions.push_back({region.begin, region.size});
    for (Handle h = region.start(region.begin) - 1; h != kNone; h = chunks_[h].next) {
      const Chunk& c = chunks_[h];
      s.chunks.push_back({c.address, c.size, c.requested, c.id, i, c.free() ? "" : c.tag});
    }
  }
  return s;
}

}  // namespace emplace
