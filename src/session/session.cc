#include "emplace/session.h"

#include "session/runtime.h"
#include "session/session_impl.h"

namespace emplace {

struct Callable::State {
  std::shared_ptr<Session::Impl> session;
  std::shared_ptr<PlanFamily> family;
  RunOptions options;
};

std::vector<Tensor> Callable::operator()(std::span<const Tensor> feeds) const {
  std::vector<Tensor> fetched;
  run(feeds, fetched);
  return fetched;
}

void Callable::run(std::span<const Tensor> feeds, std::vector<Tensor>& fetched) const {
  run(feeds, fetched, state_ ? state_->options : RunOptions{});
}

void Callable::run(std::span<const Tensor> feeds, std::vector<Tensor>& fetched,
                   const RunOptions& options, RunMetadata* metadata) const {
  if (!state_) throw failed_precondition("this callable was never made");
  state_->session->run(*state_->family, feeds, fetched, options, metadata);
}

Session::Session(Graph& graph, SessionOptions options)
    : impl_(std::make_shared<Impl>(graph, nullptr, options, kernel_table(options))) {}

Session::Session(std::shared_ptr<Graph> graph, SessionOptions options)
    : impl_(std::make_shared<Impl>(*graph, graph, options, kernel_table(options))) {}

Session::~Session() {
  if (LiveWork::left_behind()) new auto(std::move(impl_));
  else impl_->close();
}

std::vector<Tensor> Session::run(const Feeds& feeds, std::span<const Output> fetches,
                                 std::span<Node* const> targets, const RunOptions& options,
                                 RunMetadata* metadata) {
  Signature signature;
  std::vector<Tensor> values;
  for (const auto& [output, value] : feeds) {
    signature.feeds.push_back(output);
    values.push_back(value);
  }
  signature.fetches.assign(fetches.begin(), fetches.end());
  signature.targets.assign(targets.begin(), targets.end());
  const auto family = impl_->family(std::move(signature));
  std::vector<Tensor> fetched;
  impl_->run(*family, values, fetched, options, metadata);
  return fetched;
}

Tensor Session::run(Output fetch, const Feeds& feeds) {
  return std::move(run(feeds, std::span(&fetch, 1))[0]);
}

void Session::run(Node* target, const Feeds& feeds) {
  run(feeds, {}, std::span(&target, 1));
}

Callable Session::make_callable(std::span<const Output> feeds, std::span<const Output> fetches,
                                std::span<Node* const> targets, const RunOptions& options) {
  Signature signature;
  signature.feeds.assign(feeds.begin(), feeds.end());
  signature.fetches.assign(fetches.begin(), fetches.end());
  signature.targets.assign(targets.begin(), targets.end());
  Callable c;
  c.state_ = std::make_shared<Callable::State>(
      Callable::State{impl_, impl_->family(std::move(signature)), options});
  return c;
}

PlacementReport Session::placement(std::span<const Output> fetches) {
  return impl_->placement(fetches);
}

std::vector<DeviceAttributes> Session::list_devices() const {
  return impl_->remote ? impl_->remote->devices() : impl_->attributes;
}

Graph& Session::graph() const { return impl_->graph; }
void Session::cancel() { impl_->cancel_all({Code::kCancelled, "Step was cancelled."}); }
void Session::limit(int64_t bytes, const std::string& device) { impl_->limit_memory(bytes, device); }
int64_t Session::trim() { return impl_->trim(); }
void Session::close() {
  impl_->close();
  impl_->save_costs();
}
CostBook Session::costs() const { return impl_->costs(); }
bool Session::closed() const { return impl_->is_closed; }

}  // namespace emplace
