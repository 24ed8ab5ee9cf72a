// Elements kept from their first round, in memory or in a file.
#include <fmt/format.h>

#include <mutex>

#include "base/file.h"
#include "data/kernels.h"
#include "data/state.h"
#include "emplace/session.h"

namespace emplace::data {
namespace {

// What was kept; filled once, whole.
class Kept : public Resource {
 public:
  using Elements = std::shared_ptr<const std::vector<Element>>;
  Elements get() {
    const std::lock_guard lock(mutex_);
    return elements_;
  }
  void set(Elements e) {
    const std::lock_guard lock(mutex_);
    if (!elements_) elements_ = std::move(e);
  }
  std::string debug_string() const override { return "memory cache"; }

 private:
  std::mutex mutex_;
  Elements elements_;
};

// ---- In memory.

class MemoryCacheDataset final : public OverInput {
 public:
  MemoryCacheDataset(Spec spec, DatasetPtr input, std::shared_ptr<Kept> kept)
      : OverInput(std::move(spec), std::move(input)), kept_(std::move(kept)) {}
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    const auto all = kept_->get();
    return std::make_unique<Over>(shared_from_this(), all ? nullptr : input_->iterator(c), kept_,
                                  all);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, std::shared_ptr<Kept> kept,
         Kept::Elements all)
        : OverIterator(std::move(self), std::move(input)),
          kept_(std::move(kept)),
          all_(std::move(all)) {}
    bool next(Caller& c, Element& out) override {
      if (all_) {
        if (at_ >= all_->size()) return false;
        out = (*all_)[at_++];
        return true;
      }
      if (input_ && input_->next(c, out)) {
        seen_.push_back(out);
        return true;
      }
      input_.reset();
      at_ = seen_.size();
      all_ = std::make_shared<const std::vector<Element>>(std::move(seen_));
      kept_->set(all_);
      return false;
    }
    void save(StateWriter& w) override {
      w.put(int64_t{all_ != nullptr});
      w.put(static_cast<int64_t>(at_));
      const auto& list = all_ ? *all_ : seen_;
      w.put(static_cast<int64_t>(list.size()));
      for (const Element& e : list) w.put(e);
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      const bool whole = r.number() != 0;
      at_ = static_cast<size_t>(r.number());
      std::vector<Element> list;
      for (int64_t n = r.number(); n > 0; --n) list.push_back(r.element());
      if (whole) {
        all_ = std::make_shared<const std::vector<Element>>(std::move(list));
        kept_->set(all_);
      } else {
        all_ = nullptr;
        seen_ = std::move(list);
        if (!input_) input_ = static_cast<const OverInput&>(*self_).input().iterator(c);
      }
      if (r.number()) input_->restore(c, r);
    }

   private:
    const std::shared_ptr<Kept> kept_;
    Kept::Elements all_;
    std::vector<Element> seen_;
    size_t at_ = 0;
  };
  const std::shared_ptr<Kept> kept_;
};

// ---- In a file: TensorFlow's, a checkpoint with a tensor for each component of each element.

std::string key_of(size_t element, size_t component, size_t components) {
  return fmt::format("{:>7}_{:>{}}", element, component, std::to_string(components - 1).size());
}

class FileCacheDataset final : public OverInput {
 public:
  FileCacheDataset(Spec spec, DatasetPtr input, std::string path)
      : OverInput(std::move(spec), std::move(input)), path_(std::move(path)) {}
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    const bool there = file_exists(path_ + ".index");
    return std::make_unique<Over>(shared_from_this(), there ? nullptr : input_->iterator(c), path_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, std::string path)
        : OverIterator(std::move(self), std::move(input)),
          path_(std::move(path)),
          width_(std::max<size_t>(1, self_->spec().types.size())) {
      if (!input_) file_.emplace(path_);
      if (file_) size_ = file_->entries().size() / width_;
    }
    bool next(Caller& c, Element& out) override {
      if (file_) return read(out);
      if (input_ && input_->next(c, out)) {
        for (size_t i = 0; i < out.size(); ++i) seen_.emplace_back(key_of(at_, i, width_), out[i]);
        ++at_;
        return true;
      }
      if (input_) write_checkpoint(path_, seen_);
      input_.reset();
      seen_.clear();
      return false;
    }
    void save(StateWriter& w) override {
      w.put(int64_t{file_.has_value()});
      w.put(static_cast<int64_t>(at_));
      w.put(static_cast<int64_t>(seen_.size()));
      for (const auto& s : seen_) w.put(s.second);
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      const bool from_file = r.number() != 0;
      at_ = static_cast<size_t>(r.number());
      seen_.clear();
      for (int64_t n = r.number(), i = 0; i < n; ++i) {
        const auto k = static_cast<size_t>(i);
        seen_.emplace_back(key_of(k / width_, k % width_, width_), r.tensor());
      }
      if (!from_file && !input_) {
        file_.reset();
        input_ = static_cast<const OverInput&>(*self_).input().iterator(c);
      }
      OverIterator::restore(c, r);
    }

   private:
    bool read(Element& out) {
      if (at_ >= size_) return false;
      out.clear();
      for (size_t i = 0; i < width_; ++i) out.push_back(file_->read(key_of(at_, i, width_)));
      ++at_;
      return true;
    }
    const std::string path_;
    const size_t width_;
    std::optional<Checkpoint> file_;
    size_t size_ = 0, at_ = 0;
    std::vector<std::pair<std::string, Tensor>> seen_;
  };
  const std::string path_;
};

struct MakeCache : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const Tensor& path = c.input(1);
    if (path.num_elements() != 1) throw invalid_argument("filename must be a scalar");
    const DatasetPtr input = dataset_in(c.input(0));
    if (!path.data<std::string>()->empty())
      return std::make_shared<FileCacheDataset>(spec, input, *path.data<std::string>());
    std::shared_ptr<Kept> kept;
    if (c.num_inputs() > 2) kept = std::dynamic_pointer_cast<Kept>(c.handle(2).resource);
    return std::make_shared<MemoryCacheDataset>(spec, input,
                                                kept ? kept : std::make_shared<Kept>());
  }
};

// ---- The resource that may hold them.

void put_cache(KernelContext& c, std::shared_ptr<Resource> resource) {
  Tensor t(DType::kResource, Shape{});
  auto& h = *t.data<ResourceHandle>();
  h.container = "localhost";
  h.name = std::string(c.node());
  h.type_name = "tensorflow::data::MemoryCacheManager";
  h.device = c.device().name();
  h.resource = std::move(resource);
  c.set_output(0, std::move(t));
  if (c.num_outputs() > 1) c.set_output(1, Tensor(DType::kVariant, Shape{}));
}

// One that says nothing: the dataset makes its own.
struct NoCache : Resource {
  std::string debug_string() const override { return "no memory cache"; }
};

void dummy_cache(KernelContext& c) { put_cache(c, std::make_shared<NoCache>()); }
void anonymous_cache(KernelContext& c) { put_cache(c, std::make_shared<Kept>()); }
void delete_cache(KernelContext&) {}  // its handles own it

}  // namespace

void add_cache_kernels(KernelList& rows) {
  add_row(rows, "CacheDataset", dataset_kernel<MakeCache>);
  add_row(rows, "CacheDatasetV2", dataset_kernel<MakeCache>);
  add_row(rows, "DummyMemoryCache", stateless<dummy_cache>);
  add_row(rows, "AnonymousMemoryCache", stateless<anonymous_cache>);
  add_row(rows, "DeleteMemoryCache", stateless<delete_cache>);
}

}  // namespace emplace::data
