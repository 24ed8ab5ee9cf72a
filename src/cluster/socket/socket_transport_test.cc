#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "cluster/methods.h"
#include "cluster/socket/dial.h"
#include "cluster/socket/socket_channel.h"
#include "cluster/transport.h"

namespace emplace::cluster {
namespace {

constexpr const char* kEcho = "/emplace.TaskService/RunPart";
constexpr const char* kFail = "/emplace.TaskService/AddPart";
constexpr const char* kWait = "/emplace.TaskService/Describe";
constexpr const char* kPost = "/emplace.TaskService/Push";

std::string text_of(const Bytes& bytes) {
  BytesReader reader(bytes);
  return reader.text(bytes.size());
}

// A message of pieces of these sizes; what is in them depends on the place.
Bytes pieces_of(const std::vector<size_t>& sizes) {
  Bytes bytes;
  char next = 1;
  for (const size_t size : sizes) {
    std::string piece(size, '\0');
    for (char& c : piece) c = next = static_cast<char>(next * 5 + 3);
    bytes.add(std::move(piece));
  }
  return bytes;
}

class Echo final : public Service {
 public:
  void call(std::shared_ptr<IncomingCall> call) override {
    if (call->method() == kWait) {
      call->on_cancel([this] { ++cancelled; });
      const std::lock_guard lock(mutex);
      waiting.push_back(call);
    } else if (call->method() == kFail) {
      call->answer({Error(Code::kDataLoss, "as asked"), {}});
    } else if (call->method() == kPost) {
      const std::lock_guard lock(mutex);
      posted.push_back(text_of(call->request()));
      changed.notify_all();
    } else {
      call->answer({{}, std::move(call->request())});
    }
  }
  std::atomic<int> cancelled{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> posted;
  std::vector<std::shared_ptr<IncomingCall>> waiting;
};

// Over TCP, or as processes of one machine do.
class SocketTransportTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { setenv("EMPLACE_CLUSTER_LOCAL", GetParam() ? "1" : "0", 1); }
  void TearDown() override { unsetenv("EMPLACE_CLUSTER_LOCAL"); }
  void serve(size_t max_message = size_t{1} << 31) {
    listener.reset();
    ListenOptions options;
    options.max_message = max_message;
    options.port = port;
    listener = socket_transport().listen(options, service);
    port = listener->port();
    if (!channel) channel = socket_transport().connect(address(), Transport::Speaks::kOurs);
  }
  std::string address() const { return "localhost:" + std::to_string(port); }
  Answer call(const char* method, Bytes request, CallOptions options = {}) {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Answer> answer;
    channel->call(method, std::move(request), options, [&](Answer a) {
      const std::lock_guard lock(mutex);
      answer = std::move(a);
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answer.has_value(); });
    return std::move(*answer);
  }
  void until(const std::function<bool()>& holds) {
    while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  Echo service;
  int port = 0;
  std::unique_ptr<Listener> listener;
  std::shared_ptr<Channel> channel;
};

INSTANTIATE_TEST_SUITE_P(Ways, SocketTransportTest, ::testing::Values(false, true));

TEST_P(SocketTransportTest, EveryMessageComesBackAsItWas) {
  serve();
  for (const auto& sizes : std::vector<std::vector<size_t>>{
           {}, {1}, {100, 7}, {60'000, 70'000, 3}, {5, 3'000'001, 0, 70'000, 12}, {40'000'000, 20'000'000}}) {
    const Bytes sent = pieces_of(sizes);
    const Answer got = call(kEcho, sent);
    ASSERT_FALSE(got.error) << got.error->what();
    EXPECT_TRUE(text_of(got.body) == text_of(sent)) << sent.size();
  }
}

TEST_P(SocketTransportTest, LongPiecesComeInMemoryOfTheirOwn) {
  serve();
  for (int i = 0; i < 20; ++i) {  // shared memory goes back and forth
    const Answer got = call(kEcho, pieces_of({10, 5'000'000}));
    ASSERT_FALSE(got.error);
    BytesReader reader(got.body);
    reader.text(10);
    const Bytes::Piece* const piece = reader.whole_piece(5'000'000);
    ASSERT_TRUE(piece);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece->data) % 64, 0u);
  }
}

TEST_P(SocketTransportTest, ManyCallAtOnce) {
  serve();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 40; ++i) {
        const Bytes sent = pieces_of({t, i * 1000, i % 10 == 0 ? size_t{2'000'000} : 0});
        const Answer got = call(kEcho, sent);
        ASSERT_FALSE(got.error) << got.error->what();
        ASSERT_TRUE(text_of(got.body) == text_of(sent));
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST_P(SocketTransportTest, ErrorsComeWithCodeAndWords) {
  serve();
  const Answer got = call(kFail, Bytes("x"));
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::kDataLoss);
  EXPECT_EQ(got.error->message(), "as asked");
  EXPECT_EQ(call("/emplace.TaskService/None", {}).error->code(), Code::kUnimplemented);
}

TEST_P(SocketTransportTest, APostIsSentOnceAndItsMemoryIsFreeThen) {
  serve();
  std::vector<char> memory(3'000'000, 'a');
  for (int i = 0; i < 5; ++i) {
    Bytes message;
    message.add({memory.data(), memory.size(), nullptr});
    std::atomic<bool> sent{false};
    channel->post(kPost, std::move(message), [&](std::optional<Error> e) {
      EXPECT_FALSE(e);
      sent = true;
    });
    until([&] { return sent.load(); });
    std::fill(memory.begin(), memory.end(), static_cast<char>('b' + i));
  }
  std::unique_lock lock(service.mutex);
  service.changed.wait(lock, [&] { return service.posted.size() == 5; });
  std::ranges::sort(service.posted);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_TRUE(service.posted[i] == std::string(memory.size(), static_cast<char>('a' + i)));
}

TEST_P(SocketTransportTest, ACancelledPostLeavesItsMemory) {
  serve();
  for (int i = 0; i < 10; ++i) {
    auto memory = std::make_unique<std::vector<char>>(30'000'000, 'a');
    Bytes message;
    message.add({memory->data(), memory->size(), nullptr});
    std::atomic<int> ended{0};
    const auto post = channel->post(kPost, std::move(message), [&](std::optional<Error>) { ++ended; });
    post->cancel();
    memory.reset();  // the sanitizer would see who still reads
    until([&] { return ended > 0; });
    EXPECT_EQ(ended, 1);
  }
  EXPECT_FALSE(call(kEcho, Bytes("goes on")).error);
}

TEST_P(SocketTransportTest, TimeAndCancelEndACall) {
  serve();
  EXPECT_FALSE(call(kEcho, {}).error);  // now there is a connection, over which what follows gets there
  EXPECT_EQ(call(kWait, {}, {.timeout_ms = 20}).error->code(), Code::kDeadlineExceeded);
  std::atomic<int> ended{0};
  const auto handle = channel->call(kWait, {}, {}, [&](Answer a) {
    EXPECT_EQ(a.error->code(), Code::kCancelled);
    ++ended;
  });
  until([&] {
    const std::lock_guard lock(service.mutex);
    return service.waiting.size() == 2;
  });
  handle->cancel();
  handle->cancel();
  EXPECT_EQ(ended, 1);
  until([&] { return service.cancelled > 0; });
}

TEST_P(SocketTransportTest, AServerThatEndsIsUnavailableUntilItIsBack) {
  serve();
  std::thread other([&] {
    until([&] {
      const std::lock_guard lock(service.mutex);
      return !service.waiting.empty();
    });
    listener.reset();
  });
  EXPECT_EQ(call(kWait, {}).error->code(), Code::kUnavailable);
  other.join();
  EXPECT_EQ(service.cancelled, 1);
  EXPECT_EQ(call(kEcho, {}).error->code(), Code::kUnavailable);
  std::thread back([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    serve();
  });
  EXPECT_FALSE(call(kEcho, Bytes("x"), {.timeout_ms = 0, .wait_for_peer = true}).error);
  back.join();
}

TEST_P(SocketTransportTest, ACallerThatEndsCancelsItsCalls) {
  serve();
  channel->call(kWait, {}, {}, [](Answer) {});
  until([&] {
    const std::lock_guard lock(service.mutex);
    return !service.waiting.empty();
  });
  channel.reset();
  until([&] { return service.cancelled == 1; });
}

TEST_P(SocketTransportTest, WhatIsTooLongOrNoFrameEndsTheConnectionOnly) {
  serve(1'000'000);
  EXPECT_EQ(call(kEcho, Bytes(std::string(2'000'000, 'x'))).error->code(), Code::kUnavailable);
  for (const char* garbage : {"\xff\xff\xff\xff 24 bytes that are no frame", "GET / HTTP/1.1\r\n\r\n"}) {
    const Dialed dialed = dial(address(), {});
    const iovec piece{const_cast<char*>(garbage), std::strlen(garbage)};
    dialed.stream->write({&piece, 1});
  }
  // A call may still go by the connection that ends.
  until([&] { return !call(kEcho, Bytes("x")).error; });
}

TEST_P(SocketTransportTest, WhoKnowsNoKeyAddsNothingToALink) {
  serve();
  call(kEcho, Bytes("x"));
  EXPECT_THROW(dial(address(), {nullptr, "", kForPieces, 1, 12345}), Error);
}

}  // namespace
}  // namespace emplace::cluster
