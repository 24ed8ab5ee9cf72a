// Input pipelines in graphs that TensorFlow wrote give here what they give there.
#include <gtest/gtest.h>

#include <fstream>

#include "base/source_dir_testutil.h"
#include "emplace/session.h"

namespace emplace {
namespace {

struct Pipeline {
  std::string name, begin, graph;
  std::vector<std::string> fetches, elements;
};

std::vector<Pipeline> pipelines() {
  std::ifstream file(source_dir() + "/tests/golden/pipelines.txt");
  std::vector<Pipeline> all;
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space), rest = line.substr(space + 1);
    if (key == "pipeline") all.push_back({rest, {}, {}, {}, {}});
    else if (key == "begin") all.back().begin = rest;
    else if (key == "fetch") all.back().fetches.push_back(rest);
    else if (key == "element") all.back().elements.push_back(rest);
    else if (key == "graph")
      for (int n = std::stoi(rest); n > 0 && std::getline(file, line); --n)
        all.back().graph += line + "\n";
  }
  return all;
}

std::string text_of(const std::vector<Tensor>& element) {
  std::string text;
  for (size_t i = 0; i < element.size(); ++i) {
    const Tensor& t = element[i];
    const bool one = t.dtype() == DType::kString && t.rank() == 0;
    for (const char c : one ? t.item<std::string>() : t.str()) {
      if (c == '\n') text += "\\n";
      else text += c;
    }
    if (i + 1 < element.size()) text += '\t';
  }
  return text;
}

class GoldenPipelines : public ::testing::TestWithParam<Pipeline> {};

TEST_P(GoldenPipelines, GiveTheSameElements) {
  const Pipeline& p = GetParam();
  Graph graph;
  import_graph_def_text(graph, p.graph);
  Session session(graph);
  std::vector<Output> fetches;
  for (const std::string& f : p.fetches) fetches.push_back(graph.tensor(f));
  // Each time from the start, on one iterator.
  session.run(graph.find(p.begin));
  std::vector<std::string> elements;
  try {
    while (elements.size() <= p.elements.size())
      elements.push_back(text_of(session.run({}, fetches)));
    elements.pop_back();  // it has no end
  } catch (const Error& e) {
    ASSERT_EQ(e.code(), Code::kOutOfRange) << e.what();
  }
  EXPECT_EQ(elements, p.elements);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenPipelines, ::testing::ValuesIn(pipelines()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace emplace
