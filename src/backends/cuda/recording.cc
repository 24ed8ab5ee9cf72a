// Calls recorded as a CUDA graph.
#include <fmt/format.h>

#include <set>

#include "backends/cuda/gpu.h"

namespace emplace::cuda {
namespace {

// A graph that can be launched, with the scratch memory that its kernels name.
class Graph final : public Recording {
 public:
  explicit Graph(CudaQueue& queue) : queue_(queue) {}
  ~Graph() override {
    if (exec_) cudaGraphExecDestroy(exec_);
    for (Lane& l : lanes_)
      if (l.stream) cudaStreamDestroy(l.stream);
    for (cudaEvent_t e : events_) cudaEventDestroy(e);
  }

  void record(Gpu& gpu, std::span<const RecordedCall> calls) {
    make_lanes(gpu, calls);
    const cudaStream_t origin = lanes_[0].stream;
    check(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal), "recording");
    cudaGraph_t graph = nullptr;
    try {
      for (size_t l = 1; l < lanes_.size(); ++l) join(lanes_[l].stream, mark(origin));
      make_calls(calls);
      for (size_t l = 1; l < lanes_.size(); ++l) join(origin, mark(lanes_[l].stream));
    } catch (...) {
      cudaStreamEndCapture(origin, &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaGetLastError();  // what a spoilt recording leaves behind
      throw;
    }
    check(cudaStreamEndCapture(origin, &graph), "recording");
    const cudaError_t result = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    check(result, "making a graph of a recording");
    check(cudaGraphUpload(exec_, queue_.stream()), "uploading a graph");
  }

  void replay() override { check(cudaGraphLaunch(exec_, queue_.stream()), "replaying"); }

 private:
  // One stream for each line that occurs; nobody else's work must get into the recording.
  void make_lanes(Gpu& gpu, std::span<const RecordedCall> calls) {
    std::set<int> used;
    for (const RecordedCall& c : calls) used.insert(c.lane);
    for (int lane : used) {
      lane_of_.resize(static_cast<size_t>(lane) + 1, 0);
      lane_of_[static_cast<size_t>(lane)] = lanes_.size();
      Lane l;
      l.gpu = &gpu;
      check(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking), "making a stream");
      // As much scratch memory as the calls took when they were made plainly: what grows the arena
      // would spoil the recording.
      const Lane& plain = static_cast<CudaQueue&>(gpu.queue(lane)).lane();
      if (plain.workspace) l.scratch(plain.workspace->bytes());
      lanes_.push_back(std::move(l));
    }
  }

  void make_calls(std::span<const RecordedCall> calls) {
    std::set<uint32_t> awaited;
    for (const RecordedCall& c : calls) awaited.insert(c.after.begin(), c.after.end());
    std::vector<cudaEvent_t> done(calls.size(), nullptr);
    for (size_t i = 0; i < calls.size(); ++i) {
      Lane& lane = lanes_[lane_of_[static_cast<size_t>(calls[i].lane)]];
      for (uint32_t before : calls[i].after) join(lane.stream, done[before]);
      if (!calls[i].after.empty()) lane.kernel_last = false;
      CudaQueue::call_on(lane, calls[i].fn, calls[i].arg, calls[i].n);
      check_recording(lane.stream, i);
      if (awaited.count(static_cast<uint32_t>(i))) done[i] = mark(lane.stream);
    }
  }

  // A call may spoil the recording without a word (a library that waits for the card).
  static void check_recording(cudaStream_t stream, size_t call) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) != cudaSuccess ||
        status == cudaStreamCaptureStatusInvalidated)
      throw Error(Code::kFailedPrecondition, fmt::format("call {} can't be recorded", call));
  }

  cudaEvent_t mark(cudaStream_t stream) {
    cudaEvent_t e;
    check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "making an event");
    events_.push_back(e);
    check(cudaEventRecord(e, stream), "recording");
    return e;
  }
  static void join(cudaStream_t stream, cudaEvent_t e) {
    check(cudaStreamWaitEvent(stream, e, 0), "recording");
  }

  CudaQueue& queue_;
  std::vector<Lane> lanes_;
  std::vector<size_t> lane_of_;  // by the caller's number
  std::vector<cudaEvent_t> events_;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace

std::unique_ptr<Recording> CudaQueue::record_calls(std::span<const RecordedCall> calls) {
  auto graph = std::make_unique<Graph>(*this);
  graph->record(gpu_, calls);
  return graph;
}

}  // namespace emplace::cuda
