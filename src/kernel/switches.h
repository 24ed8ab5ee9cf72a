#pragma once

namespace emplace {

// What the environment says about numbers; tf.config's switches set it.

// float32 products and convolutions of a GPU may run in TF32, as TensorFlow's do: not with
// EMPLACE_TF32=0 or NVIDIA_TF32_OVERRIDE=0.
bool tf32_allowed();
// EMPLACE_DETERMINISM=1, TF_DETERMINISTIC_OPS=1: the same bits in every run.
bool deterministic();

}  // namespace emplace
