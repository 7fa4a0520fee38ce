// SPDX-License-Identifier: Apache-2.0
//
// Filters in front of the servants (the thread framework of paper 003, -ORBConcurrency
// filter-chain): each request passes all of them, in order, in the thread that has read it, before
// it is queued for a pool of threads.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/net/address.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kairos::orb {

/// A request that a filter looks at. Views into it last as long as the call.
struct KAIROS_API FilteredRequest {
    std::string_view operation;
    Bytes object_key;
    const net::Address& peer;
    std::size_t argument_bytes = 0;
    bool response_expected = false;
    /// The pool that will serve the request, beginning with 0; filters may choose another. A number
    /// beyond the last means the last.
    std::size_t pool = 0;
};

class KAIROS_API RequestFilter {
  public:
    RequestFilter() = default;
    RequestFilter(const RequestFilter&) = delete;
    RequestFilter& operator=(const RequestFilter&) = delete;
    virtual ~RequestFilter() = default;

    enum class Verdict : std::uint8_t {
        pass,   ///< to the next filter, and at last to its pool
        refuse, ///< the caller gets NO_PERMISSION
        later,  ///< the caller gets TRANSIENT: it may try again
    };
    /// Looks at a request and says what becomes of it. Called in the one thread that reads; must
    /// not block, for nothing is read meanwhile.
    [[nodiscard]] virtual Verdict filter(FilteredRequest& request) noexcept = 0;
    /// Hears that a request that had passed all filters was answered. Any thread.
    virtual void on_done() noexcept {}
};

} // namespace kairos::orb
