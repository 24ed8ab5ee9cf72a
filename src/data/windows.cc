// Elements taken apart, and put together in windows.
#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>

#include "base/stop_scope.h"
#include "data/kernels.h"
#include "data/listed.h"
#include "data/rows.h"
#include "data/stage_error.h"
#include "data/state.h"

namespace emplace::data {
namespace {

void put_list(StateWriter& w, const std::vector<Element>& list) {
  w.put(static_cast<int64_t>(list.size()));
  for (const Element& e : list) w.put(e);
}

std::vector<Element> read_list(StateReader& r) {
  std::vector<Element> list;
  for (int64_t n = r.number(); n > 0; --n) list.push_back(r.element());
  return list;
}

// ---- Unbatch.

class UnbatchDataset final : public OverInput {
 public:
  using OverInput::OverInput;
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (n < 0) return n;
    for (const Shape& s : input_->spec().shapes)
      if (s.has_rank() && s.rank() > 0 && s.dim(0) > 0) return n * s.dim(0);
    return kUnknown;
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c));
  }

 private:
  class Over final : public OverIterator {
   public:
    using OverIterator::OverIterator;
    bool ready() const override { return at_ < rows_ || OverIterator::ready(); }
    bool next(Caller& c, Element& out) override {
      for (; at_ >= rows_; StopScope::attend()) {
        if (!input_ || !input_->next(c, batch_)) {
          input_.reset();
          batch_.clear();
          return false;
        }
        at_ = 0;
        rows_ = rows(batch_);
      }
      out.resize(batch_.size());
      for (size_t i = 0; i < out.size(); ++i) out[i] = row_of(batch_[i], at_);
      ++at_;
      return true;
    }
    void save(StateWriter& w) override {
      w.put(at_);
      w.put(rows_);
      w.put(at_ < rows_ ? batch_ : Element{});
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      at_ = r.number();
      rows_ = r.number();
      batch_ = r.element();
      OverIterator::restore(c, r);
    }

   private:
    static int64_t rows(const Element& e) {
      for (const Tensor& t : e) {
        if (t.rank() == 0)
          throw invalid_argument("Input element must have a non-scalar value in each component.");
        if (t.dim(0) != e[0].dim(0))
          throw invalid_argument(fmt::format(
              "Input element must have the same batch size in each component. Component "
              "0 had size {} but component {} had size, {}.",
              e[0].dim(0), &t - e.data(), t.dim(0)));
      }
      return e.empty() ? 0 : e[0].dim(0);
    }
    Element batch_;
    int64_t at_ = 0, rows_ = 0;
  };
};

struct MakeUnbatch : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<UnbatchDataset>(spec, dataset_in(c.input(0)));
  }
};

// ---- Windows: a dataset for each component.

struct WindowKind {
  int64_t size = 1, shift = 1, stride = 1;
  bool drop = false;
};

Element windows_of(const std::vector<const Element*>& elements, const Dataset::Spec& of) {
  Element out;
  for (size_t i = 0; i < of.types.size(); ++i) {
    std::vector<Element> column;
    for (const Element* e : elements) column.push_back({e->at(i)});
    Dataset::Spec spec{"Window", "", {of.types[i]}, {of.shapes.at(i)}};
    out.push_back(
        dataset_tensor(std::make_shared<ListedDataset>(std::move(spec), std::move(column))));
  }
  return out;
}

