#include <fmt/format.h>

#include <iostream>

#include "common.h"

namespace emplace::cli {
namespace {

void doctor(Context& context) {
  const std::vector<Finding> findings = examine_machine();
  int problems = 0;
  for (const Finding& f : findings) problems += f.problem;
  if (context.json) {
    Json out{{"problems", problems}, {"findings", Json::array()}};
    for (const Finding& f : findings)
      out["findings"].push_back({{"topic", f.topic}, {"text", f.text}, {"problem", f.problem},
                                 {"advice", f.advice}});
    print(out);
  } else {
    for (const Finding& f : findings) {
      std::cout << fmt::format("{} {:<12} {}\n", f.problem ? "!" : " ", f.topic, f.text);
      if (f.problem && !f.advice.empty()) std::cout << fmt::format("  {:<12} -> {}\n", "", f.advice);
    }
    std::cout << (problems == 0 ? std::string("Nothing to complain about.")
                                : fmt::format("{} problem{}, marked !", problems,
                                              problems == 1 ? "" : "s"))
              << '\n';
  }
  context.status = problems == 0 ? kOk : kFailed;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* sub = subcommand(app, context, "doctor",
                             "Environment, libraries, CPU features, GPU, limits, and what to do "
                             "about each problem");
  sub->footer("Exit status: 0 when there is no problem, 1 when there is one.");
  sub->callback([&context] { doctor(context); });
}

}  // namespace emplace::cli
