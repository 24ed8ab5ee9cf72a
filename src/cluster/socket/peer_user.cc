#include "cluster/socket/peer_user.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace emplace::cluster {
namespace {

// As /proc/net/tcp writes them: the address's words in the host's order, the port.
std::string table_entry(in_addr_t address, in_port_t port) {
  char text[16];
  std::snprintf(text, sizeof text, "%08X:%04X", address, ntohs(port));
  return text;
}

// "sl local remote st queues timer retransmits uid …", of the socket whose local end is `local` and
// whose remote end is `remote`.
std::optional<uid_t> find(const char* table, const std::string& local, const std::string& remote) {
  std::ifstream in(table);
  std::string line, number, from, to, state, skipped;
  std::getline(in, line);  // headings
  while (std::getline(in, line)) {
    char words[7][64];
    unsigned uid = 0;
    if (std::sscanf(line.c_str(), "%63s %63s %63s %63s %63s %63s %63s %u", words[0], words[1],
                    words[2], words[3], words[4], words[5], words[6], &uid) == 8 &&
        local == words[1] && remote == words[2])
      return uid;
  }
  return {};
}

}  // namespace

std::optional<uid_t> user_behind(int socket) {
  sockaddr_in peer{}, own{};
  socklen_t size = sizeof peer;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  size = sizeof own;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  if (peer.sin_family != AF_INET) return {};
  const std::string theirs = table_entry(peer.sin_addr.s_addr, peer.sin_port);
  const std::string ours = table_entry(own.sin_addr.s_addr, own.sin_port);
  if (const auto user = find("/proc/self/net/tcp", theirs, ours)) return user;
  // A socket that speaks both families shows its address mapped.
  const std::string mapped = "0000000000000000FFFF0000";
  return find("/proc/self/net/tcp6", mapped + theirs, mapped + ours);
}

}  // namespace emplace::cluster