class WindowDataset final : public OverInput {
 public:
  WindowDataset(Spec spec, DatasetPtr input, WindowKind kind)
      : OverInput(std::move(spec), std::move(input)), kind_(kind) {}
  int64_t cardinality() const override {
    const int64_t n = input_->cardinality();
    if (n < 0) return n;
    if (!kind_.drop) return n / kind_.shift + (n % kind_.shift != 0);
    const int64_t span = (kind_.size - 1) * kind_.stride + 1;
    return n < span ? 0 : (n - span) / kind_.shift + 1;
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), kind_, input_->spec());
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, WindowKind kind, const Dataset::Spec& of)
        : OverIterator(std::move(self), std::move(input)), kind_(kind), of_(of) {}
    bool next(Caller& c, Element& out) override {
      const int64_t span = (kind_.size - 1) * kind_.stride + 1;
      fill(c, span);
      const auto have = static_cast<int64_t>(held_.size());
      if (have == 0 || (kind_.drop && have < span)) return false;
      std::vector<const Element*> chosen;
      for (int64_t i = 0; i < have && i < span; i += kind_.stride)
        chosen.push_back(&held_[static_cast<size_t>(i)]);
      out = windows_of(chosen, of_);
      const int64_t gone = std::min(kind_.shift, have);
      held_.erase(held_.begin(), held_.begin() + gone);
      skip_ = kind_.shift - gone;
      return true;
    }
    void save(StateWriter& w) override {
      w.put(skip_);
      put_list(w, {held_.begin(), held_.end()});
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      skip_ = r.number();
      const std::vector<Element> list = read_list(r);
      held_.assign(list.begin(), list.end());
      OverIterator::restore(c, r);
    }

   private:
    void fill(Caller& c, int64_t span) {
      Element e;
      while (input_ && (skip_ > 0 || static_cast<int64_t>(held_.size()) < span)) {
        StopScope::attend();
        if (!input_->next(c, e)) return input_.reset();
        if (skip_ > 0) --skip_;
        else held_.push_back(std::move(e));
      }
    }
    const WindowKind kind_;
    const Dataset::Spec& of_;
    std::deque<Element> held_;
    int64_t skip_ = 0;
  };

  const WindowKind kind_;
};

struct MakeWindow : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const WindowKind kind{at_least_one(c, 1, "size"), at_least_one(c, 2, "shift"),
                          at_least_one(c, 3, "stride"), bool_input(c, 4, "drop_remainder")};
    return std::make_shared<WindowDataset>(spec, dataset_in(c.input(0)), kind);
  }
  static int64_t at_least_one(KernelContext& c, int i, const char* name) {
    const int64_t n = int_input(c, i, name);
    if (n <= 0) throw invalid_argument(fmt::format("Window {} must be greater than zero.", name));
    return n;
  }
};

// ---- Windows of elements with one key.

struct GroupFunctions {
  Captured key, reduce, size;
};

