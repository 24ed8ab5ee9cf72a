#include "backends/cuda/trial.h"

#include <algorithm>
#include <cmath>

namespace emplace::cuda {

Trial::Trial() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check(cudaEventCreate(&start_), "making an event");
  check(cudaEventCreate(&end_), "making an event");
}

Trial::~Trial() {
  cudaEventDestroy(start_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream_);
}

float Trial::time(int times, const std::function<bool()>& work) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  bool works = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
  for (int i = 0; i < times && works; ++i) works = work();
  works &= cudaStreamEndCapture(stream_, &graph) == cudaSuccess && graph;
  works = works && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
  float best = INFINITY;
  for (int round = 0; round < 3 && works; ++round) {  // the first warms up
    float now = 0;
    works = timed([&] { return cudaGraphLaunch(exec, stream_) == cudaSuccess; }, now);
    if (round > 0) best = std::min(best, now / static_cast<float>(times));
  }
  if (exec) cudaGraphExecDestroy(exec);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();  // what a refused one leaves behind
  return works ? best : INFINITY;
}

float Trial::time_once(const std::function<bool()>& work) {
  float ms = 0;
  return timed(work, ms) ? ms : INFINITY;
}

bool Trial::timed(const std::function<bool()>& work, float& ms) {
  cudaEventRecord(start_, stream_);
  const bool works = work();
  cudaEventRecord(end_, stream_);
  return cudaEventSynchronize(end_) == cudaSuccess &&
         cudaEventElapsedTime(&ms, start_, end_) == cudaSuccess && works;
}

}  // namespace emplace::cuda
