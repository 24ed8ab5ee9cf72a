// What of the machine matters to how well programs run here.
#include <dlfcn.h>
#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <spdlog/version.h>
#include <sys/resource.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#ifdef EMPLACE_WITH_DNNL
#include <oneapi/dnnl/dnnl.h>
#endif

#include "all/cuda.h"
#include "base/cpu_info.h"
#include "base/cpu_isa.h"
#include "emplace/session.h"

namespace emplace {
namespace {

constexpr double kGiB = double{1 << 30};

// Variables of our own that take a number, others of our own, and others' that matter here.
constexpr std::string_view kNumbers[] = {"EMPLACE_NUM_THREADS", "EMPLACE_HOST_TENSOR_MB",
                                         "EMPLACE_HOST_CACHE_MB"};
constexpr std::string_view kOurs[] = {
    "EMPLACE_VIRTUAL_GPUS", "EMPLACE_SPLIT_GPUS", "EMPLACE_LOG_LEVEL", "EMPLACE_FUSION",
    "EMPLACE_EARLY_START", "EMPLACE_CUDA_LIBRARY", "EMPLACE_DETERMINISM", "EMPLACE_TF32",
    "EMPLACE_FULL_TRACEBACKS", "EMPLACE_VENV", "EMPLACE_JOBS", "EMPLACE_MAX_CPU_ISA"};
constexpr std::string_view kTheirs[] = {"OMP_NUM_THREADS", "TF_NUM_INTEROP_THREADS",
                                        "TF_NUM_INTRAOP_THREADS", "CUDA_VISIBLE_DEVICES"};

template <size_t n>
bool among(std::string_view name, const std::string_view (&list)[n]) {
  return std::ranges::find(list, name) != std::end(list);
}

Finding variable(std::string_view name, std::string_view value) {
  Finding f{"environment", fmt::format("{}={}", name, value), false, {}};
  const bool digits = std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  if (among(name, kNumbers) && !(digits && !value.empty())) {
    f.problem = true;
    f.advice = "Set it to a whole number, or unset it: as it is, it means nothing.";
  } else if (name == "EMPLACE_MAX_CPU_ISA" && !parse_cpu_isa(value)) {
    f.problem = true;
    f.advice = "Set it to SSE4, AVX2 or AVX512, or unset it: as it is, it means nothing.";
  } else if (!among(name, kNumbers) && !among(name, kOurs) && !among(name, kTheirs) &&
             !name.starts_with("EMPLACE_TEST")) {
    f.problem = true;
    f.advice = "Nothing here reads a variable of this name: correct it, or unset it.";
  }
  return f;
}

// Whether a program could start: what is wrong with devices that are asked for shows here.
void start(std::vector<Finding>& out) {
  try {
    Graph graph;
    Session(graph).list_devices();
  } catch (const Error& e) {
    out.push_back({"devices", e.message(), true, "Correct or unset it: no program can start so."});
  }
}

void environment(std::vector<Finding>& out) {
  out.push_back({"version", fmt::format("Emplace {}", version()), false, {}});
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("EMPLACE_") || among(name, kTheirs))
      out.push_back(variable(name, text.substr(std::min(text.size(), name.size() + 1))));
  }
}

void libraries(std::vector<Finding>& out) {
  const int p = GOOGLE_PROTOBUF_VERSION;
  out.push_back({"library", fmt::format("protobuf {}.{}.{}", p / 1000000, p / 1000 % 1000, p % 1000),
                 false, {}});
  out.push_back({"library", fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                                        EIGEN_MINOR_VERSION), false, {}});
  out.push_back({"library", fmt::format("fmt {}.{}.{}, spdlog {}.{}.{}", FMT_VERSION / 10000,
                                        FMT_VERSION / 100 % 100, FMT_VERSION % 100, SPDLOG_VER_MAJOR,
                                        SPDLOG_VER_MINOR, SPDLOG_VER_PATCH), false, {}});
#ifdef EMPLACE_WITH_DNNL
  const dnnl_version_t* v = dnnl_version();
  out.push_back({"library", fmt::format("oneDNN {}.{}.{}", v->major, v->minor, v->patch), false, {}});
#else
  out.push_back({"library", "without oneDNN", true,
                 "Install libdnnl-dev and build again: products and convolutions are slow without."});
#endif
}