class GroupByWindowDataset final : public OverInput {
 public:
  GroupByWindowDataset(Spec spec, DatasetPtr input, GroupFunctions f)
      : OverInput(std::move(spec), std::move(input)), f_(std::move(f)) {}
  int64_t cardinality() const override { return kUnknown; }
  std::string stateful_op() const override {
    return first_stateful({&f_.key, &f_.reduce, &f_.size});
  }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), f_, input_->spec(), c);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const GroupFunctions& f,
         const Dataset::Spec& of, Caller& c)
        : OverIterator(std::move(self), std::move(input)),
          of_(of),
          key_(f.key, c),
          reduce_(f.reduce, c),
          size_(f.size, c) {}

    bool next(Caller& c, Element& out) override {
      for (;; StopScope::attend()) {
        if (current_) {
          if (current_->next(c, out)) return true;
          current_.reset();
          given_.clear();
        }
        if (input_) take_one(c);
        else if (groups_.empty()) return false;
        else give(c, groups_.begin()->first);
      }
    }

    void save(StateWriter& w) override {
      OverIterator::save(w);
      w.put(at_);
      w.put(static_cast<int64_t>(groups_.size()));
      for (const auto& [key, group] : groups_) {
        w.put(key);
        w.put(group.size);
        put_list(w, group.elements);
      }
      w.put(int64_t{current_ != nullptr});
      if (!current_) return;
      w.put(given_key_);
      put_list(w, given_);
      current_->save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      OverIterator::restore(c, r);
      at_ = r.number();
      for (int64_t n = r.number(); n > 0; --n) {
        const int64_t key = r.number();
        Group& g = groups_[key];
        g.size = r.number();
        g.elements = read_list(r);
      }
      if (!r.number()) return;
      given_key_ = r.number();
      given_ = read_list(r);
      open(c);
      current_->restore(c, r);
    }

   private:
    struct Group {
      int64_t size = 0;
      std::vector<Element> elements;
    };

    void take_one(Caller& c) {
      Element e;
      if (!input_->next(c, e)) return input_.reset();
      const int64_t number = at_++;
      try {
        const int64_t key = key_.number(c, e);
        Group& g = groups_[key];
        if (g.size == 0) {
          const Tensor asked = Tensor::scalar(key);
          g.size = size_.number(c, std::span(&asked, 1));
          if (g.size <= 0) {
            groups_.erase(key);
            throw invalid_argument("Window size must be greater than zero.");
          }
        }
        g.elements.push_back(std::move(e));
        if (static_cast<int64_t>(g.elements.size()) >= g.size) give(c, key);
      } catch (Error& error) {
        throw at_stage(std::move(error), *self_, number);
      }
    }

    void give(Caller& c, int64_t key) {
      const auto group = groups_.extract(key);
      given_key_ = key;
      given_ = group.mapped().elements;
      open(c);
    }

    void open(Caller& c) {
      const auto window = std::make_shared<ListedDataset>(
          Dataset::Spec{"Window", "", of_.types, of_.shapes}, given_);
      const Tensor in[] = {Tensor::scalar(given_key_), dataset_tensor(window)};
      Element made;
      reduce_(c, in, made);
      if (made.size() != 1) throw invalid_argument("`reduce_func` must return a single dataset.");
      dataset_ = dataset_in(made[0]);
      current_ = dataset_->iterator(c);
    }

    const Dataset::Spec& of_;
    Captured::Call key_, reduce_, size_;
    std::map<int64_t, Group> groups_;
    int64_t at_ = 0, given_key_ = 0;
    std::vector<Element> given_;
    DatasetPtr dataset_;
    std::unique_ptr<Iterator> current_;
  };

  const GroupFunctions f_;
};

struct MakeGroupByWindow {
  explicit MakeGroupByWindow(const KernelInit& init)
      : key(init, "key_func", "key_func_other_arguments"),
        reduce(init, "reduce_func", "reduce_func_other_arguments"),
        size(init, "window_size_func", "window_size_func_other_arguments") {}
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    return std::make_shared<GroupByWindowDataset>(
        spec, dataset_in(c.input(0)),
        GroupFunctions{key.captured(c), reduce.captured(c), size.captured(c)});
  }
  FunctionArg key, reduce, size;
};

// ---- Batches cut anew.

class RebatchDataset final : public OverInput {
 public:
  RebatchDataset(Spec spec, DatasetPtr input, std::vector<int64_t> sizes, bool drop)
      : OverInput(std::move(spec), std::move(input)), sizes_(std::move(sizes)), drop_(drop) {}
  int64_t cardinality() const override { return kUnknown; }
  std::unique_ptr<Iterator> make_iterator(Caller& c) const override {
    return std::make_unique<Over>(shared_from_this(), input_->iterator(c), sizes_, drop_);
  }

