// SPDX-License-Identifier: Apache-2.0
//
// Whether a password is right, for the requests of a server: what was found to be right is
// remembered for the connection, so that one computation does for many calls; and whoever guesses
// is held up, so that guesses do not take the processor from others. Any thread.
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
#include <string>
#include <string_view>
#include <unordered_map>

namespace kairos::csiv2 {

class Passwords {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds remembered_for{60};
    static constexpr std::size_t remembered_max = 4096; ///< and then none of those before
    /// Wrong ones of a host at once; then one a second.
    static constexpr unsigned wrong_at_once = 10;
    static constexpr std::size_t hosts_max = 4096;
    /// How long a request waits until others have computed.
    static constexpr std::chrono::seconds wait_max{2};

    /// Reads the file of users, whose name may be empty: then there are none. Throws BAD_PARAM for
    /// one that cannot be used.
    explicit Passwords(const std::string& users_file);

    /// Asks another instead, from now on.
    void set_authenticator(std::shared_ptr<Authenticator> authenticator);
    /// Returns whether there is anybody to ask.
    [[nodiscard]] bool are_taken() const;

    enum class Answer {
        right,
        wrong,
        later, ///< nobody was asked: too many at once, or too many wrong ones of this host
    };
    /// `connection` stands for the connection that the password has come by, `host` for its peer.
    [[nodiscard]] Answer ask(std::string_view connection, std::uint64_t host,
                             const csi::UserAndPassword& evidence);

  private:
    using UsersPointer = std::shared_ptr<const Users>;
    using Digest = std::array<unsigned char, 32>;
    struct DigestHash {
        std::size_t operator()(const Digest& digest) const noexcept;
    };
    /// How much a host may still guess.
    struct Guesses {
        double left = 0;
        Clock::time_point at{};
    };
    /// Those that are right have one each while they are computed.
    [[nodiscard]] double guesses_max() const noexcept
    {
        return static_cast<double>(wrong_at_once + computing_max_);
    }

    [[nodiscard]] Digest digest_of(std::string_view connection,
                                   const csi::UserAndPassword& evidence) const;
    [[nodiscard]] Guesses& guesses_of(std::uint64_t host, Clock::time_point now);
    [[nodiscard]] bool compute(const csi::UserAndPassword& evidence, const UsersPointer& users,
                               Authenticator* authenticator) const;
    [[nodiscard]] UsersPointer users_now();

    std::array<unsigned char, 32> key_{}; // of digests; constant
    const std::size_t computing_max_;

    mutable std::mutex mutex_; // guards what follows; never held while a password is hashed
    std::condition_variable computed_;
    std::size_t computing_ = 0;
    std::shared_ptr<Authenticator> authenticator_;
    UsersPointer users_; // of which what is remembered was found right
    std::unordered_map<Digest, Clock::time_point, DigestHash> right_; // and until when
    std::unordered_map<std::uint64_t, Guesses> guesses_;

    // Null without a file.
    std::unique_ptr<files::Watched<UsersPointer>> watched_;
};

} // namespace kairos::csiv2
