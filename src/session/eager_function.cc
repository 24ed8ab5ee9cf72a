#include "session/eager_function.h"

#include <algorithm>

#include "exec/rendezvous.h"
#include "session/eager_host.h"
#include "session/eager_profile.h"
#include "session/runtime.h"

namespace emplace {
namespace {

// A step that ends when the work does that it is part of.
class StepOfWork final : public Rendezvous {
 public:
  explicit StepOfWork(EagerHost& host) : host_(host) {}
  void joined(std::function<void(const Error&)> cancel) override {
    place_->cancel = std::move(cancel);
    id_ = host_.cancellation().add([place = place_, &host = host_] {
      const std::lock_guard lock(place->mutex);
      if (place->cancel) place->cancel(host.why().value_or(cancelled("Operation was cancelled")));
    });
  }
  void left() override {
    host_.cancellation().remove(id_);
    const std::lock_guard lock(place_->mutex);
    place_->cancel = nullptr;
  }
  void send(ValueChannel, const Tensor&, std::shared_ptr<Pending>) override { nowhere(); }
  void receive(ValueChannel, std::shared_ptr<Pending>) override { nowhere(); }

 private:
  [[noreturn]] static void nowhere() { throw internal_error("A function is no part of a step."); }
  struct Place {
    std::mutex mutex;
    std::function<void(const Error&)> cancel;
  };
  EagerHost& host_;
  const std::shared_ptr<Place> place_ = std::make_shared<Place>();
  uint64_t id_ = 0;
};

}  // namespace

EagerFunction::Impl::Impl(std::shared_ptr<Graph> graph, SessionOptions options,
                          const KernelRegistry& kernels, SharedParts shared,
                          std::shared_ptr<const std::atomic<int64_t>> timeout_in_ms,
                          std::string device, Signature signature)
    : graph_(std::move(graph)),
      options_(std::move(options)),
      kernels_(kernels),
      shared_(std::move(shared)),
      timeout_in_ms_(std::move(timeout_in_ms)),
      device_(std::move(device)),
      signature_(std::move(signature)) {}

Device* EagerFunction::Impl::place_of(const Tensor& input) const {
  if (input.dtype() != DType::kResource) return input.device();
  if (input.num_elements() != 1) return nullptr;
  const std::string& name = input.data<ResourceHandle>()->device;
  for (const auto& d : *shared_.devices)
    if (d->name() == name) return d.get();
  return nullptr;
}

bool EagerFunction::Impl::fits(const Family& f, std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (f.devices[i] != place_of(inputs[i])) return false;
  return true;
}

EagerFunction::Impl::Family& EagerFunction::Impl::family(std::span<const Tensor> inputs) {
  const std::lock_guard lock(mutex_);
  for (const auto& f : families_)
    if (fits(*f, inputs)) return *f;
  auto made = std::make_unique<Family>();
  for (const Tensor& t : inputs) made->devices.push_back(place_of(t));
  made->session = std::make_shared<Session::Impl>(graph_, options_, kernels_, shared_, device_);
  Signature signature = signature_;
  auto& assigned = made->session->assigned;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool handle = inputs[i].dtype() == DType::kResource;
    signature.feed_devices.push_back(handle ? nullptr : made->devices[i]);
    if (!handle || !made->devices[i]) continue;
    const auto at = std::ranges::find_if(*shared_.devices, [&](const auto& d) {
      return d.get() == made->devices[i];
    });
    const auto id = static_cast<size_t>(signature.feeds[i].node->id());
    if (assigned.size() <= id) assigned.resize(id + 1, -1);
    assigned[id] = static_cast<int>(at - shared_.devices->begin());
  }
  made->session->explained_by.resize(assigned.size(), {-1, -1});
  made->plans = made->session->family(std::move(signature));
  families_.push_back(std::move(made));
  return *families_.back();
}

EagerFunction::Impl::Family& EagerFunction::Impl::checked_family(std::span<const Tensor> inputs) {
  if (inputs.size() != signature_.feeds.size())
    throw invalid_argument("a function got another number of inputs than it takes");
  return family(inputs);
}

std::shared_ptr<Program> EagerFunction::Impl::program(std::span<const Tensor> inputs,
                                                      StepRequest& request) {
  Family& f = checked_family(inputs);
  request = f.session->request({});
  return f.session->checked_program(*f.plans, inputs);
}

void EagerFunction::Impl::run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs) {
  if (spread && spread->run(inputs, outputs)) return;
  std::vector<Tensor> here;
  if (std::ranges::any_of(inputs, [](const Tensor& t) { return t.device() && task_that_holds(t); })) {
    for (const Tensor& t : inputs) here.push_back(task_that_holds(t) ? brought_here(t) : t);
    inputs = here;
  }
  if (EagerProfile::get().on()) return run_noted(inputs, outputs);
  run_here(inputs, outputs, nullptr);
}

void EagerFunction::Impl::run_noted(std::span<const Tensor> inputs, std::vector<Tensor>& outputs) {
  EagerProfile::Call call("function", shared_.devices->front()->name());
  RunMetadata metadata;
  run_here(inputs, outputs, &metadata);
  call.noted().nodes = std::move(metadata.nodes);
}

void EagerFunction::Impl::run_here(std::span<const Tensor> inputs, std::vector<Tensor>& outputs,
                                   RunMetadata* metadata) {
  Family& f = checked_family(inputs);
  RunOptions options;
  options.trace = metadata != nullptr;
  options.timeout_in_ms = timeout_in_ms_->load(std::memory_order_relaxed);
  EagerHost& host = EagerHost::of_thread();
  if (!host.at_work()) return f.session->run(*f.plans, inputs, outputs, options, metadata);
  StepOfWork step(host);
  f.session->run(*f.plans, inputs, outputs, options, metadata, &step);
}

EagerFunction::EagerFunction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EagerFunction::~EagerFunction() {
  if (LiveWork::left_behind()) impl_.release();
}

void EagerFunction::run(std::span<const Tensor> inputs, std::vector<Tensor>& outputs) {
  impl_->run(inputs, outputs);
}

}  // namespace emplace
