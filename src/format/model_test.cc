#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "emplace/emplace.h"
#include "format/model.h"
#include "graph/graph_def.h"

namespace emplace {
namespace {

class ModelFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = (std::filesystem::temp_directory_path() / ("emplace_model_" + std::to_string(getpid())))
                 .string();
    std::filesystem::create_directories(folder);
    const Scope in_graph = graph.as_default();
    constant(Tensor::scalar(2.f), "a") * constant(Tensor::scalar(3.f), "b");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void add_graph(proto::SavedModel& saved, std::initializer_list<const char*> tags) {
    proto::MetaGraphDef* meta = saved.add_meta_graphs();
    for (const char* tag : tags) meta->mutable_meta_info_def()->add_tags(tag);
    to_proto(graph, {}, meta->mutable_graph_def());
    auto& signature = (*meta->mutable_signature_def())["serving_default"];
    (*signature.mutable_outputs())["y"].set_name("mul:0");
  }

  std::string folder;
  Graph graph;
};

TEST_F(ModelFile, ReadsGraphsInBothForms) {
  write_file(folder + "/g.pb", graph_def(graph));
  write_file(folder + "/g.pbtxt", graph_def_text(graph));
  for (const char* name : {"/g.pb", "/g.pbtxt"}) {
    const Model m = load_model(folder + name);
    Session session(m.graph);
    EXPECT_EQ(session.run(m.graph->tensor("mul:0")).item<float>(), 6.f);
  }
}

TEST_F(ModelFile, ChoosesTheGraphOfASavedModelByItsTags) {
  proto::SavedModel saved;
  add_graph(saved, {"train"});
  add_graph(saved, {"serve", "gpu"});
  write_file(folder + "/saved_model.pb", saved.SerializeAsString());
  const std::string tags[] = {"gpu", "serve"};
  const Model m = load_model(folder, tags);
  ASSERT_EQ(m.signatures.size(), 1u);
  EXPECT_EQ(m.signatures[0].outputs[0].tensor, "mul:0");
  try {
    load_model(folder);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
    EXPECT_NE(e.message().find("{ serve, gpu }"), std::string::npos) << e.message();
  }
}

TEST_F(ModelFile, TheOnlyGraphNeedsNoTags) {
  proto::SavedModel saved;
  add_graph(saved, {"whatever"});
  write_file(folder + "/saved_model.pb", saved.SerializeAsString());
  EXPECT_EQ(load_model(folder).tags.front(), "whatever");
  EXPECT_EQ(load_model(folder + "/saved_model.pb").tags.front(), "whatever");
}

TEST_F(ModelFile, WhatCannotBeReadIsNamed) {
  write_file(folder + "/bad.pb", "\xff\xff\xff not a graph");
  write_file(folder + "/bad.pbtxt", "node { name: 'a' op: }");
  for (const char* name : {"/bad.pb", "/bad.pbtxt", "/none.pb"}) {
    try {
      load_model(folder + name);
      FAIL() << name;
    } catch (const Error& e) {
      EXPECT_NE(e.message().find(folder + name), std::string::npos) << e.message();
    }
  }
}

TEST_F(ModelFile, TextThatNestsTooDeepIsRefused) {
  std::string text = "node { attr { value { ";
  for (int i = 0; i < 100'000; ++i) text += "func { attr { value { ";
  write_file(folder + "/deep.pbtxt", text);
  try {
    load_model(folder + "/deep.pbtxt");
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("too deep"), std::string::npos) << e.message();
  }
}

TEST_F(ModelFile, RestoresVariablesAndRunsTheInitializer) {
  Graph g;
  {
    const Scope in_graph = g.as_default();
    const Output name = placeholder(DType::kString, Shape{}, "filename");
    const Output names = constant(Tensor::of<std::string>({"v"}, {1}), "names");
    const Output slices = constant(Tensor::of<std::string>({""}, {1}), "slices");
    const Output v = op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", Shape{}},
                                            {"shared_name", "v"}}, "v");
    const Output value = op("RestoreV2", {name, names, slices},
                            {{"dtypes", std::vector<DType>{DType::kFloat}}}, "restore");
    op("AssignVariableOp", {v, value}, {}, "assign");
    op("ReadVariableOp", {v}, {{"dtype", DType::kFloat}}, "read");
  }
  proto::SavedModel saved;
  proto::MetaGraphDef* meta = saved.add_meta_graphs();
  meta->mutable_meta_info_def()->add_tags("serve");
  to_proto(g, {}, meta->mutable_graph_def());
  meta->mutable_saver_def()->set_filename_tensor_name("filename:0");
  meta->mutable_saver_def()->set_restore_op_name("assign");
  write_file(folder + "/saved_model.pb", saved.SerializeAsString());
  const std::pair<std::string, Tensor> values[] = {{"v", Tensor::scalar(42.f)}};
  write_checkpoint(folder + "/variables/variables", values);
  const Model m = load_model(folder);
  Session session(m.graph);
  m.initialize(session);
  EXPECT_EQ(session.run(m.graph->tensor("read:0")).item<float>(), 42.f);
}

}  // namespace
}  // namespace emplace
