// SPDX-License-Identifier: Apache-2.0
//
// What `resolve` answered lately, as it goes over the wire: from the octets of a request's name to
// those of its reply, neither decoded again. An answer counts as long as the store's changes() is
// what it was when the answer was looked up, so none outlives a change that was acknowledged. Any
// thread; those that look up do not wait for each other.
#pragma once

#include "kairos/cdr/codeset.h"
#include "kairos/nameserver/store.h"

#include <array>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace kairos::nameserver {

class Answers {
  public:
    /// Requests with equal questions mean the same name. Borrows the request's octets.
    struct Question {
        ContextId context = root_context; ///< that was called
        const cdr::TextForm* text = nullptr;
        bool swapped = false;
        Bytes name; ///< as it was encoded
        [[nodiscard]] std::size_t hash() const noexcept;
    };
    /// The question of a request whose arguments have not been read yet; none for one in parts.
    [[nodiscard]] static std::optional<Question> question_of(ContextId context,
                                                             const cdr::Reader& in) noexcept;

    /// At most about so many, 0 for none. Each has its place, and a later one there replaces it.
    explicit Answers(std::size_t answers_max);

    /// Writes the answer to an empty body; false if it is not known or no longer true.
    [[nodiscard]] bool write(const Question& question, std::uint64_t changes,
                             cdr::Writer& out) const;
    /// `changes` is what the store's were before it was asked.
    void keep(const Question& question, std::uint64_t changes, Bytes answer);

  private:
    static constexpr std::size_t shards_count = 16; // each with a lock
    /// Larger ones are looked up every time, so that the memory for all is bounded, too.
    static constexpr std::size_t name_octets_max = 1024;
    static constexpr std::size_t answer_octets_max = 4096;

    struct Kept {
        Question question; // without its name, with which `octets` begins
        std::uint64_t changes = 0;
        std::size_t name_size = 0;
        std::vector<std::byte> octets; // the name, then the answer; none: nothing is kept
        [[nodiscard]] bool answers(const Question& other, std::uint64_t changes_now) const noexcept;
    };
    struct alignas(64) Shard {
        mutable std::shared_mutex mutex; // guards kept
        std::vector<Kept> kept;
    };

    std::array<Shard, shards_count> shards_;
    const std::size_t kept_per_shard_;
};

} // namespace kairos::nameserver
