#include "data/iterator.h"

#include <fmt/format.h>

#include <atomic>
#include <unordered_map>

#include "base/stop_scope.h"
#include "data/parallel.h"
#include "data/state.h"
#include "session/local_devices.h"

namespace emplace::data {
namespace {

PassOptions options_of(const Dataset& d) {
  PassOptions all;
  for (const Dataset* input : d.inputs()) all.merge(options_of(*input));
  if (d.options()) all.merge(*d.options());
  return all;
}

}  // namespace

// ---- Walk.

Walk::Walk(DatasetPtr dataset, std::shared_ptr<SplitProvider> splits)
    : dataset_(std::move(dataset)),
      root_(options_of(*dataset_).inject_prefetch.value_or(false) ? prefetched(dataset_)
                                                                  : dataset_),
      counts_(std::make_shared<PipelineCounts>(*root_)),
      pass_(options_of(*dataset_), counts_) {
  counts_->name = pass_.options().name;
  counts_->cpu_budget = pass_.budget().cpu;
  counts_->ram_budget = pass_.budget().ram;
  dataset_->remember(counts_);
  if (splits) pass_.share_out(std::make_unique<SplitSources>(*dataset_, std::move(splits)));
}

Walk::~Walk() { pass_.end(); }

Iterator& Walk::iterator(Caller& c) {
  if (!iterator_) iterator_ = root_->iterator(c);
  return *iterator_;
}

void Walk::warm_up() {
  if (!pass_.options().warm_start.value_or(false)) return;
  CallScope scope;
  Caller c{pass_, scope};
  iterator(c);
}

bool Walk::next(CallScope& scope, Element& out, bool helped) {
  if (!next_anywhere(scope, out, helped)) return false;
  if (root_->on_device())
    for (Tensor& t : out) t = in_memory_of(t, nullptr);
  return true;
}

bool Walk::next_anywhere(CallScope& scope, Element& out, bool helped) {
  Caller c{pass_, scope, helped};
  return iterator(c).next(c, out);
}

std::vector<Tensor> Walk::save() {
  CallScope scope;
  Caller c{pass_, scope};
  StateWriter w;
  iterator(c).save(w);
  return w.take();
}

void Walk::restore(CallScope& scope, std::vector<Tensor> state) {
  Caller c{pass_, scope};
  StateReader r(std::move(state));
  iterator_ = nullptr;
  iterator(c).restore(c, r);
}

// ---- KernelScope.

KernelScope::KernelScope(Cancellation& step) : step_(step) {
  id_ = step_.add([calls = std::weak_ptr(calls_)] {
    if (const auto c = calls.lock()) c->cancel(cancelled("Operation was cancelled"));
  });
}

KernelScope::~KernelScope() { step_.remove(id_); }

// ---- IteratorResource.

IteratorResource::IteratorResource(std::string name, std::vector<DType> types,
                                   std::vector<Shape> shapes)
    : name_(std::move(name)), types_(std::move(types)), shapes_(std::move(shapes)) {}

IteratorResource::~IteratorResource() {
  if (walk_) walk_->end();
}

void check_element_kind(const std::vector<DType>& wanted, const std::vector<Shape>& shapes,
                        const Dataset::Spec& given) {
  if (given.types.empty() || wanted.empty()) return;
  if (wanted.size() != given.types.size())
    throw invalid_argument(
        fmt::format("Number of components does not match: expected {} types but got {}.",
                    wanted.size(), given.types.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != given.types[i])
      throw invalid_argument(
          fmt::format("Data type mismatch at component {}: expected {} but got {}.", i,
                      dtype_name(wanted[i]), dtype_name(given.types[i])));
    if (i < shapes.size() && i < given.shapes.size() && !shapes[i].compatible_with(given.shapes[i]))
      throw invalid_argument(
          fmt::format("Incompatible shapes at component {}: expected {} but got {}.", i,
                      shapes[i].str(), given.shapes[i].str()));
  }
}

void IteratorResource::begin(DatasetPtr dataset, std::shared_ptr<SplitProvider> splits) {
  check_element_kind(types_, shapes_, dataset->spec());
  auto fresh = std::make_shared<Walk>(std::move(dataset), std::move(splits));
  fresh->warm_up();
  std::shared_ptr<Walk> old;
  const std::lock_guard lock(mutex_);
  old = std::exchange(walk_, std::move(fresh));
  if (old) old->end();
}

std::shared_ptr<Walk> IteratorResource::walk() {
  const std::lock_guard lock(mutex_);
  if (!walk_)
    throw failed_precondition(
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
        "the initializer operation for this iterator before getting the next element.");
  return walk_;
}

std::unique_lock<std::timed_mutex> IteratorResource::lock(CallScope& scope) {
  std::unique_lock turn(turn_, std::try_to_lock);
  // By the system's clock: gcc's thread sanitizer doesn't know the wait by the other.
  const auto look = [] { return std::chrono::system_clock::now() + std::chrono::milliseconds(20); };
  while (!turn && !turn.try_lock_until(look())) {
    scope.check();
    StopScope::attend();
  }
  return turn;
}

bool IteratorResource::next(CallScope& scope, Element& out) {
  const auto turn = lock(scope);
  const std::shared_ptr<Walk> w = walk();
  if (!w->next_anywhere(scope, out)) return false;
  check(out);
  return true;
}

bool IteratorResource::ready() {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn) return false;
  const std::lock_guard lock(mutex_);
  return !walk_ || walk_->ready();
}

