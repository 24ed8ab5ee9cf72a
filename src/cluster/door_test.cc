#include "cluster/door.h"

#include <gtest/gtest.h>

#include <thread>

#include "cluster/file_rules.h"
#include "cluster/methods.h"
#include "op/op_def.h"

namespace emplace::cluster {
namespace {

class FakeCall final : public IncomingCall {
 public:
  FakeCall(std::string_view method, Caller caller, size_t size = 0)
      : method_(method), caller_(std::move(caller)), request_(std::string(size, 'x')) {}
  const std::string& method() const override { return method_; }
  Bytes& request() override { return request_; }
  const Caller& caller() const override { return caller_; }
  void answer(Answer a) override { answers.push_back(std::move(a)); }
  void on_cancel(std::function<void()> f) override { cancel = std::move(f); }
  std::vector<Answer> answers;
  std::function<void()> cancel;

 private:
  const std::string method_;
  const Caller caller_;
  Bytes request_;
};

class Inside final : public Service {
 public:
  void call(std::shared_ptr<IncomingCall> call) override {
    if (keep) kept.push_back(call);
    else call->answer({});
  }
  bool keep = false;
  std::vector<std::shared_ptr<IncomingCall>> kept;
};

// The code of what a caller is told; kOk when it was let in.
Code told(Door& door, std::string_view method, Caller::Kind kind, size_t size = 0) {
  const auto call = std::make_shared<FakeCall>(method, Caller{kind, "name"}, size);
  door.call(call);
  if (call->answers.size() != 1) return Code::kInternal;
  return call->answers[0].error ? call->answers[0].error->code() : Code::kOk;
}

TEST(Door, StrangersAreRefusedAtEveryMethod) {
  Inside inside;
  Door door({}, inside), open({.everyone = true}, inside);
  std::vector<std::string_view> methods(std::begin(kMethods), std::end(kMethods));
  methods.push_back("/tensorflow.WorkerService/GetStatus");  // which there is none of
  for (const std::string_view m : methods) {
    EXPECT_EQ(told(door, m, Caller::Kind::kAnyone), Code::kPermissionDenied) << m;
    EXPECT_EQ(told(open, m, Caller::Kind::kAnyone), Code::kOk) << m;
    EXPECT_EQ(told(door, m, Caller::Kind::kSameUser), Code::kOk) << m;
    EXPECT_EQ(told(door, m, Caller::Kind::kTask), Code::kOk) << m;
    const bool of_tasks = m.starts_with(kTaskService);
    EXPECT_EQ(told(door, m, Caller::Kind::kClient), of_tasks ? Code::kPermissionDenied : Code::kOk) << m;
  }
}

TEST(Door, TooMuchIsRefused) {
  Inside inside;
  Door door({.max_message = 100, .calls_per_second = 3}, inside);
  EXPECT_EQ(told(door, kMethods[0], Caller::Kind::kSameUser, 101), Code::kResourceExhausted);
  EXPECT_EQ(told(door, kMethods[0], Caller::Kind::kSameUser, 100), Code::kOk);
  int refused = 0;
  for (int i = 0; i < 30; ++i) {
    refused += told(door, kMethods[0], Caller::Kind::kClient) == Code::kResourceExhausted;
    EXPECT_EQ(told(door, kMethods[0], Caller::Kind::kSameUser), Code::kOk);
  }
  EXPECT_GE(refused, 20);  // a second may have passed, or some
}

TEST(Door, ALongCallEnds) {
  Inside inside;
  inside.keep = true;
  Door door({.longest_call_ms = 10}, inside);
  const auto call = std::make_shared<FakeCall>(kMethods[0], Caller{Caller::Kind::kClient, "a"});
  door.call(call);
  std::atomic<bool> cancelled{false};
  inside.kept.at(0)->on_cancel([&] { cancelled = true; });
  while (!cancelled) std::this_thread::yield();
  inside.kept[0]->answer({});  // too late
  ASSERT_EQ(call->answers.size(), 1u);
  EXPECT_EQ(call->answers[0].error->code(), Code::kDeadlineExceeded);
}

// ---- Files.

proto::GraphDef graph_of(const std::string& op, int inputs) {
  proto::GraphDef graph;
  proto::NodeDef* const node = graph.add_node();
  node->set_name("n");
  node->set_op(op);
  for (int i = 0; i < inputs; ++i) node->add_input("in:" + std::to_string(i));
  return graph;
}

TEST(FileRules, EveryNameOfAFileIsChecked) {
  for (const FileOp& op : file_ops()) {
    proto::GraphDef graph = graph_of(std::string(op.op), 4);
    *graph.mutable_library()->add_function()->mutable_node_def() = graph.node();
    confine(graph, {{"/data"}, {}}, "/device:CPU:0");
    EXPECT_EQ(graph.node_size(), 1 + static_cast<int>(op.inputs.size())) << op.op;
    for (const int i : op.inputs) {
      const std::string check = "n/_checked_path_" + std::to_string(i);
      EXPECT_EQ(graph.node(0).input(i), check);
      EXPECT_EQ(graph.library().function(0).node_def(0).input(i), check + ":checked:0");
    }
    if (op.names_come_later) {
      EXPECT_EQ(graph.node(0).attr().at("_folders").list().s(0), "/data") << op.op;
    }
    for (const std::string_view name : op.attributes) {
      proto::GraphDef bad = graph_of(std::string(op.op), 1);
      (*bad.mutable_node(0)->mutable_attr())[std::string(name)].set_s(
          op.op == "PrintV2" ? "file:///etc/passwd" : "/etc/passwd");
      EXPECT_THROW(confine(bad, {{"/data"}, {}}, ""), Error) << op.op;
      EXPECT_NO_THROW(confine(bad, {{"/etc"}, {}}, "")) << op.op;
    }
  }
}

TEST(FileRules, CodeOfTheProcessRunsWhereItIsAllowedByName) {
  for (const std::string_view op : code_ops()) {
    proto::GraphDef graph = graph_of(std::string(op), 0);
    EXPECT_THROW(confine(graph, {}, ""), Error) << op;
    EXPECT_NO_THROW(confine(graph, {{}, {std::string(op)}}, "")) << op;
  }
}

// An operation whose signature speaks of files belongs into the list; these do not touch any.
TEST(FileRules, NoOperationWithFilesIsForgotten) {
  const std::vector<std::string_view> harmless{"ShardedFilename", "ShardedFilespec", "_CheckedPath",
                                               "RegexReplace",    "RegexFullMatch",  "StaticRegexReplace",
                                               "StaticRegexFullMatch",
                                               "TensorSliceDataset" /* says what its values are */};
  const auto speaks_of_files = [](std::string_view name) {
    for (const std::string_view word : {"file", "path", "dir", "prefix", "pattern", "url", "output_stream"})
      if (name.find(word) != name.npos && name != "top_paths") return true;
    return false;
  };
  for (const OpDef* op : op_catalogue().all()) {
    bool speaks = op->name.ends_with("Reader") || op->name.ends_with("ReaderV2");
    for (const auto& a : op->inputs) speaks = speaks || speaks_of_files(a.name);
    for (const auto& a : op->attrs) speaks = speaks || speaks_of_files(a.name);
    if (!speaks || op->name.starts_with("IdentityReader")) continue;
    const bool listed = std::ranges::find(file_ops(), op->name, &FileOp::op) != file_ops().end();
    EXPECT_TRUE(listed || std::ranges::find(harmless, op->name) != harmless.end()) << op->name;
  }
}

}  // namespace
}  // namespace emplace::cluster
