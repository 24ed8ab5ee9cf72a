#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cluster/secure.h"
#include "cluster/tls/openssl.h"

namespace emplace::cluster {

// Makes what is missing below `request.folder`: the authority, and a folder for each task and client with
// its certificate. What is there stays. Returns the folders made, in order.
std::vector<std::string> make_keys(const KeyRequest& request);

// A token for a client, signed by the authority of a folder: "emplace1.NAME.UNTIL.SIGNATURE".
std::string make_token(const std::string& folder, const std::string& name, int days);
// Whose it is. Throws PermissionDenied.
std::string check_token(X509* authority, std::string_view token);

OwnCertificate read_certificate(const std::string& path);
OwnKey read_key(const std::string& path);

}  // namespace emplace::cluster
