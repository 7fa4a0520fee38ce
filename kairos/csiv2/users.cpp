// SPDX-License-Identifier: Apache-2.0
#include "kairos/csiv2/users.h"

#include "kairos/csi/context.h"
#include "kairos/csiv2/settings.h"
#include "kairos/mapping/exception.h"

#include <algorithm>
#include <crypt.h>
#include <cstring>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <utility>

namespace kairos::csiv2 {
namespace {

/// What libcrypt works in: wiped afterwards, and too large for a stack.
class Workplace {
  public:
    Workplace() = default;
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    ~Workplace() { OPENSSL_cleanse(data_.get(), sizeof *data_); }

    /// The hash by this setting, which another hash is as well; null if it is none.
    [[nodiscard]] const char* hash(const std::string& password, const std::string& setting)
    {
        return ::crypt_rn(password.c_str(), setting.c_str(), data_.get(), sizeof *data_);
    }

  private:
    const std::unique_ptr<crypt_data> data_ = std::make_unique<crypt_data>();
};

bool is_password(const std::string& password)
{
    return !password.empty() && password.size() <= limits::password_max &&
           password.find('\0') == std::string::npos;
}

/// Whether a hash has what a hash of its kind has behind its last "$": crypt_checksalt takes a part
/// of one as well, by which no password would be right, and nothing be computed.
bool is_whole(std::string_view hash)
{
    struct Kind {
        std::string_view prefix;
        std::size_t size;
    };
    constexpr std::array<Kind, 6> kinds{
        {{"$y$", 43}, {"$gy$", 43}, {"$7$", 43}, {"$2", 53}, {"$6$", 86}, {"$5$", 43}}};
    const auto kind = std::ranges::find_if(
        kinds, [&](const Kind& each) { return hash.starts_with(each.prefix); });
    return kind == kinds.end() || hash.size() - hash.rfind('$') - 1 == kind->size;
}

/// Of nobody: what is computed for a user whom there is not, if there is no user at all.
constexpr const char* nobody = "$y$j9T$9WQJHiXxVsUKvGYp2ZrTn/$";

} // namespace

std::optional<Users> Users::parse(std::string_view text, std::vector<std::string>& problems)
{
    constexpr std::size_t problems_max = 100;
    Users users;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with('#')) continue;
        const auto wrong = [&](const char* reason) {
            if (problems.size() < problems_max)
                problems.push_back("line " + std::to_string(number) + ": " + reason);
        };
        const std::size_t colon = line.find(':');
        const std::string name(line.substr(0, colon));
        if (colon == std::string_view::npos || !csi::is_name(name)) {
            wrong("a line is NAME:HASH, where a name is of 1 to 1024 octets of UTF-8");
            continue;
        }
        std::string hash(line.substr(colon + 1));
        if (hash.size() >= CRYPT_OUTPUT_SIZE || hash.find('\0') != std::string::npos ||
            ::crypt_checksalt(hash.c_str()) != CRYPT_SALT_OK || !is_whole(hash))
            wrong("the hash is none that crypt(5) would make for a new password");
        else if (!users.hashes_.emplace(name, std::move(hash)).second)
            wrong("the user was there before");
    }
    if (!problems.empty()) return std::nullopt;
    for (const auto& [name, hash] : users.hashes_)
        users.all_.push_back(&hash);
    return users;
}

Result<Users> Users::read(const std::string& file)
{
    const auto wrong = [&](const std::string& reason) {
        return Error{ErrorCode::invalid_argument, "users " + file + ": " + reason};
    };
    const auto text = contents_of(file, limits::users_file_max);
    if (!text) return wrong("it cannot be read, or is larger than 16 MiB");
    std::vector<std::string> problems;
    auto users = parse(*text, problems);
    if (!users) return wrong(problems.front());
    return std::move(*users);
}

Users::Users()
{
    if (RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "no random numbers");
}

const std::string& Users::hash_for_nobody(std::string_view user) const
{
    static const std::string of_none = nobody;
    if (all_.empty()) return of_none;
    std::array<unsigned char, 32> digest{};
    unsigned size = digest.size();
    if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
             reinterpret_cast<const unsigned char*>(user.data()), user.size(), digest.data(),
             &size) == nullptr)
        throw std::bad_alloc();
    std::size_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    return *all_[number % all_.size()];
}

bool Users::is_right(std::string_view user, const std::string& password) const
{
    if (!is_password(password)) return false;
    const auto known = hashes_.find(user);
    const bool is_known = known != hashes_.end();
    const std::string& hash = is_known ? known->second : hash_for_nobody(user);
    Workplace workplace;
    const char* const made = workplace.hash(password, hash);
    if (made == nullptr) return false;
    const std::string_view found = made;
    const bool is_same =
        found.size() == hash.size() && CRYPTO_memcmp(found.data(), hash.data(), hash.size()) == 0;
    return is_same && is_known;
}

Result<std::string> hashed(const std::string& password, unsigned cost)
{
    if (!is_password(password))
        return Error{ErrorCode::invalid_argument,
                     "a password has 1 to " + std::to_string(limits::password_max) + " octets"};
    std::string setting(CRYPT_GENSALT_OUTPUT_SIZE, '\0');
    Workplace workplace;
    const char* made = nullptr;
    if (::crypt_gensalt_rn("$y$", cost, nullptr, 0, setting.data(),
                           static_cast<int>(setting.size())) != nullptr)
        made = workplace.hash(password, setting.c_str());
    if (made == nullptr)
        return Error{ErrorCode::invalid_argument, "libcrypt cannot hash the password"};
    return std::string(made);
}

} // namespace kairos::csiv2
