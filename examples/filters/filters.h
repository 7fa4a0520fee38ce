// SPDX-License-Identifier: Apache-2.0
//
// Three filters: one logs, one chooses who serves, one says how much may be under way. All of them
// run in the one thread that reads, one request at a time, and must not block it.
#pragma once

#include <kairos/server/filter.h>

#include <atomic>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

/// Logs every request, those that later filters refuse as well. A server that is busy would hand
/// the lines to a thread: whoever reads this output must not hold up everybody.
class Journal final : public kairos::orb::RequestFilter {
  public:
    Verdict filter(kairos::orb::FilteredRequest& request) noexcept override
    {
        std::cout << "asked: " + std::string(request.operation) + " by " +
                         request.peer.host_text() + '\n'; // in one piece, for others print too
        return Verdict::pass;
    }
};

/// Slow operations have the second pool for themselves, so that the others never wait for them.
class PoolByOperation final : public kairos::orb::RequestFilter {
  public:
    explicit PoolByOperation(std::set<std::string, std::less<>> slow) : slow_(std::move(slow)) {}
    Verdict filter(kairos::orb::FilteredRequest& request) noexcept override
    {
        request.pool = slow_.contains(request.operation) ? 1 : 0;
        return Verdict::pass;
    }

  private:
    const std::set<std::string, std::less<>> slow_;
};

/// One operation is for nobody, and of the others so many may be under way: who asks for more gets
/// TRANSIENT, and may try again. Stands last, for on_done tells of requests that passed all
/// filters: one that another refused behind this would be counted for ever.
class Admission final : public kairos::orb::RequestFilter {
  public:
    Admission(int most, std::string forbidden) : most_(most), forbidden_(std::move(forbidden)) {}
    Verdict filter(kairos::orb::FilteredRequest& request) noexcept override
    {
        if (request.operation == forbidden_) return Verdict::refuse; // NO_PERMISSION
        if (under_way_ >= most_) return Verdict::later;
        ++under_way_;
        return Verdict::pass;
    }
    void on_done() noexcept override { --under_way_; }

  private:
    const int most_;
    const std::string forbidden_;
    std::atomic<int> under_way_{0}; // on_done comes from the threads of the pools
};