void IteratorResource::check(const Element& e) const {
  if (types_.empty()) return;
  if (e.size() != types_.size())
    throw invalid_argument(
        fmt::format("Expected {} components but got {}.", types_.size(), e.size()));
  for (size_t i = 0; i < e.size(); ++i) {
    if (e[i].dtype() != types_[i])
      throw invalid_argument(
          fmt::format("Data type mismatch at component {}: expected {} but got {}.", i,
                      dtype_name(types_[i]), dtype_name(e[i].dtype())));
    if (!shapes_[i].compatible_with(e[i].shape()))
      throw invalid_argument(
          fmt::format("Incompatible shapes at component {}: expected {} but got {}.", i,
                      shapes_[i].str(), e[i].shape().str()));
  }
}

std::vector<Tensor> IteratorResource::save() {
  CallScope scope;
  const auto turn = lock(scope);
  return walk()->save();
}

void IteratorResource::restore(CallScope& scope, std::vector<Tensor> state) {
  const auto turn = lock(scope);
  const std::shared_ptr<Walk> old = walk();
  auto fresh = std::make_shared<Walk>(old->dataset());
  fresh->restore(scope, std::move(state));
  const std::lock_guard lock(mutex_);
  walk_ = std::move(fresh);
  old->end();
}

std::string IteratorResource::model() { return walk()->counts().proto(); }

void IteratorResource::once(const std::function<void()>& f) {
  const std::lock_guard lock(once_mutex_);
  if (done_once_) return;
  f();
  done_once_ = true;
}

// ---- Texts.

namespace {

struct Texts {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<Resource>> all;
};

Texts& texts() {
  static Texts* const t = new Texts;
  return *t;
}

}  // namespace

std::string resource_text(const std::shared_ptr<Resource>& it, const std::string& name) {
  const std::lock_guard lock(texts().mutex);
  std::erase_if(texts().all, [](const auto& t) { return t.second.expired(); });
  std::string text = fmt::format("iterator {} at {}", name, static_cast<const void*>(it.get()));
  texts().all[text] = it;
  return text;
}

std::shared_ptr<Resource> resource_of_text(const std::string& text) {
  const std::lock_guard lock(texts().mutex);
  const auto found = texts().all.find(text);
  auto it = found == texts().all.end() ? nullptr : found->second.lock();
  if (!it) throw not_found(fmt::format("no iterator has the string handle '{}'", text));
  return it;
}

}  // namespace emplace::data
