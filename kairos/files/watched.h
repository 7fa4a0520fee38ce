// SPDX-License-Identifier: Apache-2.0
//
// What files say, as they are now: whoever asks has what was read last, and files that were
// replaced by ones that cannot be used leave that in force. Any thread.
#pragma once

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/base/result.h"
#include "kairos/files/limits.h"
#include "kairos/files/stamps.h"
#include "kairos/net/priority_mutex.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kairos::files {

/// A T is made of the files, and copied for all who ask.
template <typename T>
class Watched {
  public:
    using Clock = std::chrono::steady_clock;

    struct Source {
        std::vector<std::string> files; ///< and folders
        /// Reads them. What is wrong says an error, which names the file.
        std::function<Result<T>()> read;
        /// Returns what tells two contents of the files apart.
        std::function<std::string()> contents;

        /// Called with what was read anew, when it is in force and before the log says so.
        std::function<void(const T&)> taken{};

        // --- what the log says ---
        std::string changed;  ///< when what was read anew is in force
        std::string kept;     ///< behind the reason why it is not
        std::string failed;   ///< when there is no memory to look
        std::string reread{}; ///< when what has not changed was read once more and is in force
    };

    explicit Watched(Source source) : source_(std::move(source)) {}

    /// Returns what is in force now. Looks at the files if nobody has within watch_interval, and
    /// reads them if they have changed: files that cannot be used then leave in force what was read
    /// before, which the log says once, and are read again at each look, whether they change or
    /// not: the system may have had no descriptor for them. Only where nothing was ever read it is
    /// an error. One thread looks at a time, and no other waits for it: they have what is in force.
    [[nodiscard]] Result<T> get(Clock::time_point now = Clock::now())
    {
        bool is_first = false;
        {
            const std::lock_guard lock(mutex_);
            is_first = !state_;
            if (!is_first) {
                if (is_looking_ || now - looked_ < watch_interval) return state_->value;
                is_looking_ = true;
                looked_ = now;
            }
        }
        if (is_first) return read_first(now);
        look();
        const std::lock_guard lock(mutex_);
        return state_->value;
    }

    /// Reads the files now, whatever their stamps say, if they were ever read; the log says what
    /// came of it, also if they are as before. Returns false if they never were. Where another
    /// thread looks at the time, that one reads them once more when it is done.
    bool reread(Clock::time_point now = Clock::now())
    {
        {
            const std::lock_guard lock(mutex_);
            if (!state_) return false;
            is_asked_ = true;
            if (is_looking_) return true;
            is_looking_ = true;
            looked_ = now;
        }
        look();
        return true;
    }

  private:
    struct State {
        Stamps stamps; // of the files, from before they were read
        T value;
        // What was in the files before they were read, if their stamps were too fresh to tell
        // whether they were changed since; the next look compares it, once.
        std::string contents;
    };
    struct Failure {
        Stamps stamps;
        std::string reason;
        friend bool operator==(const Failure&, const Failure&) = default;
    };

    /// By who has set is_looking_: looks at the files, and again as long as somebody asks for it
    /// meanwhile.
    void look()
    {
        bool is_asked = false;
        {
            const std::lock_guard lock(mutex_);
            is_asked = std::exchange(is_asked_, false);
        }
        try {
            do {
                look_at_files(is_asked);
                is_asked = is_still_asked();
            } while (is_asked);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            is_looking_ = false;
            throw;
        }
    }
    /// Else the thread looks no more.
    [[nodiscard]] bool is_still_asked()
    {
        const std::lock_guard lock(mutex_);
        is_looking_ = is_asked_;
        return std::exchange(is_asked_, false);
    }

    /// Several threads may, at once. All go on with what one of them has read.
    [[nodiscard]] Result<T> read_first(Clock::time_point now)
    {
        auto read = read_files(Stamps(source_.files));
        if (!read) return read.error();
        const std::lock_guard lock(mutex_);
        if (!state_) {
            state_ = std::move(read).value();
            looked_ = now;
        }
        return state_->value;
    }

    /// The stamps are of before: what is written meanwhile is seen the next time.
    [[nodiscard]] Result<State> read_files(const Stamps& stamps) const
    {
        std::string contents = stamps.are_fresh() ? source_.contents() : std::string();
        auto made = source_.read();
        if (!made) return made.error();
        return State{
            .stamps = stamps, .value = std::move(made).value(), .contents = std::move(contents)};
    }

    /// Only by the thread that looks: nobody else changes what is in force.
    [[nodiscard]] bool are_unchanged(const Stamps& stamps)
    {
        if (stamps != state_->stamps) return false;
        if (state_->contents.empty()) return true;
        if (source_.contents() != state_->contents) return false;
        state_->contents.clear();
        return true;
    }

    /// By one thread at a time.
    void look_at_files(bool is_asked)
    {
        assert_not_held(mutex_);
        try {
            Stamps stamps(source_.files);
            const bool is_same = !failure_ && are_unchanged(stamps);
            if (is_same && !is_asked) return;
            auto read = read_files(stamps);
            if (read) {
                State before = std::move(read).value();
                {
                    const std::lock_guard lock(mutex_);
                    std::swap(*state_, before);
                }
                // Whoever has read of the failure reads of its end, and who asked of what came of
                // it.
                const auto level = failure_ || is_asked ? log::Level::warning : log::Level::info;
                failure_.reset();
                if (source_.taken) source_.taken(state_->value); // which only this thread changes
                log::write(level, is_same ? source_.reread : source_.changed);
                return;
            }
            Failure failure{.stamps = std::move(stamps), .reason = read.error().reason};
            if (failure_ == failure && !is_asked) return;
            failure_ = std::move(failure);
            log::warning(log::Line() << failure_->reason << source_.kept);
        } catch (const std::bad_alloc&) { // the next look is as this
            log::warning(source_.failed);
        }
    }

    const Source source_;

    // guards what follows; inherits priorities, and is held for a few instructions: not while files
    // are looked at, nor while the log is written
    net::PriorityMutex mutex_;
    std::optional<State> state_; // empty: nothing was ever read
    Clock::time_point looked_{}; // when the last look began
    bool is_asked_ = false;      // that they are read, whatever their stamps say
    bool is_looking_ = false;    // one thread, which may use what follows

    std::optional<Failure> failure_; // of the last look
};

} // namespace kairos::files
