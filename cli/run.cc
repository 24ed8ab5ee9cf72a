#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <iostream>
#include <map>

#include <emplace/what_if.h>

#include "common.h"
#include "progress.h"

namespace emplace::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct RunArguments {
  std::string graph, out, config, trace, timeline, signature;
  std::vector<std::string> feeds, fetches, targets, tags;
  bool log_placement = false, soft = false;
  int steps = 1, virtual_gpus = -1;
};

// Time of one node over all steps.
struct Heat {
  std::string node, op, device;
  double ns = 0;
  int64_t calls = 0;
};

// The names that a signature gives to tensors, if one is asked for; other names mean themselves.
class Names {
 public:
  Names(const Model& model, const std::string& signature) {
    if (signature.empty()) return;
    std::string known;
    for (const Model::Signature& s : model.signatures) {
      if (s.name == signature) signature_ = &s;
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", s.name);
    }
    if (!signature_)
      throw not_found(fmt::format("The model has no signature '{}'; it has: {}", signature,
                                  known.empty() ? "none" : known));
  }
  std::string fed(const std::string& name) const {
    return signature_ ? tensor(signature_->inputs, name) : name;
  }
  std::string fetched(const std::string& name) const {
    return signature_ ? tensor(signature_->outputs, name) : name;
  }
  std::vector<std::string> outputs() const {
    std::vector<std::string> keys;
    if (signature_)
      for (const Model::Argument& a : signature_->outputs) keys.push_back(a.key);
    return keys;
  }

 private:
  static std::string tensor(const std::vector<Model::Argument>& list, const std::string& name) {
    for (const Model::Argument& a : list)
      if (a.key == name) return a.tensor;
    return name;
  }
  const Model::Signature* signature_ = nullptr;
};

Output tensor_of(Graph& graph, const std::string& name) {
  if (name.find(':') != std::string::npos) return graph.tensor(name);
  if (graph.find(name) == nullptr)
    throw not_found(fmt::format("The graph has no operation '{}'", name));
  return graph.tensor(name + ":0");
}

Node* operation_of(Graph& graph, std::string name) {
  name = name.substr(0, name.find(':'));
  Node* node = graph.find(name);
  if (node == nullptr) throw not_found(fmt::format("The graph has no operation '{}'", name));
  return node;
}

// As a session in Python does: numbers are made the dtype that is expected.
Tensor converted(const Tensor& value, DType wanted) {
  const auto number = [](DType t) { return is_plain(t) && t != DType::kInvalid; };
  if (value.dtype() == wanted || !number(value.dtype()) || !number(wanted)) return value;
  SessionOptions options;
  options.virtual_gpus = 0;
  Eager eager(options);
  return eager.execute("Cast", std::span(&value, 1), {{"DstT", wanted}}, "/cpu:0")[0];
}

Feeds feeds_of(Graph& graph, const Names& names, const std::vector<std::string>& arguments) {
  Feeds feeds;
  for (const std::string& text : arguments) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      throw Usage(fmt::format("--feed {}: expected TENSOR=FILE.npy", text));
    const Output output = tensor_of(graph, names.fed(text.substr(0, at)));
    for (const auto& [other, value] : feeds)
      if (other == output) throw Usage(fmt::format("--feed {}: fed twice", text.substr(0, at)));
    feeds.emplace_back(output, converted(load_npy(text.substr(at + 1)), output.dtype()));
  }
  return feeds;
}

std::vector<Heat> hottest(std::map<std::string, Heat>& by_node, size_t limit) {
  std::vector<Heat> list;
  for (auto& [key, heat] : by_node) list.push_back(std::move(heat));
  std::ranges::sort(list, [](const Heat& a, const Heat& b) { return a.ns > b.ns; });
  if (list.size() > limit) list.resize(limit);
  return list;
}

struct Outcome {
  std::vector<Tensor> values;
  std::vector<Heat> hot;
  double all_ns = 0;  // of all nodes
  double seconds = 0;
};

// The step as it was expected above the step as it was.
void draw_timelines(Session& session, const Feeds& feeds, std::span<const Output> fetches,
                    const RunMetadata& measured, const RunArguments& a) {
  std::vector<Output> fed;
  for (const auto& [output, value] : feeds) fed.push_back(output);
  const Timeline steps[] = {{"predicted", forecast(session, fetches, fed).timeline},
                            {"measured", measured}};
  write_text(a.timeline, timeline_svg(steps));
}

