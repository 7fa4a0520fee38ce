// SPDX-License-Identifier: Apache-2.0
#include "kairos/gateway/seal.h"

#include "kairos/mapping/exception.h"

#include <algorithm>
#include <cstring>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace kairos::gateway {

namespace {

/// What the code is of begins with this: the same secret may be used for other things.
constexpr std::string_view purpose = "kairos gateway 1";

const unsigned char* octets(const std::byte* bytes) noexcept
{
    return reinterpret_cast<const unsigned char*>(bytes);
}

std::vector<std::byte> random_secret()
{
    std::vector<std::byte> secret(Seal::key_size);
    if (RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()),
                   static_cast<int>(secret.size())) != 1)
        throw CORBA::INITIALIZE(0, CORBA::COMPLETED_NO, "no random numbers for a key");
    return secret;
}

} // namespace

Seal::Seal(Bytes secret)
    : secret_(secret.empty() ? random_secret()
                             : std::vector<std::byte>(secret.begin(), secret.end()))
{
}

Seal::~Seal() { OPENSSL_cleanse(secret_.data(), secret_.size()); }

std::array<std::byte, Seal::code_size> Seal::code_of(Bytes target) const
{
    const Bytes begin = as_bytes(purpose);
    std::vector<std::byte> text(begin.begin(), begin.end());
    text.insert(text.end(), target.begin(), target.end());
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), octets(text.data()),
             text.size(), digest.data(), &size) == nullptr ||
        size < code_size)
        throw CORBA::INTERNAL(0, CORBA::COMPLETED_NO, "no HMAC-SHA-256");
    std::array<std::byte, code_size> code;
    std::memcpy(code.data(), digest.data(), code_size);
    return code;
}

/// The code, then the reference as an encapsulation: its first octet is the byte order's.
std::vector<std::byte> Seal::id_of(const ior::Ior& target) const
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    out.write(native_little_endian);
    ior::encode(out, target);
    const Bytes written = out.contiguous();
    if (written.size() > id_size_max - code_size)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a reference is too long for a gateway");
    const auto code = code_of(written);
    std::vector<std::byte> id(code.begin(), code.end());
    id.insert(id.end(), written.begin(), written.end());
    return id;
}

std::optional<ior::Ior> Seal::open(Bytes id) const
{
    if (id.size() <= code_size || id.size() > id_size_max) return std::nullopt;
    const Bytes target = id.subspan(code_size);
    const auto code = code_of(target);
    if (CRYPTO_memcmp(code.data(), id.data(), code_size) != 0) return std::nullopt;
    cdr::Reader in = cdr::Reader::of_encapsulation(target);
    ior::Ior reference;
    if (!ior::decode(in, reference) || in.left() != 0 || reference.is_nil()) return std::nullopt;
    return reference;
}

} // namespace kairos::gateway
