// SPDX-License-Identifier: Apache-2.0
//
// Whether a password is right, for the requests of a server: what was found to be right is
// remembered, so that one computation does for many calls; and whoever guesses is held up, for each
// user and host and for each host, so that guesses neither succeed by their number nor take the
// processor from others. Who was let in goes on meanwhile. Any thread.
#pragma once

#include "kairos/base/assert_held.h"
#include "kairos/csi/context.h"
#include "kairos/csiv2/csiv2.h"
#include "kairos/csiv2/users.h"
#include "kairos/files/watched.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kairos::csiv2 {

class Passwords {
  public:
    using Clock = std::chrono::steady_clock;
    /// What was right is right so long; of a file of users, since it was last asked for.
    static constexpr std::chrono::seconds remembered_for{60};
    /// And so long it is no guess: it is computed whatever others of its host have guessed.
    static constexpr std::chrono::hours known_for{1};
    static constexpr std::size_t remembered_max =
        4096; ///< then the one that ends first is left out
    /// How many are wrong at once, and then in a second.
    struct Rate {
        double at_once;
        double per_second;
    };
    static constexpr Rate of_user{.at_once = 10, .per_second = 1}; ///< of one host
    static constexpr Rate of_host{.at_once = 50, .per_second = 5}; ///< of all users
    static constexpr Rate of_rest{.at_once = 100,
                                  .per_second = 20}; ///< of hosts that have no place
    static constexpr std::size_t guessers_max =
        8192; ///< hosts, and users of theirs, with wrong ones
    /// How long a request waits until others have computed.
    static constexpr std::chrono::seconds wait_max{2};

    /// Reads the file of users, whose name may be empty: then there are none. Throws BAD_PARAM for
    /// one that cannot be used. `now` is the time, for tests.
    explicit Passwords(const std::string& users_file, Clock::time_point (*now)() = &Clock::now);

    /// Asks another instead, from now on.
    void set_authenticator(std::shared_ptr<Authenticator> authenticator);
    /// Returns whether there is anybody to ask.
    [[nodiscard]] bool are_taken() const;

    enum class Answer {
        right,
        wrong,
        later, ///< nobody was asked: too many at once, or too many wrong ones
    };
    /// `host` stands for the peer of the connection that the password has come by.
    [[nodiscard]] Answer ask(std::uint64_t host, const csi::UserAndPassword& evidence);

    /// Returns how many are computed at a time, by threads that ask; one of them is for passwords
    /// only that were right before.
    [[nodiscard]] std::size_t computing_max() const noexcept { return computing_max_; }

  private:
    using UsersPointer = std::shared_ptr<const Users>;
    using Digest = std::array<unsigned char, 32>;
    struct DigestHash {
        std::size_t operator()(const Digest& digest) const noexcept;
    };
    struct Remembered {
        Clock::time_point right_until;
        Clock::time_point known_until;
    };
    /// A computation under way, for all who ask the same. Guarded by mutex_.
    struct Flight {
        std::optional<Answer> answer;
    };
    /// How much may still be guessed.
    struct Guesses {
        double left = 0;
        Clock::time_point at{};
        const Rate* rate = nullptr;

        void refill(Clock::time_point now) noexcept;
    };
    [[nodiscard]] Digest digest_of(std::string_view kind, std::string_view user,
                                   std::string_view password) const;
    [[nodiscard]] Guesses& guesses_of(std::uint64_t who, const Rate& rate, Clock::time_point now);
    /// Takes one guess; nothing where there is none.
    [[nodiscard]] bool take_guess(std::uint64_t host, std::uint64_t user, Clock::time_point now);
    void give_back_guess(std::uint64_t host, std::uint64_t user, Clock::time_point now);
    void remember(const Digest& digest, Clock::time_point now);
    [[nodiscard]] bool compute(const csi::UserAndPassword& evidence, const UsersPointer& users,
                               Authenticator* authenticator) const;
    [[nodiscard]] UsersPointer users_now();

    std::array<unsigned char, 32> key_{}; // of digests; constant
    Clock::time_point (*const now_)();
    const std::size_t computing_max_;

    mutable std::mutex mutex_; // guards what follows; never held while a password is hashed
    std::condition_variable computed_;
    std::size_t computing_ = 0;
    std::shared_ptr<Authenticator> authenticator_;
    UsersPointer users_; // of which what is remembered was found right
    std::unordered_map<Digest, Remembered, DigestHash> remembered_;
    std::unordered_map<Digest, std::shared_ptr<Flight>, DigestHash> flights_; // of users_ as well
    std::unordered_map<std::uint64_t, Guesses> guesses_; // by host, and by user of a host
    Guesses rest_;                                       // of whom there was no room for there
    Clock::time_point cleaned_{};                        // when guesses_ was, of those who may all

    // Null without a file.
    std::unique_ptr<files::Watched<UsersPointer>> watched_;
};

} // namespace kairos::csiv2
