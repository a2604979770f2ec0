#include "runtime/base/Sha256.h"

#include "absl/strings/escaping.h"

#include <cassert>
#include <openssl/evp.h>

namespace recipe::rt {

void Sha256::Free::operator()(evp_md_ctx_st *context) const { EVP_MD_CTX_free(context); }

// These calls fail only without memory or without the algorithm in the library, neither of which a caller could handle.
static void require(int ok) {
  assert(ok == 1 && "OpenSSL without SHA-256");
  (void)ok;
}

Sha256::Sha256() : context(EVP_MD_CTX_new()) { require(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr)); }

void Sha256::update(const void *data, size_t size) { require(EVP_DigestUpdate(context.get(), data, size)); }

Sha256Digest Sha256::finish() {
  Sha256Digest digest;
  require(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr));
  return digest;
}

Sha256Digest Sha256::of(absl::Span<const uint8_t> bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.finish();
}

std::string toHex(const Sha256Digest &digest) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char *>(digest.data()), digest.size()));
}

} // namespace recipe::rt
