#pragma once
#include "cluster/secure.h"

namespace emplace::cluster {

// Of a folder: authority.crt and, if there is one, own.pem. Throws NotFound, or InvalidArgument for what
// is no certificate or another authority's.
std::shared_ptr<Identity> tls_identity(const std::string& folder, const std::string& token);

}  // namespace emplace::cluster
