#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/socket/stream.h"
#include "cluster/transport.h"

namespace emplace::cluster {

// A connection whose bytes nobody else reads or changes, and whose other end has shown who it is.
class SecureStream : public Stream {
 public:
  // True when it is made; false: the other side has to say more first. Reading does it, too. Throws
  // PermissionDenied, saying why, where the other side shows nothing that the authority has signed.
  virtual bool handshake() = 0;
  // After the handshake. A client that has shown no certificate is kAnyone.
  virtual const Caller& peer() const = 0;
};

// Who this process is to others: a certificate or a token, both given by the authority that the
// cluster's owner has made, and that authority's own certificate, by which others are known. Any
// thread may call.
class Identity {
 public:
  virtual ~Identity() = default;
  virtual const Caller& own() const = 0;           // kAnyone: there is a token at most
  virtual const std::string& token() const = 0;    // to be shown to servers
  virtual const std::string& folder() const = 0;   // where it was read
  virtual std::unique_ptr<SecureStream> as_client(std::unique_ptr<Stream> plain) = 0;
  virtual std::unique_ptr<SecureStream> as_server(std::unique_ptr<Stream> plain) = 0;
  // Who was given a token. Throws PermissionDenied for one that is false or out of date.
  virtual std::string owner_of(std::string_view token) const = 0;
};

// What `emplace cluster init` is asked for.
struct KeyRequest {
  std::string folder;
  std::vector<std::string> tasks;    // "/job:ps/replica:0/task:0"
  std::vector<std::string> clients;  // names
  int days = 365;
};

// The process's own towards servers: of `set_client_identity`, else of the folder EMPLACE_TLS and the
// token EMPLACE_TOKEN; null where there is neither.
std::shared_ptr<Identity> client_identity();
void set_client_identity(std::shared_ptr<Identity> identity);
// `folder` itself, or the task's folder in it, as `emplace cluster init` lays them out.
std::shared_ptr<Identity> read_identity(const std::string& folder, const std::string& task,
                                        const std::string& token);

// A way to and from processes that show certificates. `tasks`: who is expected at which address; none
// but those and clients are let in.
std::unique_ptr<Transport> secure_transport(std::shared_ptr<Identity> identity,
                                            std::map<std::string, std::string> tasks);

// A task's folder among those that `emplace cluster init` makes: "ps-0" of "/job:ps/replica:0/task:0".
inline std::string key_folder(std::string_view task) {
  constexpr std::string_view kJob = "/job:";
  if (task.starts_with(kJob)) task.remove_prefix(kJob.size());
  return std::string(task.substr(0, task.find('/'))) + "-" + std::string(task.substr(task.rfind(':') + 1));
}

}  // namespace emplace::cluster
