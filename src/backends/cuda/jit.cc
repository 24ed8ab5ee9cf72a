#include "backends/cuda/jit.h"

#include <fmt/format.h>
#include <nvrtc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "backends/cuda/api.h"
#include "emplace/error.h"

namespace emplace::cuda {
namespace {

namespace fs = std::filesystem;

// 128 bits of FNV-1a in two lanes: a name for a file, not a defence.
std::string digest(std::string_view text) {
  uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const unsigned char c : text) {
    a = (a ^ c) * 0x100000001b3u;
    b = (b ^ (c + 0x9eu)) * 0x100000001b3u;
    b ^= b >> 29;
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

fs::path cache_folder() {
  if (const char* dir = std::getenv("XDG_CACHE_HOME"); dir && *dir) return fs::path(dir) / "emplace";
  if (const char* home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "emplace";
  return {};
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Whole or not at all; a cache that can't be written is no error.
void write_file(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const fs::path part = path.string() + fmt::format(".{}", getpid());
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  std::error_code failed;
  if (out) fs::rename(part, path, failed);
  if (!out || failed) fs::remove(part, ignored);
}

std::string_view source_of(std::string_view file) {
  static const auto* const sources = new std::vector<DeviceSource>(device_sources());
  for (const DeviceSource& s : *sources)
    if (s.name == file) return s.text;
  throw internal_error(fmt::format("no CUDA source '{}'", file));
}

void check_nvrtc(nvrtcResult result, std::string_view what) {
  if (result != NVRTC_SUCCESS)
    throw internal_error(fmt::format("NVRTC: {}: {}", what, nvrtcGetErrorString(result)));
}

struct Compiled {
  std::string name, code;  // mangled name, cubin
};

Compiled compile(const std::string& source, const std::string& instance, int arch, bool fused) {
  nvrtcProgram program;
  check_nvrtc(nvrtcCreateProgram(&program, source.c_str(), "emplace.cu", 0, nullptr, nullptr),
              "making a program");
  struct Guard {
    nvrtcProgram* p;
    ~Guard() { nvrtcDestroyProgram(p); }
  } guard{&program};
  check_nvrtc(nvrtcAddNameExpression(program, instance.c_str()), instance);
  const std::string arch_flag = fmt::format("--gpu-architecture=sm_{}", arch);
  // What is fused gives the bits that single kernels give: no joining of one op's * with another's +.
  const char* flags[] = {arch_flag.c_str(), "--std=c++17", "-w", fused ? "--fmad=false" : "-w"};
  if (nvrtcCompileProgram(program, 4, flags) != NVRTC_SUCCESS) {
    size_t n = 0;
    nvrtcGetProgramLogSize(program, &n);
    std::string log(n, '\0');
    nvrtcGetProgramLog(program, log.data());
    throw internal_error(fmt::format("NVRTC does not take {}:\n{}", instance, log));
  }
  const char* name = nullptr;
  check_nvrtc(nvrtcGetLoweredName(program, instance.c_str(), &name), instance);
  size_t n = 0;
  check_nvrtc(nvrtcGetCUBINSize(program, &n), instance);
  Compiled c{name, std::string(n, '\0')};
  check_nvrtc(nvrtcGetCUBIN(program, c.code.data()), instance);
  return c;
}

int architecture(int card) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card), "asking the card");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, card), "asking the card");
  return 10 * major + minor;
}

// From disk, else compiled and put there: "name\ncode".
Compiled find_or_compile(std::string_view file, const std::string& instance, std::string_view more,
                         int arch) {
  const std::string source =
      fmt::format("{}\n{}\n{}", source_of("prelude"), source_of(file), more);
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  const std::string key =
      digest(fmt::format("{}\n{}\nsm_{} nvrtc {}.{}", source, instance, arch, major, minor));
  const fs::path folder = cache_folder();
  const fs::path path = folder / (key + ".cubin");
  if (!folder.empty())
    if (const auto text = read_file(path)) {
      const size_t end = text->find('\n');
      if (end != std::string::npos) return {text->substr(0, end), text->substr(end + 1)};
    }
  Compiled c = compile(source, instance, arch, !more.empty());
  if (!folder.empty()) write_file(path, c.name + "\n" + c.code);
  return c;
}

}  // namespace

Jit::~Jit() {
  for (CUmodule m : modules_) cuModuleUnload(m);
}

CUfunction Jit::get(std::string_view file, const std::string& instance, std::string_view more) {
  const std::string key = fmt::format("{}:{}:{}", file, instance, more);
  const std::lock_guard lock(mutex_);
  if (const auto it = functions_.find(key); it != functions_.end()) return it->second;
  use_card(card_);
  check(cudaFree(nullptr), "starting CUDA");  // makes the context
  const Compiled c = find_or_compile(file, instance, more, architecture(card_));
  return functions_[key] = load(c.code, c.name);
}

CUfunction Jit::load(const std::string& code, const std::string& name) {
  CUmodule module;
  check(cuModuleLoadData(&module, code.data()), "loading a kernel");
  modules_.push_back(module);
  CUfunction f;
  check(cuModuleGetFunction(&f, module, name.c_str()), "loading a kernel");
  return f;
}

}  // namespace emplace::cuda
