// SPDX-License-Identifier: Apache-2.0
//
// What belongs to a message rather than to its bytes, and is therefore at hand wherever values are
// written or read: a Writer and a Reader carry a pointer to one. On the stack of the call; one
// thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/owner.h"

#include <cstdint>

namespace kairos::orb {
class Orb;
}

namespace kairos::cdr {

struct TextForm; // codeset.h

/// What a layer above CDR remembers while one message is written or read: which valuetypes have
/// been met and where, above all.
class KAIROS_API Attachment {
  public:
    Attachment() = default;
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;
    virtual ~Attachment() = default;
    /// Called when the message was read whole and what was read from it goes to the program.
    virtual void accept() noexcept {}
};

struct KAIROS_API Environment {
    orb::Orb* orb = nullptr; ///< that references belong to; opaque here
    std::uint8_t giop_minor = 2;
    /// How text travels; null: characters as they are, wide ones as UTF-16 in GIOP 1.2's form.
    const TextForm* text = nullptr;
    mutable bool wide_text_written = false; ///< set by the functions of codeset.h
    /// The ORB's values::Registry; null where there is none. Borrowed.
    Attachment* value_factories = nullptr;
    mutable Owner<Attachment> values_written{};
    mutable Owner<Attachment> values_read{};
    /// Counts the owners of `orb`, for values that outlive the message; null where `orb` is.
    const RefCounted* orb_owner = nullptr;
    /// Whether an exception in an Any has its repository id in front.
    bool exception_id_in_any = true;

    /// To be called when everything was read and nothing was malformed: until then whatever values
    /// were made from the message belong to it and go with it.
    void accept_values() const noexcept
    {
        if (values_read != nullptr) [[unlikely]] {
            values_read->accept();
            values_read.reset();
        }
    }
};

} // namespace kairos::cdr
