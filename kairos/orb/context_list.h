// SPDX-License-Identifier: Apache-2.0
//
// Service contexts that a call or reply adds to those of its connection. Belongs to one message of
// one thread at a time; its memory lasts from message to message.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/cdr/buffer.h"

#include <cstddef>
#include <cstdint>

namespace kairos::giop {
class ServiceContexts;
} // namespace kairos::giop

namespace kairos::orb {

/// An encoded list of service contexts, which grows with them. What may throw throws std::bad_alloc
/// where there is no memory, and CORBA::IMP_LIMIT where the list would have more contexts, or more
/// octets, than peers of this kind take.
class KAIROS_API ContextList {
  public:
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::uint32_t count() const noexcept;
    /// Returns the list as GIOP's headers take it: nothing at all if there are no contexts.
    [[nodiscard]] Bytes bytes() const noexcept { return {buffer_.data(), size_}; }
    /// Returns the contexts, for looking into; the views last until the list changes.
    [[nodiscard]] giop::ServiceContexts contexts() const noexcept;

    /// Removes all contexts. Memory for very many is given back.
    void clear() noexcept;
    /// Adds a context behind the others, whether or not there is one of this id.
    void append(std::uint32_t id, Bytes data);
    /// Adds the contexts of an encoded list behind the others.
    void append(Bytes list);
    /// Removes the first context of this id; returns false if there is none.
    bool remove(std::uint32_t id) noexcept;

  private:
    /// Makes room for `count` contexts more behind those there are, in `size` octets; returns it.
    std::byte* grow(std::uint32_t count, std::size_t size);

    cdr::Buffer buffer_;
    std::size_t size_ = 0;
};

} // namespace kairos::orb