 private:
  class Over final : public OverIterator {
   public:
    Over(DatasetPtr self, std::unique_ptr<Iterator> input, const std::vector<int64_t>& sizes,
         bool drop)
        : OverIterator(std::move(self), std::move(input)), sizes_(sizes), drop_(drop) {}
    bool next(Caller& c, Element& out) override {
      const int64_t wanted = sizes_[at_];
      if (wanted == 0 && (rows_left() > 0 || pull(c))) {
        out.clear();
        for (const Tensor& t : batch_) out.push_back(t.slice(0, 0));
        return step();
      }
      std::vector<Element> parts;
      int64_t have = 0;
      while (have < wanted && (rows_left() > 0 || pull(c))) {
        const int64_t n = std::min(wanted - have, rows_left());
        Element part;
        for (const Tensor& t : batch_) part.push_back(t.slice(first_, first_ + n));
        parts.push_back(std::move(part));
        first_ += n;
        have += n;
      }
      if (have == 0 || (drop_ && have < wanted)) return false;
      out.clear();
      for (size_t i = 0; i < parts[0].size(); ++i) out.push_back(joined(parts, i, have));
      return step();
    }
    void save(StateWriter& w) override {
      w.put(static_cast<int64_t>(at_));
      w.put(first_);
      w.put(batch_);
      OverIterator::save(w);
    }
    void restore(Caller& c, StateReader& r) override {
      at_ = static_cast<size_t>(r.number()) % sizes_.size();
      first_ = r.number();
      batch_ = r.element();
      OverIterator::restore(c, r);
    }

   private:
    bool step() {
      at_ = (at_ + 1) % sizes_.size();
      return true;
    }
    int64_t rows_left() const { return batch_.empty() ? 0 : batch_[0].dim(0) - first_; }
    bool pull(Caller& c) {
      while (input_) {
        StopScope::attend();
        if (!input_->next(c, batch_)) {
          input_.reset();
          batch_.clear();
          return false;
        }
        first_ = 0;
        for (const Tensor& t : batch_)
          if (t.rank() < 1)
            throw invalid_argument(
                "Cannot rebatch dataset: All components must have at least one "
                "dimension. Perhaps your input dataset is not batched?");
        if (rows_left() > 0) return true;
      }
      return false;
    }
    static Tensor joined(const std::vector<Element>& parts, size_t i, int64_t rows) {
      if (parts.size() == 1) return parts[0][i];
      const Tensor& one = parts[0][i];
      std::vector<int64_t> dims(one.shape().dims().begin(), one.shape().dims().end());
      dims[0] = rows;
      Tensor out(one.dtype(), Shape(std::span<const int64_t>(dims)));
      int64_t at = 0;
      for (const Element& p : parts) {
        Tensor part = out.slice(at, at + p[i].dim(0));
        if (part.num_elements() != p[i].num_elements())
          throw failed_precondition("Cannot rebatch: the batches' elements are of different shapes.");
        copy_elements(part, p[i]);
        at += p[i].dim(0);
      }
      return out;
    }

    const std::vector<int64_t>& sizes_;
    const bool drop_;
    size_t at_ = 0;
    Element batch_;
    int64_t first_ = 0;
  };

  const std::vector<int64_t> sizes_;
  const bool drop_;
};

struct MakeRebatch : NoState {
  using NoState::NoState;
  std::shared_ptr<Dataset> make(const Dataset::Spec& spec, KernelContext& c) const {
    const Tensor& t = c.input(1);
    std::vector<int64_t> sizes(t.data<int64_t>(), t.data<int64_t>() + t.num_elements());
    if (sizes.empty() || std::ranges::any_of(sizes, [](int64_t n) { return n < 0; }) ||
        std::ranges::all_of(sizes, [](int64_t n) { return n == 0; }))
      throw invalid_argument("batch_sizes must be at least 0, and one of them more.");
    return std::make_shared<RebatchDataset>(spec, dataset_in(c.input(0)), std::move(sizes),
                                            bool_input(c, 2, "drop_remainder"));
  }
};

}  // namespace

void add_window_kernels(KernelList& rows) {
  add_row(rows, "UnbatchDataset", dataset_kernel<MakeUnbatch>);
  add_row(rows, "WindowDataset", dataset_kernel<MakeWindow>);
  add_row(rows, "GroupByWindowDataset", dataset_kernel<MakeGroupByWindow>);
  add_row(rows, "RebatchDatasetV2", dataset_kernel<MakeRebatch>);
}

}  // namespace emplace::data
