#include "programs_testutil.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/cpu/golden_testutil.h"
#include "base/source_dir_testutil.h"

namespace emplace::testing {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

void read_line(const std::string& line, std::vector<ProgramText>& programs) {
  std::istringstream in(line);
  std::string kind, name, word;
  in >> kind;
  if (kind == "program") return void(in >> programs.emplace_back().name);
  if (kind.empty()) return;
  ProgramText& p = programs.back();
  if (kind == "file") {
    in >> name >> word;
    p.files.emplace_back(name, cpu::golden_text(word));
  } else if (kind == "step") {
    p.steps.emplace_back();
    while (in >> word) p.steps.back().fetches.push_back(word);
  } else if (kind == "feed") {
    in >> name;
    p.steps.back().feeds.emplace_back(name, cpu::golden_tensor(in));
  }
}

std::vector<ProgramText> read_programs() {
  std::ifstream file(source_dir() + "/tests/property/programs.txt");
  std::vector<ProgramText> programs;
  bool in_graph = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "graph" || line == "end") in_graph = line == "graph";
    else if (in_graph) programs.back().graph += line + "\n";
    else read_line(line, programs);
  }
  return programs;
}

// Names of state are the session's: two programs may have chosen the same. Nothing is printed.
void keep_to_itself(Graph& graph, Node* n, const std::string& prefix, const std::string& folder) {
  if (const AttrValue* name = n->attr("shared_name"); name && !name->as<std::string>().empty())
    graph.set_attr(n, "shared_name", prefix + name->as<std::string>());
  if (n->type() == "Print") graph.set_attr(n, "first_n", 0);
  if (n->type() == "PrintV2") graph.set_attr(n, "output_stream", "file://" + folder + "/said");
}

bool gives_state(const Node& n) {
  for (int i = 0; i < n.num_outputs(); ++i)
    if (n.output_is_ref(i) || n.output_type(i) == DType::kResource) return true;
  return false;
}

}  // namespace

const std::vector<ProgramText>& program_texts() {
  static const std::vector<ProgramText> texts = read_programs();
  return texts;
}

Program::Program(Graph& graph, const ProgramText& text, std::string folder,
                 const std::function<std::string()>& device)
    : text_(&text), folder_(std::move(folder)) {
  ImportOptions options;
  options.prefix = graph.unique_name(text.name, false);
  const auto imported =
      import_graph_def_text(graph, replaced(text.graph, "PLACE", folder_), options);
  const std::string prefix = options.prefix + "/";
  const std::string of_state = device();  // one: an operation on several needs them together
  for (Node* n : imported.nodes) {
    graph.set_device(n, gives_state(*n) ? of_state : device());
    keep_to_itself(graph, n, prefix, folder_);
  }
  for (const auto& step : text.steps) add_step(graph, prefix, step);
}

void Program::add_step(const Graph& graph, const std::string& prefix,
                       const ProgramText::Step& step) {
  Step& s = steps_.emplace_back();
  for (const std::string& f : step.fetches) {
    if (f[0] == '^') s.targets.push_back(graph.find(prefix + f.substr(1)));
    else s.fetches.push_back(graph.tensor(prefix + f));
  }
  for (const auto& [name, value] : step.feeds)
    s.feeds.emplace_back(graph.tensor(prefix + name), value);
}

std::vector<std::vector<Tensor>> Program::run(Session& session) const {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  for (const auto& [name, content] : text_->files)
    std::ofstream(folder_ + "/" + name, std::ios::binary) << content;
  std::vector<std::vector<Tensor>> got;
  RunOptions options;
  options.timeout_in_ms = 60'000;
  for (const Step& s : steps_)
    got.push_back(session.run(s.feeds, s.fetches, s.targets, options));
  std::filesystem::remove_all(folder_);
  return got;
}

}  // namespace emplace::testing