Outcome run_steps(Session& session, const Feeds& feeds, std::span<const Output> fetches,
                  const RunArguments& a, Progress& progress) {
  RunOptions options;
  options.trace = !a.trace.empty() || !a.timeline.empty() || a.steps > 1;
  Outcome out;
  std::map<std::string, Heat> heat;
  const auto start = Clock::now();
  for (int i = 0; i < a.steps; ++i) {
    RunMetadata metadata;
    out.values = session.run(feeds, fetches, {}, options, &metadata);
    for (const NodeStats& n : metadata.nodes) {
      Heat& h = heat[n.node + '\n' + n.device];
      h.node = n.node, h.op = n.op, h.device = n.device;
      h.ns += static_cast<double>(n.end_ns - n.start_ns);
      out.all_ns += static_cast<double>(n.end_ns - n.start_ns);
      ++h.calls;
    }
    if (i + 1 == a.steps && !a.trace.empty()) write_text(a.trace, chrome_trace(metadata));
    if (i + 1 == a.steps && !a.timeline.empty()) draw_timelines(session, feeds, fetches, metadata, a);
    progress.next();
  }
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  out.hot = hottest(heat, 15);
  return out;
}

void print_hottest(const Outcome& outcome, int steps) {
  std::cout << fmt::format("{} steps in {:.3f} s: {} each\n", steps, outcome.seconds,
                           time_text(outcome.seconds * 1e9 / steps));
  std::vector<std::vector<std::string>> rows{{"share", "per step", "op", "node", "device"}};
  for (const Heat& h : outcome.hot)
    rows.push_back({fmt::format("{:.1f} %", outcome.all_ns > 0 ? 100 * h.ns / outcome.all_ns : 0),
                    time_text(h.ns / steps), h.op, h.node, h.device});
  print_table(rows);
}

Json outcome_json(const Outcome& outcome, const RunArguments& a) {
  Json out{{"fetches", Json::object()}, {"steps", a.steps}, {"seconds", outcome.seconds}};
  for (size_t i = 0; i < a.fetches.size(); ++i)
    out["fetches"][a.fetches[i]] = {{"dtype", dtype_name(outcome.values[i].dtype())},
                                    {"shape", outcome.values[i].shape().dims()},
                                    {"text", outcome.values[i].summary(1000)}};
  if (!a.out.empty()) out["out"] = a.out;
  if (!a.trace.empty()) out["trace"] = a.trace;
  if (a.steps > 1) {
    out["hottest"] = Json::array();
    for (const Heat& h : outcome.hot)
      out["hottest"].push_back({{"node", h.node}, {"op", h.op}, {"device", h.device},
                                {"ns_per_step", h.ns / a.steps}, {"calls", h.calls}});
  }
  return out;
}

void write_out(const Outcome& outcome, const RunArguments& a) {
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (size_t i = 0; i < a.fetches.size(); ++i)
    arrays.emplace_back(a.fetches[i], outcome.values[i]);
  save_npz(a.out, arrays);
}

void check(const RunArguments& a) {
  const bool fetches = !a.fetches.empty() || !a.signature.empty();
  if (!fetches && a.targets.empty()) throw Usage("nothing to run: give --fetch or --target");
  if (!fetches && (!a.out.empty() || !a.trace.empty() || !a.timeline.empty() || a.steps > 1))
    throw Usage("--out, --trace, --timeline and --steps are about the fetches: give --fetch");
}

SessionOptions options_of(const RunArguments& a, const Context& context) {
  SessionOptions options = options_from(a.config);
  if (a.virtual_gpus >= 0) options.virtual_gpus = a.virtual_gpus;
  options.log_device_placement |= a.log_placement;
  options.allow_soft_placement |= a.soft;
  if (context.json) options.log = [](const std::string& text) { std::cerr << text; };
  return options;
}