void cpu(std::vector<Finding>& out) {
  const auto quota = cgroup_cpu_quota();
  out.push_back({"cpu", fmt::format("cores {}; {}; {} threads by default",
                                    format_core_list(usable_cores()),
                                    quota ? fmt::format("control group grants {:.2f}", *quota)
                                          : std::string("no limit by control groups"),
                                    default_num_threads()), false, {}});
  const auto nodes = numa_nodes();
  out.push_back({"cpu", fmt::format("{} NUMA node{}", nodes.size(), nodes.size() == 1 ? "" : "s"),
                 false, {}});
#if defined(__x86_64__)
  std::string features;
  const auto add = [&](bool has, const char* name) {
    if (has) features += (features.empty() ? "" : " ") + std::string(name);
  };
  add(__builtin_cpu_supports("sse4.2"), "SSE4.2");
  add(__builtin_cpu_supports("avx"), "AVX");
  add(__builtin_cpu_supports("avx2"), "AVX2");
  add(__builtin_cpu_supports("fma"), "FMA");
  add(__builtin_cpu_supports("avx512f"), "AVX512F");
  add(__builtin_cpu_supports("avx512vnni"), "AVX512_VNNI");
  add(__builtin_cpu_supports("avx512bf16"), "AVX512_BF16");
  const bool wide = __builtin_cpu_supports("avx2");
  out.push_back({"cpu", "features: " + features, !wide,
                 wide ? "" : "A CPU with AVX2 runs arithmetic several times faster."});
#endif
}

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

void limits(std::vector<Finding>& out) {
  const double total = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const double free = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
                      static_cast<double>(sysconf(_SC_PAGE_SIZE));
  out.push_back({"memory", fmt::format("{:.1f} GiB, {:.1f} GiB free", total / kGiB, free / kGiB),
                 false, {}});
  const std::string grant = first_line("/sys/fs/cgroup/memory.max");
  if (!grant.empty() && grant != "max") {
    const double bytes = std::strtod(grant.c_str(), nullptr);
    out.push_back({"memory", fmt::format("control group grants {:.1f} GiB", bytes / kGiB),
                   bytes < kGiB, bytes < kGiB ? "Give the container at least 1 GiB." : ""});
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const bool few = files.rlim_cur < 1024;
  out.push_back({"limits", fmt::format("{} open files", files.rlim_cur), few,
                 few ? "Raise it (ulimit -n 4096): servers and checkpoints need many." : ""});
  rlimit space{};
  getrlimit(RLIMIT_AS, &space);
  if (space.rlim_cur != RLIM_INFINITY)
    out.push_back({"limits", fmt::format("{:.1f} GiB of address space",
                                         static_cast<double>(space.rlim_cur) / kGiB), true,
                   "Lift it (ulimit -v unlimited): memory is reserved in large pieces."});
}

// Where the engine's own shared object lies.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&version), &info) == 0 || !info.dli_fname) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

void gpus(std::vector<Finding>& out) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool card = fs::exists("/dev/nvidiactl", ignored) || fs::exists("/dev/dxg", ignored);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!driver) {
    out.push_back({"gpu", card ? "a card is there, but its driver library libcuda.so.1 is not"
                               : "no NVIDIA driver (libcuda.so.1) on this machine", card,
                   card ? "Install the driver, or start the container with the NVIDIA runtime."
                        : ""});
    return;
  }
  auto* init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto* count_of = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  auto* driver_version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int count = 0, v = 0;
  const int status = init ? init(0) : -1;
  if (driver_version) driver_version(&v);
  if (status != 0 || !count_of || count_of(&count) != 0) {
    out.push_back({"gpu", fmt::format("the driver can't be started (cuInit: {})", status), true,
                   status == 100 ? "No card is visible: look at CUDA_VISIBLE_DEVICES and nvidia-smi."
                                 : "Driver and card disagree: nvidia-smi says more."});
  } else {
    const fs::path module = own_folder() / "libemplace_cuda.so";
    const bool built = fs::exists(module, ignored);
    out.push_back({"gpu", fmt::format("{} card{}, driver for CUDA {}.{}", count,
                                      count == 1 ? "" : "s", v / 1000, v % 1000 / 10), false, {}});
    if (!built)
      out.push_back({"gpu", "this build has no CUDA backend: cards are not used", count > 0,
                     "Build with nvcc in place (EMPLACE_WITH_CUDA=ON)."});
    else if (const std::string& problem = cuda_state().problem; !problem.empty())
      out.push_back({"gpu", "cards can't be used: " + problem, true,
                     "libemplace_cuda.so needs the CUDA runtime, cuBLASLt, NVRTC and cuDNN 9 of its "
                     "version where the loader finds them, and a driver no older."});
  }
  dlclose(driver);
}

}  // namespace

std::vector<Finding> examine_machine() {
  std::vector<Finding> out;
  environment(out);
  libraries(out);
  cpu(out);
  limits(out);
  gpus(out);
  start(out);
  return out;
}

}  // namespace emplace
