// SPDX-License-Identifier: Apache-2.0
#include "kairos/csiv2/passwords.h"

#include "kairos/base/log.h"
#include "kairos/csiv2/settings.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <cstring>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <thread>
#include <utility>

namespace kairos::csiv2 {

Passwords::Passwords(const std::string& users_file)
    : computing_max_(std::max(2U, std::thread::hardware_concurrency()))
{
    if (RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1)
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "no random numbers");
    if (users_file.empty()) return;
    watched_ = std::make_unique<files::Watched<UsersPointer>>(files::Watched<UsersPointer>::Source{
        .files = {users_file},
        .read = [users_file]() -> Result<UsersPointer> {
            auto users = Users::read(users_file);
            if (!users) return users.error();
            return UsersPointer(std::make_shared<const Users>(std::move(*users)));
        },
        .contents =
            [users_file] { return contents_of(users_file, limits::users_file_max).value_or(""); },
        .changed = "csiv2: the users of " + users_file + " have changed",
        .kept = "; the users of before stay in force",
        .failed = "csiv2: no memory to look at " + users_file});
    const auto first = watched_->get();
    if (!first)
        throw CORBA::BAD_PARAM(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                               "-ORBCsi: " + first.error().reason);
    users_ = *first;
}

void Passwords::set_authenticator(std::shared_ptr<Authenticator> authenticator)
{
    const std::lock_guard lock(mutex_);
    authenticator_ = std::move(authenticator);
    right_.clear();
}

bool Passwords::are_taken() const
{
    const std::lock_guard lock(mutex_);
    return users_ != nullptr || authenticator_ != nullptr;
}

std::size_t Passwords::DigestHash::operator()(const Digest& digest) const noexcept
{
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
}

/// Keyed, so that what is remembered is no password, and nobody can choose what it looks like.
Passwords::Digest Passwords::digest_of(std::string_view connection,
                                       const csi::UserAndPassword& evidence) const
{
    std::string all;
    for (const std::string_view part :
         {connection, std::string_view(evidence.user), std::string_view(evidence.password)}) {
        all += std::to_string(part.size()) + ':';
        all += part;
    }
    Digest digest{};
    unsigned size = digest.size();
    const unsigned char* const made =
        HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
             reinterpret_cast<const unsigned char*>(all.data()), all.size(), digest.data(), &size);
    OPENSSL_cleanse(all.data(), all.size());
    if (made == nullptr) throw std::bad_alloc();
    return digest;
}

/// Must hold mutex_.
Passwords::Guesses& Passwords::guesses_of(std::uint64_t host, Clock::time_point now)
{
    assert_held(mutex_);
    const double most = guesses_max();
    const auto refill = [now, most](Guesses& guesses) {
        const std::chrono::duration<double> passed = now - guesses.at;
        guesses.left = std::min(most, guesses.left + passed.count());
        guesses.at = now;
    };
    if (guesses_.size() >= hosts_max && !guesses_.contains(host)) {
        std::erase_if(guesses_, [&](const auto& each) {
            Guesses as_now = each.second;
            refill(as_now);
            return as_now.left >= most;
        });
        if (guesses_.size() >= hosts_max) host = guesses_.begin()->first; // they share one
    }
    Guesses& guesses = guesses_.try_emplace(host, Guesses{.left = most, .at = now}).first->second;
    refill(guesses);
    return guesses;
}

bool Passwords::compute(const csi::UserAndPassword& evidence, const UsersPointer& users,
                        Authenticator* authenticator) const
{
    assert_not_held(mutex_);
    try {
        return authenticator != nullptr ? authenticator->is_right(evidence.user, evidence.password)
                                        : users->is_right(evidence.user, evidence.password);
    } catch (...) {
        log::warning("csiv2: whoever checks passwords threw");
        return false;
    }
}

/// What was right by the users of before is not remembered.
Passwords::UsersPointer Passwords::users_now()
{
    if (!watched_) return nullptr;
    const auto now = watched_->get();
    const std::lock_guard lock(mutex_);
    if (now && *now != users_) {
        users_ = *now;
        right_.clear();
    }
    return users_;
}

Passwords::Answer Passwords::ask(std::string_view connection, std::uint64_t host,
                                 const csi::UserAndPassword& evidence)
{
    if (!csi::is_name(evidence.user)) return Answer::wrong;
    const Digest digest = digest_of(connection, evidence);
    const UsersPointer users = users_now();
    std::shared_ptr<Authenticator> authenticator;
    {
        std::unique_lock lock(mutex_);
        authenticator = authenticator_;
        if (!users && !authenticator) return Answer::wrong;
        const auto known = right_.find(digest);
        if (known != right_.end() && Clock::now() < known->second) return Answer::right;
        if (guesses_of(host, Clock::now()).left < 1 ||
            !computed_.wait_for(lock, wait_max, [&] { return computing_ < computing_max_; }))
            return Answer::later;
        // Taken in advance, for there may be others of this host; others were looked at meanwhile.
        Guesses& guesses = guesses_of(host, Clock::now());
        if (guesses.left < 1) {
            computed_.notify_one(); // who else waits has the place
            return Answer::later;
        }
        guesses.left -= 1;
        ++computing_;
    }
    const bool is_right = compute(evidence, users, authenticator.get());
    const std::lock_guard lock(mutex_);
    --computing_;
    computed_.notify_one();
    if (!is_right) return Answer::wrong;
    const Clock::time_point now = Clock::now();
    Guesses& guesses = guesses_of(host, now);
    guesses.left = std::min<double>(guesses_max(), guesses.left + 1);
    if (users != users_ || authenticator != authenticator_) return Answer::right;
    if (right_.size() >= remembered_max)
        std::erase_if(right_, [now](const auto& each) { return each.second <= now; });
    if (right_.size() >= remembered_max) right_.clear();
    right_[digest] = now + remembered_for;
    return Answer::right;
}

} // namespace kairos::csiv2
