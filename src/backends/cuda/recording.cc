// Calls recorded as CUDA graphs.
#include <fmt/format.h>

#include <set>

#include "backends/cuda/gpu.h"

namespace emplace::cuda {
namespace {

// The card begins with a graph when all of it has been launched, some microseconds for each ten
// kernels: a long recording is a short graph and longer ones behind it, which are launched while
// the card is at work.
constexpr size_t kFirstCalls = 48, kGrowth = 4;

// Graphs that can be launched, with the scratch memory that their kernels name.
class Graph final : public Recording {
 public:
  explicit Graph(CudaQueue& queue) : queue_(queue) {}
  ~Graph() override {
    for (cudaGraphExec_t e : execs_) cudaGraphExecDestroy(e);
    for (Lane& l : lanes_)
      if (l.stream) cudaStreamDestroy(l.stream);
    for (cudaEvent_t e : events_) cudaEventDestroy(e);
  }

  void record(Gpu& gpu, std::span<const RecordedCall> calls) {
    make_lanes(gpu, calls);
    done_.assign(calls.size(), nullptr);
    for (size_t first = 0, n = kFirstCalls; first < calls.size(); n *= kGrowth) {
      const size_t end = calls.size() - first < 2 * n ? calls.size() : first + n;
      record_part(calls, first, end);
      first = end;
    }
    for (cudaGraphExec_t e : execs_)
      check(cudaGraphUpload(e, queue_.stream()), "uploading a graph");
  }

  void replay() override {
    for (cudaGraphExec_t e : execs_) check(cudaGraphLaunch(e, queue_.stream()), "replaying");
  }

 private:
  void record_part(std::span<const RecordedCall> calls, size_t first, size_t end) {
    const cudaStream_t origin = lanes_[0].stream;
    check(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal), "recording");
    cudaGraph_t graph = nullptr;
    try {
      for (size_t l = 1; l < lanes_.size(); ++l) join(lanes_[l].stream, mark(origin));
      for (Lane& l : lanes_) l.kernel_last = false;
      make_calls(calls, first, end);
      for (size_t l = 1; l < lanes_.size(); ++l) join(origin, mark(lanes_[l].stream));
    } catch (...) {
      cudaStreamEndCapture(origin, &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaGetLastError();  // what a spoilt recording leaves behind
      throw;
    }
    check(cudaStreamEndCapture(origin, &graph), "recording");
    cudaGraphExec_t exec = nullptr;
    const cudaError_t result = cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    check(result, "making a graph of a recording");
    execs_.push_back(exec);
  }

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

  // What a call comes after lies in the same part, or is done before it begins.
  void make_calls(std::span<const RecordedCall> calls, size_t first, size_t end) {
    std::set<size_t> awaited;
    for (size_t i = first; i < end; ++i)
      for (const uint32_t before : calls[i].after)
        if (before >= first) awaited.insert(before);
    for (size_t i = first; i < end; ++i) {
      Lane& lane = lanes_[lane_of_[static_cast<size_t>(calls[i].lane)]];
      for (const uint32_t before : calls[i].after) {
        if (before < first) continue;
        join(lane.stream, done_[before]);
        lane.kernel_last = false;
      }
      CudaQueue::call_on(lane, calls[i].fn, calls[i].arg, calls[i].n);
      check_recording(lane.stream, i);
      if (awaited.contains(i)) done_[i] = mark(lane.stream);
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
  std::vector<cudaEvent_t> done_;  // by call, where another waits for it
  std::vector<cudaGraphExec_t> execs_;
};

}  // namespace

std::unique_ptr<Recording> CudaQueue::record_calls(std::span<const RecordedCall> calls) {
  auto graph = std::make_unique<Graph>(*this);
  graph->record(gpu_, calls);
  return graph;
}

}  // namespace emplace::cuda
