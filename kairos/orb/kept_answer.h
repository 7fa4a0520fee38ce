// SPDX-License-Identifier: Apache-2.0
//
// The way of an answer that is kept until the thread sends it that may. Used by one thread at a
// time: by the one that gives the answer, and then by the one that sends it.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/cdr/buffer.h"
#include "kairos/cdr/writer.h"
#include "kairos/giop/fragments.h"
#include "kairos/orb/owed_channel.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace kairos::orb {

class KeptAnswer : public OwedChannel {
  public:
    void send(Bytes header, const cdr::Writer& body) noexcept override
    {
        try {
            const giop::Segments segments = giop::gather({}, body);
            body_.reserve(body.size());
            for (const Bytes segment : segments.view())
                body_.insert(body_.end(), segment.begin(), segment.end());
            header_.assign(header.begin(), header.end());
        } catch (const std::bad_alloc&) {
            failed_ = true;
        }
    }
    void fail() noexcept override { failed_ = true; }

    // --- by who sends it ---
    /// Calls `send` with header and body, which lie in one block of `buffer`, unless no answer is
    /// wanted. Throws std::bad_alloc, also where there was no memory before.
    template <typename Send>
    void pass_on(cdr::Buffer& buffer, Send&& send) const
    {
        if (failed_) throw std::bad_alloc();
        if (header_.empty()) return;
        const std::size_t headroom = align_up(header_.size(), 8);
        cdr::Writer body(buffer, headroom);
        body.write_bytes(body_);
        std::byte* const begin = buffer.data() + headroom - header_.size();
        std::memcpy(begin, header_.data(), header_.size());
        send(Bytes(begin, header_.size()), body);
    }

  protected:
    KeptAnswer() = default;
    ~KeptAnswer() override = default;

  private:
    std::vector<std::byte> header_;
    std::vector<std::byte> body_;
    bool failed_ = false;
};

} // namespace kairos::orb
