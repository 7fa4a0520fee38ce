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

Passwords::Passwords(const std::string& users_file, Clock::time_point (*now)())
    : now_(now), computing_max_(std::max(2U, std::thread::hardware_concurrency())),
      rest_{of_rest.at_once, now_(), &of_rest}
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
    remembered_.clear();
    flights_.clear(); // they end for those who wait for them
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
Passwords::Digest Passwords::digest_of(std::string_view kind, std::string_view user,
                                       std::string_view password) const
{
    std::string all;
    all.reserve(kind.size() + user.size() + password.size() + 64); // it is wiped where it is
    for (const std::string_view part : {kind, user, password}) {
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

void Passwords::Guesses::refill(Clock::time_point now) noexcept
{
    const std::chrono::duration<double> passed = now - at;
    left = std::min(rate->at_once, left + passed.count() * rate->per_second);
    at = now;
}

/// Must hold mutex_. Where the table is full it is looked through once a second at most, for those
/// who may guess as much as anybody; who has no place in it shares one with others like him.
Passwords::Guesses& Passwords::guesses_of(std::uint64_t who, const Rate& rate,
                                          Clock::time_point now)
{
    assert_held(mutex_);
    Guesses* guesses = &rest_;
    const auto known = guesses_.find(who);
    if (known != guesses_.end()) {
        guesses = &known->second;
    } else {
        if (guesses_.size() >= guessers_max && now - cleaned_ >= std::chrono::seconds(1)) {
            cleaned_ = now;
            std::erase_if(guesses_, [now](const auto& each) {
                Guesses as_now = each.second;
                as_now.refill(now);
                return as_now.left >= as_now.rate->at_once;
            });
        }
        if (guesses_.size() < guessers_max)
            guesses = &guesses_.try_emplace(who, Guesses{rate.at_once, now, &rate}).first->second;
    }
    guesses->refill(now);
    return *guesses;
}

/// Must hold mutex_. The user's is made only where the host may guess at all: one host does not
/// fill the table. What is taken of the host stays in it while that of the user is made.
bool Passwords::take_guess(std::uint64_t host, std::uint64_t user, Clock::time_point now)
{
    Guesses& of_all = guesses_of(host, of_host, now);
    if (of_all.left < 1) return false;
    of_all.left -= 1;
    Guesses& of_one = guesses_of(user, of_user, now);
    if (&of_one == &of_all) return true;
    if (of_one.left >= 1) {
        of_one.left -= 1;
        return true;
    }
    of_all.left += 1;
    return false;
}

/// Must hold mutex_.
void Passwords::give_back_guess(std::uint64_t host, std::uint64_t user, Clock::time_point now)
{
    const auto give_back = [](Guesses& guesses) {
        guesses.left = std::min(guesses.rate->at_once, guesses.left + 1);
    };
    Guesses* const of_all = &guesses_of(host, of_host, now);
    give_back(*of_all);
    Guesses* const of_one = &guesses_of(user, of_user, now);
    if (of_one != of_all) give_back(*of_one); // of those only the places are compared
}

/// Must hold mutex_.
void Passwords::remember(const Digest& digest, Clock::time_point now)
{
    if (remembered_.size() >= remembered_max && !remembered_.contains(digest))
        remembered_.erase(std::ranges::min_element(
            remembered_, {}, [](const auto& each) { return each.second.known_until; }));
    remembered_[digest] = {.right_until = now + remembered_for, .known_until = now + known_for};
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
        remembered_.clear();
        flights_.clear();
    }
    return users_;
}

Passwords::Answer Passwords::ask(std::uint64_t host, const csi::UserAndPassword& evidence)
{
    if (!csi::is_name(evidence.user)) return Answer::wrong;
    const Digest digest = digest_of("password", evidence.user, evidence.password);
    std::uint64_t user_of_host = 0;
    {
        const Digest both = digest_of("guesses", evidence.user, std::to_string(host));
        std::memcpy(&user_of_host, both.data(), sizeof user_of_host);
    }
    const UsersPointer users = users_now();
    const Clock::time_point due = now_() + wait_max;
    const auto flight = std::make_shared<Flight>();
    std::shared_ptr<Authenticator> authenticator;
    bool is_known = false;
    {
        std::unique_lock lock(mutex_);
        authenticator = authenticator_;
        if (!users && !authenticator) return Answer::wrong;
        for (;;) {
            const Clock::time_point now = now_();
            const auto known = remembered_.find(digest);
            is_known = known != remembered_.end() && now < known->second.known_until;
            if (is_known && now < known->second.right_until) {
                // Of a file that says when it changes; an authenticator has to be asked again.
                if (!authenticator_) known->second = {now + remembered_for, now + known_for};
                return Answer::right;
            }
            if (const auto same = flights_.find(digest); same != flights_.end()) {
                const std::shared_ptr<const Flight> joined = same->second;
                (void)computed_.wait_until(lock, due, [&] { return joined->answer.has_value(); });
                return joined->answer.value_or(Answer::later);
            }
            if (computing_ < computing_max_ - (is_known ? 0 : 1)) {
                // Taken in advance, for there may be others like it.
                if (!is_known && !take_guess(host, user_of_host, now)) return Answer::later;
                break;
            }
            // Who may not guess need not wait for it.
            if (now >= due || (!is_known && guesses_of(host, of_host, now).left < 1))
                return Answer::later;
            (void)computed_.wait_until(lock, due);
        }
        flights_.emplace(digest, flight);
        ++computing_;
    }
    const bool is_right = compute(evidence, users, authenticator.get());
    const std::lock_guard lock(mutex_);
    --computing_;
    flight->answer = is_right ? Answer::right : Answer::wrong;
    const auto mine = flights_.find(digest);
    if (mine != flights_.end() && mine->second == flight) flights_.erase(mine);
    computed_.notify_all();
    const Clock::time_point now = now_();
    if (is_right && !is_known) give_back_guess(host, user_of_host, now);
    if (users != users_ || authenticator != authenticator_) return *flight->answer;
    if (is_right)
        remember(digest, now);
    else
        remembered_.erase(digest);
    return *flight->answer;
}

} // namespace kairos::csiv2
