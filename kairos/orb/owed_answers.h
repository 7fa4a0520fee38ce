// SPDX-License-Identifier: Apache-2.0
//
// The answers that an ORB owes (owed_answer.h): how many there are, and what becomes of them when
// it ends.
#pragma once

#include "kairos/base/export.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace kairos::orb {

class OwedAnswer;

/// The answers that an ORB owes. Any thread.
class KAIROS_API OwedAnswers {
  public:
    OwedAnswers() = default;
    OwedAnswers(const OwedAnswers&) = delete;
    OwedAnswers& operator=(const OwedAnswers&) = delete;

    /// Gives every answer that is still owed, NO_RESPONSE, and waits until those are gone that
    /// others are just giving. From here on nobody can give one. Not from within an answer.
    void close() noexcept;

  private:
    friend class OwedAnswer;

    // guards what follows, and the states of all answers; inside nobody's
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t count_ = 0;       // of those below
    std::size_t being_given_ = 0; // and whatever was kept for them
    bool closed_ = false;
    OwedAnswer* first_ = nullptr; // of those that are owed, linked through themselves
};

} // namespace kairos::orb
