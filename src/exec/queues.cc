#include "exec/step_graph.h"

namespace emplace {

QueueNumbers copy_queues(const Device& device) {
  return {device.num_queues(), device.num_queues() + 1};
}

Queue& queue_of(Device& device, int number) {
  const QueueNumbers copies = copy_queues(device);
  if (number == copies.copy_in) return device.copy_in_queue();
  if (number == copies.copy_out) return device.copy_out_queue();
  return device.queue(number);
}

bool shares_threads(Device& device, Device& host) {
  return device.is_async() || &device.inter_op() == &host.inter_op();
}

namespace {

// Everything a step touches is in host memory: it runs on a host thread, whatever its device.
bool all_on_host(const StepGraph& g, const Step& step) {
  for (Port p : step.inputs)
    if (g.out(p).space != kHostSpace) return false;
  for (const StepOutput& o : step.outputs)
    if (o.space != kHostSpace) return false;
  return !(step.inputs.empty() && step.outputs.empty());
}

// Variables live in device memory though their handles don't.
bool touches_variable(const StepGraph& g, const Step& step) {
  for (Port p : step.inputs)
    if (g.out(p).is_ref || g.out(p).dtype == DType::kResource) return true;
  return false;
}

// A queue can't wait for another operation: what handles of queues and mutexes lead to is on the host.
bool may_wait(const Step& step) { return step.row && step.row->traits.blocks; }

// Variants in, variants out (a sum of lists): their elements lie in device memory though they don't.
bool works_on_elements(const StepGraph& g, const Step& step) {
  if (step.kind != StepKind::kKernel || step.inputs.empty() || step.outputs.empty()) return false;
  for (Port p : step.inputs)
    if (g.out(p).dtype != DType::kVariant) return false;
  for (const StepOutput& o : step.outputs)
    if (o.dtype != DType::kVariant) return false;
  return true;
}

class Assigner {
 public:
  explicit Assigner(StepGraph& g) : g_(g), lanes_(g.devices.size()) {
    for (size_t d = 0; d < lanes_.size(); ++d)
      lanes_[d].last.assign(static_cast<size_t>(g.devices[d]->num_queues()) + 2, -1);
  }

  void run() {
    for (size_t i = 0; i < g_.steps.size(); ++i) {
      Step& step = g_.steps[i];
      if (step.device_space == kHostSpace || step.is_value()) continue;
      if (step.kind == StepKind::kConst) continue;
      if (all_on_host(g_, step) &&
          (may_wait(step) || (!touches_variable(g_, step) && !works_on_elements(g_, step))))
        continue;
      Lane& lane = lanes_[step.device_space - 1];
      step.queue = choose(step, lane);
      // Steps of one queue start in this order, whatever becomes ready first.
      if (int& last = lane.last[step.queue]; last >= 0) step.controls.push_back(last);
      lane.last[step.queue] = static_cast<int>(i);
    }
  }

 private:
  struct Lane {
    std::vector<int> last;  // by queue: its latest step
    int next = 0;
  };

  int choose(const Step& step, Lane& lane) {
    const QueueNumbers copies = copy_queues(*step.device);
    if (step.kind == StepKind::kCopy)
      return step.outputs[0].space == kHostSpace ? copies.copy_out : copies.copy_in;
    // Go on where an input was made, if nothing else has followed it there.
    for (Port p : step.inputs) {
      const Step& from = g_.steps[p.step];
      if (from.device == step.device && from.queue >= 0 && from.queue < copies.copy_in &&
          lane.last[from.queue] == p.step)
        return from.queue;
    }
    const int q = lane.next;
    lane.next = (lane.next + 1) % step.device->num_queues();
    return q;
  }

  StepGraph& g_;
  std::vector<Lane> lanes_;
};

}  // namespace

void assign_queues(StepGraph& g) { Assigner(g).run(); }

}  // namespace emplace
