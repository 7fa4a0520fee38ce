// SPDX-License-Identifier: Apache-2.0
//
// Sequences that lie where the server can see them: by shared memory (shmiop://) a call passes them
// without a copy. See docs/transports.md, "Large blocks".
//
//   auto picture = kairos::corba::loan<Camera::Pixels>(camera.in(), 6'000'000);
//   fill(picture.data(), picture.length());
//   camera->show(*picture);
#pragma once

#include "kairos/client/loan.h"
#include "kairos/corba/object.h"
#include "kairos/mapping/fixed_layout.h"
#include "kairos/mapping/sequence.h"

#include <memory>
#include <utility>

namespace kairos::corba {

/// Owns a sequence, and the memory that it lies in. The sequence borrows its buffer, which goes
/// back when nobody has it any more, here or in the server: so the sequence is handed out to be
/// read and copied only, and what is moved is the loan. Its elements are written by the loan.
template <typename Sequence>
class Loan {
    using Element = typename Sequence::value_type;

  public:
    /// Takes memory of a connection over; null: the sequence has memory of its own.
    Loan(std::shared_ptr<std::byte> memory, CORBA::ULong length) : memory_(std::move(memory))
    {
        if (memory_ == nullptr) {
            sequence_.length(length);
            return;
        }
        auto* const elements = reinterpret_cast<Element*>(memory_.get());
        if constexpr (Sequence::kairos_bound == 0)
            sequence_.replace(length, length, elements, false);
        else
            sequence_.replace(length, elements, false);
    }
    Loan(Loan&&) noexcept = default;
    /// What this was goes back; `other` is empty then.
    Loan& operator=(Loan&& other) noexcept
    {
        Loan taken(std::move(other));
        std::swap(memory_, taken.memory_);
        std::swap(sequence_, taken.sequence_);
        return *this;
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() = default;

    [[nodiscard]] const Sequence& operator*() const noexcept { return sequence_; }
    [[nodiscard]] const Sequence* operator->() const noexcept { return &sequence_; }
    /// Returns whether the sequence lies in memory that the server has, too.
    [[nodiscard]] bool is_shared() const noexcept { return memory_ != nullptr; }

    [[nodiscard]] CORBA::ULong length() const noexcept { return sequence_.length(); }
    [[nodiscard]] Element* data() noexcept { return sequence_.get_buffer(); }
    [[nodiscard]] Element* begin() noexcept { return data(); }
    [[nodiscard]] Element* end() noexcept { return data() + length(); }
    [[nodiscard]] Element& operator[](CORBA::ULong index) noexcept { return data()[index]; }
    /// Makes it shorter, or longer: beyond what was asked for it is moved to memory of its own.
    void length(CORBA::ULong length)
    {
        sequence_.length(length);
        if (sequence_.release()) memory_.reset();
    }

  private:
    std::shared_ptr<std::byte> memory_; // outlives the sequence
    Sequence sequence_;
};

/// Returns a sequence of so many elements, not initialised, in memory from which calls of this
/// thread on `object` copy nothing; an ordinary one where there is none such: for nil, where the
/// way to the object is not shared memory, where the sequence has less than 64 KiB, or where
/// nothing is free (-ORBLoanMemory). It may be written again when the reply to a call with it has
/// come: after a oneway, and a call that ended otherwise (by a timeout, a lost connection, AMI
/// whose reply was not waited for), the server may still look at it. For elements of fixed length
/// of which every bit pattern is a value, for the server can write there: no booleans, no enums.
/// Throws CORBA::BAD_PARAM for more elements than the sequence may have.
template <typename Sequence>
    requires mapping::FixedLength<typename Sequence::value_type> &&
             (!mapping::Marshal<typename Sequence::value_type>::is_checked)
[[nodiscard]] Loan<Sequence> loan(CORBA::Object_ptr object, CORBA::ULong length)
{
    constexpr CORBA::ULong bound = Sequence::kairos_bound; // of whose elements there is always room
    if (bound != 0 && length > bound) mapping::raise_sequence_bound_exceeded();
    const std::size_t size =
        std::size_t{bound != 0 ? bound : length} * sizeof(typename Sequence::value_type);
    const bool has_reference = object != nullptr && object->_kairos_reference();
    return {has_reference ? orb::loan(*object->_kairos_reference(), size) : nullptr, length};
}

} // namespace kairos::corba
