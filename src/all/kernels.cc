#include <algorithm>

#include "all/cuda.h"
#include "backends/cpu/codecs.h"
#include "backends/cpu/cpu_kernels.h"
#include "data/kernels.h"
#include "emplace/eager.h"
#include "exec/rendezvous.h"
#include "format/checkpoint_kernels.h"
#include "format/media_summaries.h"
#include "format/parse_kernels.h"
#include "format/reader_kernels.h"
#include "format/sparse_kernels.h"
#include "format/summary_kernels.h"
#include "format/text_table_kernels.h"
#include "kernel/gpu_table.h"
#include "service/kernels.h"
#include "session/runtime.h"

namespace emplace {
namespace {

std::string png(const uint8_t* pixels, int64_t height, int64_t width, int64_t channels) {
  return cpu::encode_png(pixels, {height, width, channels}, false, -1);
}

void register_host_kernels(KernelRegistry& r) {
  register_cpu_kernels(r);
  register_cpu_fusion(r);
  register_file_kernels(r);
  register_summary_kernels(r);
  register_media_summary_kernels(r, {cpu::has_png() ? &png : nullptr, &cpu::encode_wav});
  register_text_table_kernels(r);
  register_parse_kernels(r);
  register_reader_kernels(r);
  register_sparse_message_kernels(r);
  register_rendezvous_kernels(r);
  data::register_data_kernels(r);
  service::register_service_kernels(r);
}

// Every argument is in host memory, as of int32 arithmetic: the CPU's code serves.
bool all_on_host(const KernelRow& row) {
  if (row.op == "RngSkip") return false;  // the state that it changes is on the card
  const OpDef* op = op_catalogue().find(row.op);
  if (!op) return false;
  auto on_host = [&](const ArgDef& arg) {
    return std::find(row.host_args.begin(), row.host_args.end(), arg.name) != row.host_args.end();
  };
  return std::all_of(op->inputs.begin(), op->inputs.end(), on_host) &&
         std::all_of(op->outputs.begin(), op->outputs.end(), on_host);
}

// Code that leaves the card's memory to the device (handles and copies of variables), or that the
// plan replaces (constants, calls, branches, loops).
bool serves_a_card(const std::string& op) {
  static constexpr std::string_view kOps[] = {
      "Variable",         "VariableV2",        "VarHandleOp",           "ReadVariableOp",
      "VarIsInitializedOp", "IsVariableInitialized", "AssignVariableOp", "Assign",
      "VariableShape",    "DestroyResourceOp", "NoOp",                  "ControlTrigger",
      "Const",            "Placeholder",       "PlaceholderV2",         "PlaceholderWithDefault",
      "_Arg",             "_Retval",           "PartitionedCall",       "StatefulPartitionedCall",
      "If",               "StatelessIf",       "Case",                  "StatelessCase",
      "While",            "StatelessWhile",    "Switch",                "RefSwitch",
      "Merge",            "RefMerge",          "Enter",                 "RefEnter",
      "Exit",             "RefExit",           "NextIteration",         "RefNextIteration",
      "LoopCond",         "IdentityN",         "ShapeN",                "FakeParam"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

// … and code whose work changes from call to call: it looks at shapes alone, or moves elements in and
// out of lists, arrays, stacks and optionals.
bool serves_each_call(const KernelRow& row) {
  static constexpr std::string_view kFamilies[] = {"TensorList", "EmptyTensorList", "TensorArray",
                                                   "Stack", "Optional",   "GetSession",      "DeleteSession"};
  const std::string_view op = row.op;
  if (op == "Copy" || op == "Shape" || op == "Size" || op == "Rank") return true;
  if (op == "AddN" || op == "ZerosLike" || op == "Conj")
    return row.types.size() == 1 && row.types[0].allowed == std::vector{DType::kVariant};
  return std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view family) { return op.starts_with(family); });
}

// As of a card's own kernels: what a call does depends on shapes and addresses. Random numbers move on
// in their stream; what else has effects has them on variables.
bool replays_on_virtual(const KernelRow& row) {
  const OpDef* op = op_catalogue().find(row.op);
  if (!op || all_on_host(row) || serves_each_call(row) || row.traits.blocks) return false;
  const bool draws = row.op.starts_with("Stateful") || row.op == "RngSkip";
  return !op->stateful || (!op->inputs.empty() && op->inputs[0].type == DType::kResource && !draws);
}

// Virtual GPUs run the CPU's kernels, as far as a real GPU has them.
KernelRegistry* with_virtual_gpus() {
  auto* r = new KernelRegistry;
  register_host_kernels(*r);
  for (KernelRow& row : virtual_gpu_rows(*r)) r->add(std::move(row));
  KernelRegistry only_there;  // older names that TensorFlow runs on GPUs alone
  for (const char* now : {"FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"})
    for (KernelRow row : r->rows(now)) {
      if (row.device_type != "CPU") continue;
      row.op = std::string("Batch") + now;
      row.types.clear();
      only_there.add(std::move(row));
    }
  for (KernelRow& row : virtual_gpu_rows(only_there)) r->add(std::move(row));
  return r;
}

KernelRegistry* with_cards() {
  auto* r = new KernelRegistry;
  register_host_kernels(*r);
  for (KernelRow& row : card_rows(*r, cuda_state().backend->kernels())) r->add(std::move(row));
  return r;
}

}  // namespace

std::vector<KernelRow> virtual_gpu_rows(const KernelRegistry& cpu) {
  std::vector<KernelRow> rows = gpu_rows(cpu, "CPU");
  for (KernelRow& row : rows) row.traits.replays = replays_on_virtual(row);
  return rows;
}

std::vector<KernelRow> card_rows(const KernelRegistry& cpu, std::vector<KernelRow> own) {
  KernelRegistry cards;
  std::vector<KernelRow> rows;
  for (KernelRow& row : own) {
    if (row.op.rfind("_Fused", 0) == 0) {  // joined work, which no graph names
      row.device_type = "GPU";
      rows.push_back(std::move(row));
    } else {
      cards.add(std::move(row));
    }
  }
  for (KernelRow& row : gpu_rows(cards, "CUDA"))
    if (!all_on_host(row)) rows.push_back(std::move(row));
  for (KernelRow& row : gpu_rows(cpu, "CPU"))
    if (all_on_host(row) || row.traits.forwards || serves_a_card(row.op) || serves_each_call(row)) {
      // Only copies, which the device makes.
      row.traits.replays = !all_on_host(row) && !serves_each_call(row);
      rows.push_back(std::move(row));
    }
  return rows;
}

std::string op_kernels(std::string_view op) { return kernel_table({}).list(op); }

std::vector<std::string> op_devices(std::string_view name) {
  std::vector<std::string> types;
  for (const KernelRow& row : kernel_table({}).rows(name))
    if (std::find(types.begin(), types.end(), row.device_type) == types.end())
      types.push_back(row.device_type);
  return types;
}

const KernelRegistry& kernel_table(const SessionOptions& options) {
  static const KernelRegistry* const plain = with_virtual_gpus();
  if (!uses_cards(options)) return *plain;
  static const KernelRegistry* const cards = with_cards();
  return *cards;
}

}  // namespace emplace
