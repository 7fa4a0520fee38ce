// SPDX-License-Identifier: Apache-2.0
//
// Several stores of a kind in one database, its shares, each of which one process at a time owns
// (owned_store.h). Processes that have the same database take those that nobody has, as many each
// as are their part, and give one back where another process has fewer: each looks from time to
// time, and when another says by NOTIFY that something has changed. A table says where the owner
// of each is.
#pragma once

#include "kairos/base/pool.h"
#include "kairos/postgres/connection.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace kairos::postgres {

struct SharesOptions {
    std::string url;
    const char* program; ///< as for Connection::open
    const char* owner;   ///< what messages call a process that has some: "notification service"
    const char* table;   ///< of a store's own row, as OwnedOptions has it
    unsigned count;      ///< how many are made where there are none yet; more than one
    std::chrono::milliseconds timeout;         ///< of each statement
    std::chrono::milliseconds opening_timeout; ///< of what is asked before it is open
    std::chrono::milliseconds look_interval;   ///< between looks, if nobody says anything
};

/// What is done with the shares of this process. Called by one thread, one after the other.
struct SharesUse {
    /// Opens the store of a share that nobody owns, and serves it; false: it could not be.
    std::function<bool(unsigned share)> take;
    /// Ends serving it, and closes its store; false: it is to stay here.
    std::function<bool(unsigned share)> give_back;
    /// Ends serving a share whose store another process has taken over, and closes the store.
    std::function<void(unsigned share)> drop;
};

/// Any thread.
class Shares {
  public:
    /// Makes the table if it is not there. Null where the database has a store that one process has
    /// alone: it stays that. Fails for a database that cannot be reached.
    [[nodiscard]] static Result<std::unique_ptr<Shares>> open(const SharesOptions& options);
    Shares(const Shares&) = delete;
    Shares& operator=(const Shares&) = delete;
    /// As end().
    ~Shares();

    /// They are numbered from 1 on.
    [[nodiscard]] unsigned count() const noexcept { return count_; }
    /// Begins to take them; returns when this process has what it takes at first. Others are told
    /// that it is at this address. To be called once.
    void begin(SharesUse use, std::string address);
    /// Nothing is taken or given back from here on. What this process has is to be ended after it.
    void end() noexcept;

    /// What is to be executed where a share becomes this process's (OwnedOptions).
    [[nodiscard]] std::vector<std::string> announcement(unsigned share) const;
    /// Where its owner is, as far as that is known; empty where nobody is, or this process.
    [[nodiscard]] std::string address_of(unsigned share) const;
    /// Whether a process has had it at some time, so that there are tables.
    [[nodiscard]] bool has_tables(unsigned share) const;
    /// Another process has taken this store over: it is dropped soon.
    void note_lost(unsigned share) noexcept;
    /// Has the store of a share read, beside its owner. False where the database cannot be reached.
    [[nodiscard]] bool read(const std::function<Rows(Connection&)>& ask);

  private:
    using Clock = std::chrono::steady_clock;
    struct Share {
        std::string address{};
        bool is_owned = false; // by whom ever
        bool is_ours = false;
        Clock::time_point unowned_since{};
        Clock::time_point not_before{};      // it is tried again
        Clock::time_point elsewhere_since{}; // last seen not at our address with somebody else
        std::chrono::seconds pause{0};       // before that: longer each time
    };

    Shares(const SharesOptions& options, std::unique_ptr<Connection> connection,
           std::unique_ptr<Connection> reader, unsigned count, int waker);

    [[nodiscard]] static Result<unsigned> make_table(Connection& connection,
                                                     const SharesOptions& options);
    void run() noexcept;
    [[nodiscard]] bool look();
    [[nodiscard]] bool attend();
    [[nodiscard]] bool act();
    [[nodiscard]] bool take(unsigned share);
    [[nodiscard]] bool give_one_back();
    void leave_others() noexcept;
    void note_present(std::size_t count);
    void drop_lost();
    static void leave(Share& share);
    void tell() noexcept;
    void wait() noexcept;

    const SharesOptions options_;
    const std::string table_; // which says where they are
    const unsigned count_;
    const int waker_; // readable: the thread is to look
    SharesUse use_;   // this and the next before the thread begins
    std::string address_;
    // Of the thread.
    const std::unique_ptr<Connection> connection_;
    bool attends_ = false; // is counted, and hears what others say, by this session
    Clock::time_point not_before_{};
    std::size_t present_ = 1;              // processes
    unsigned given_ = 0;                   // given back, and nobody has it yet
    std::chrono::seconds giving_pause_{0}; // longer each time that nobody wanted what was given
    Clock::time_point give_not_before_{};
    bool has_said_ = false;
    bool has_twin_ = false;
    std::minstd_rand random_{std::random_device{}()};

    Pool<Connection> reader_;
    std::atomic<bool> is_ending_{false};
    mutable std::mutex mutex_; // guards what follows; nothing is called while it is held
    std::condition_variable changed_;
    std::map<unsigned, Share> shares_;
    std::set<unsigned> lost_;
    bool is_settled_ = false;
    std::thread thread_; // of who begins and ends this
};

} // namespace kairos::postgres
