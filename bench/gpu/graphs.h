// The graphs of `bench/run gpu`.
#pragma once
#include <string>
#include <vector>

#include "emplace/emplace.h"

namespace emplace::bench {

// A step to time: everything it needs is on the card already, nothing is fetched.
struct CardStep {
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Session> session;
  Callable step;
  Output watched;  // a value to look at afterwards

  void run() const { step(std::span<const Tensor>{}); }
};

// `length` operations one after another on [n, n], from a variable to another.
CardStep add_chain(int length, int64_t n);
CardStep matmul_chain(int length, int64_t n);
// Products of [n, n] matrices, or sums of `n` floats, one after another.
CardStep products(DType dtype, int64_t n, int count);
CardStep sums(int64_t n, int count);
// 784-512-512-10, batch 128, cross entropy, gradient descent.
CardStep mlp();
// The convolution network of the CIFAR-10 tutorial on 24 x 24 images, batch 128: two convolutions
// with pools and local response normalisation, three dense layers; gradient descent.
CardStep cifar();

}  // namespace emplace::bench
