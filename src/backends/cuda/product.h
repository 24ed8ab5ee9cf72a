// Products of matrices, as the kernels of this folder ask for them.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "backends/cuda/launch.h"

namespace emplace::cuda {

// What a product does on the way out.
enum class After { kNothing, kBias, kBiasRelu };

struct Problem {
  int64_t m, n, k, batch;  // row-major: [m, k] x [k, n]
  int64_t stride_a, stride_b;
  int64_t pitch_a = 0, pitch_b = 0,
          pitch_c = 0;  // from row to row as they are stored; 0: without gaps
  auto operator<=>(const Problem&) const = default;
};

// How to multiply matrices of one shape.
class Product {
 public:
  virtual ~Product() = default;
  // Milliseconds of one, where candidates were tried; else 0.
  virtual float time() const = 0;
  virtual void run(Gpu& gpu, void* out, const void* a, const void* b,
                   const void* bias = nullptr) const = 0;
};

// Products by shape, shared by all nodes of a card that multiply alike.
class Products {
 public:
  static std::shared_ptr<Products> of(Gpu& gpu, DType dtype, bool ta, bool tb, bool adjoint,
                                      After after = After::kNothing);
  Products(Gpu& gpu, DType dtype, bool ta, bool tb, bool ca, bool cb, After after)
      : gpu_(gpu), dtype_(dtype), ta_(ta), tb_(tb), ca_(ca), cb_(cb), after_(after) {}
  // `tune`: candidates are tried, which takes some milliseconds; not while a recording is made.
  const Product& get(const Problem& p, bool tune = false) {
    const std::lock_guard lock(mutex_);
    auto& slot = products_[p];
    if (!slot) slot = make(p, tune);
    return *slot;
  }

 private:
  std::unique_ptr<Product> make(const Problem& p, bool tune) const;

  Gpu& gpu_;
  const DType dtype_;
  const bool ta_, tb_, ca_, cb_;
  const After after_;
  std::mutex mutex_;
  std::map<Problem, std::unique_ptr<Product>> products_;
};

// [batch, m, k] times [batch, k, n], rows first, without gaps; each stored the other way round if so
// said. No dimension is 0.
void batch_product(Gpu& gpu, DType dtype, void* out, const void* a, const void* b, int64_t batch,
                   int64_t m, int64_t n, int64_t k, bool transpose_a = false,
                   bool transpose_b = false);
// Chooses how, for shapes known when a plan is made.
void prepare_product(Gpu& gpu, DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k,
                     bool transpose_a = false, bool transpose_b = false);

}  // namespace emplace::cuda
