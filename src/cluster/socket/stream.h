#pragma once
#include <sys/uio.h>

#include <memory>
#include <span>

#include "cluster/socket/fd.h"
#include "emplace/error.h"

namespace emplace::cluster {

// A connection's bytes, plain or encrypted; never waits. One thread reads at a time, one writes.
class Stream {
 public:
  static constexpr ssize_t kNotNow = -1;

  virtual ~Stream() = default;
  virtual int fd() const = 0;
  // How much was read: 0 when the other side has ended, kNotNow when nothing has come. They throw
  // Unavailable when the connection is broken.
  virtual ssize_t read(void* to, size_t size) = 0;
  virtual ssize_t write(std::span<const iovec> from) = 0;
  // False: something that was taken waits for the socket; call again when it takes more.
  virtual bool flush() { return true; }
  // Something may be there although the socket is empty.
  virtual bool holds_more() const { return false; }

  // Between processes of one machine open files go along (Unix sockets): `give` with the next byte
  // written, `taken` in the order in which they came.
  virtual bool gives_files() const { return false; }
  virtual void give(int) {}
  virtual Fd taken() { return Fd(); }
};

std::unique_ptr<Stream> plain_stream(Fd fd);

Error broken_connection(const std::string& why);

}  // namespace emplace::cluster