void run(RunArguments a, Context& context) {
  check(a);
  const SessionOptions options = options_of(a, context);
  const Model model = load_model(a.graph, a.tags);
  Graph& graph = *model.graph;
  const Names names(model, a.signature);
  if (a.fetches.empty() && a.targets.empty()) a.fetches = names.outputs();
  const Feeds feeds = feeds_of(graph, names, a.feeds);
  std::vector<Output> fetches;
  for (const std::string& name : a.fetches)
    fetches.push_back(tensor_of(graph, names.fetched(name)));
  std::vector<Node*> targets;
  for (const std::string& name : a.targets) targets.push_back(operation_of(graph, name));

  Session session(model.graph, options);
  model.initialize(session);
  Outcome outcome;
  {
    Progress progress(static_cast<int>(targets.size()) + (fetches.empty() ? 0 : a.steps));
    for (Node* target : targets) session.run(target, feeds), progress.next();
    if (!fetches.empty()) outcome = run_steps(session, feeds, fetches, a, progress);
  }
  if (!a.out.empty()) write_out(outcome, a);
  if (context.json) return print(outcome_json(outcome, a));
  if (a.out.empty())
    for (size_t i = 0; i < fetches.size(); ++i)
      std::cout << a.fetches[i] << " =\n" << outcome.values[i].str() << '\n';
  if (a.steps > 1) print_hottest(outcome, a.steps);
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* sub = subcommand(app, context, "run", "Runs a graph: feeds in, fetches out");
  auto a = std::make_shared<RunArguments>();
  sub->add_option("graph", a->graph,
                  "GraphDef (.pb, .pbtxt), MetaGraphDef (.meta) or SavedModel, whose variables are "
                  "restored first")
      ->required()
      ->type_name("GRAPH");
  const auto repeated = [&](const char* name, std::vector<std::string>& to, const char* what,
                            const char* type) {
    sub->add_option(name, to, std::string(what) + "; may be repeated")
        ->type_name(type)
        ->allow_extra_args(false);
  };
  repeated("--feed", a->feeds, "A tensor and the file with its value", "TENSOR=FILE.npy");
  repeated("--fetch", a->fetches, "A tensor to compute (x:0; x means x:0)", "TENSOR");
  repeated("--target", a->targets,
           "An operation to run before the fetches, as a step of its own, in the order given", "NODE");
  repeated("--tag", a->tags, "Tag of the graph in a SavedModel", "TAG");
  sub->add_option("--signature", a->signature,
                  "Names in --feed and --fetch are those of this signature of a SavedModel (`emplace "
                  "show` lists them); without --fetch: all its outputs")
      ->type_name("NAME");
  sub->add_option("--out", a->out,
                  "Where the fetches go, under the names given, texts as S arrays; without it they "
                  "are printed")
      ->type_name("FILE.npz");
  sub->add_option("--config", a->config, "ConfigProto in text form")->type_name("FILE.pbtxt");
  sub->add_flag("--log-placement", a->log_placement, "Say for each node on which device it runs");
  sub->add_flag("--soft", a->soft, "Where a pin can't be met, take the next best device");
  sub->add_option("--virtual-gpus", a->virtual_gpus,
                  "GPUs in host memory (otherwise as EMPLACE_VIRTUAL_GPUS says)")
      ->type_name("N");
  sub->add_option("--steps", a->steps,
                  "Run the fetches so often, then show the hottest operations")
      ->type_name("N")
      ->check([](const std::string& text) {
        int n = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        return error == std::errc() && end == text.data() + text.size() && n > 0
                   ? ""
                   : fmt::format("'{}' is no positive whole number", text);
      });
  sub->add_option("--timeline", a->timeline,
                  "Draw the last step, below what was predicted of it")
      ->type_name("FILE.svg");
  sub->add_option("--trace", a->trace,
                  "Write the last step for chrome://tracing or Perfetto")
      ->type_name("FILE.json");
  sub->footer(
      "Examples: emplace run model.pb --target init --feed x:0=x.npy --fetch y:0 --out y.npz\n"
      "          emplace run saved_model --signature serving_default --feed x=x.npy --out y.npz\n"
      "Feeds hold for every step, targets too. What goes wrong is said on stderr, and the exit\n"
      "status is 1 (2 when the command line is at fault).");
  sub->callback([a, &context] { run(*a, context); });
}

}  // namespace emplace::cli
