#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/fingerprint.h"
#include "data/pass.h"
#include "emplace/tensor.h"

namespace emplace::data {

// The components of one element. Their memory is shared: whoever wants to change it makes a copy.
using Element = std::vector<Tensor>;

// How many elements there are, where it is not a number.
inline constexpr int64_t kInfinite = -1, kUnknown = -2;

class StateReader;
class StateWriter;

// What several processes can share out of a dataset (data/splits.h).
enum class Splits { kNone, kSource, kOfInputs, kOfAllButFirst };

// A place in a dataset. One thread at a time uses it; another one may be in `Pass::end`.
class Iterator {
 public:
  virtual ~Iterator() = default;
  // The next element into `out`, whose old value goes; false at the end, and then again and again.
  // After an error it goes on with the element behind the one that failed.
  virtual bool next(Caller& c, Element& out) = 0;
  // Would `next` give its answer without waiting for another thread?
  virtual bool ready() const { return true; }
  // Lets its threads begin before the first element is asked for.
  virtual void start() {}
  // Where it is, for `restore` on an iterator of the same dataset that was just
  // made.
  virtual void save(StateWriter& w) = 0;
  virtual void restore(Caller& c, StateReader& r) = 0;
};

// A description of elements, the value of a DT_VARIANT scalar. Immutable; any thread may make
// iterators.
class Dataset : public VariantValue, public std::enable_shared_from_this<Dataset> {
 public:
  struct Spec {
    std::string op, node;  // who made it, for errors and reports
    std::vector<DType> types;
    std::vector<Shape> shapes;
  };
  explicit Dataset(Spec spec) : spec_(std::move(spec)) {}

  std::string_view type_name() const override { return "tensorflow::DatasetVariantWrapper"; }
  const Spec& spec() const { return spec_; }
  virtual int64_t cardinality() const = 0;
  // For the kernel that made it, before anybody else knows it.
  void set_origin(Origin origin) { origin_ = std::move(origin); }
  const Origin& origin() const { return origin_; }
  // One at the start, which counts for the pass.
  std::unique_ptr<Iterator> iterator(Caller& c) const;
  // Those it takes elements from.
  virtual std::vector<const Dataset*> inputs() const { return {}; }
  // Of the functions that it calls; empty: none has state
  // (CalledFunction::stateful_op).
  virtual std::string stateful_op() const { return {}; }
  // Of one input, its splits: what is said here is for sources and datasets of several inputs.
  virtual Splits splits() const { return Splits::kNone; }
  // Are elements handed on as they are, or at most left out?
  virtual bool hands_on() const { return false; }
  // Do elements lie in a device's memory?
  virtual bool on_device() const {
    return hands_on() && std::ranges::any_of(inputs(), [](auto* d) { return d->on_device(); });
  }
  // What it says about how iterators of it and its inputs run; null: nothing.
  virtual const PassOptions* options() const { return nullptr; }
  // What the last pass counted that went through it from outside; null before
  // there was one.
  std::shared_ptr<const PipelineCounts> last_counts() const;
  void remember(std::shared_ptr<const PipelineCounts> counts) const;

 private:
  virtual std::unique_ptr<Iterator> make_iterator(Caller& c) const = 0;

  const Spec spec_;
  Origin origin_;
  mutable std::mutex mutex_;  // guards the counts
  mutable std::shared_ptr<const PipelineCounts> last_counts_;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// The dataset in a variant scalar; InvalidArgument if it holds none.
DatasetPtr dataset_in(const Tensor& t);
// A variant scalar that holds it.
Tensor dataset_tensor(std::shared_ptr<Dataset> dataset);

}  // namespace emplace::data
