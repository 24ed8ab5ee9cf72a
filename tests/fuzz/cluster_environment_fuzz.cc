// TF_CONFIG, Slurm's lists.
#include "cluster/environment.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return emplace::fuzz::tried(data, size, [](std::string_view text) {
    const std::string value(text);
    const auto found = emplace::cluster::find_task(
        [&](const char* name) -> const char* { return std::string_view(name) == "TF_CONFIG" ? value.c_str() : nullptr; }, 1);
    if (found) (void)found->str();
    (void)emplace::slurm_task_counts(value.substr(0, 40));
    (void)emplace::slurm_host_names(value.substr(0, 200));
  });
}
