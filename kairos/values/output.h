// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of the values written into one message: where each is, which repository ids
// were written, and the chunk that is open. Attached to the message's cdr::Environment.
//
// In TAO's form (input.h) values within are in the chunk of the one around. The classes of a
// value's line share a chunk: TAO reads that where it knows the value's own type, and cannot
// truncate it.
#pragma once

#include "kairos/cdr/environment.h"
#include "kairos/cdr/writer.h"
#include "kairos/values/value_base.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace kairos::values {

class Output final : public cdr::Attachment {
  public:
    /// The Output of the message being written. Throws MARSHAL if that has no environment.
    [[nodiscard]] static Output& of(cdr::Writer& out);

    ~Output() override;

    void write(cdr::Writer& out, const CORBA::ValueBase* value, const Type* formal);

  private:
    /// Closes the chunk for as long as a value within a chunked one is written.
    void open_chunk(cdr::Writer& out);
    void close_chunk(cdr::Writer& out);
    void write_tag(cdr::Writer& out, const Type& type, const Type* formal, bool chunked);
    void write_id(cdr::Writer& out, std::string_view id);
    void write_ids(cdr::Writer& out, const Type& type);
    void write_state(cdr::Writer& out, const CORBA::ValueBase& value, bool chunked);
    /// Writes the state of a chunked value within the open chunk of another.
    void write_state_in_chunk(cdr::Writer& out, const CORBA::ValueBase& value);
    /// Writes an indirection to what is at `position` of the stream.
    static void write_indirection(cdr::Writer& out, std::size_t position);

    /// Positions in the stream, by the address of the whole object. Each is counted until the
    /// message is done: another value must not come to be at its address.
    std::unordered_map<const void*, std::size_t> values_;
    std::vector<CORBA::ValueBase*> counted_;
    std::unordered_map<std::string_view, std::size_t> ids_;
    std::size_t depth_ = 0;  // of values within values
    std::int32_t level_ = 0; // of chunked values within chunked values
    bool tao_chunks_ = false;
    struct Chunk {
        bool is_open = false;
        std::size_t begin = 0;     // of the open one's data, in the stream
        std::size_t length_at = 0; // and of its length, in the buffer
        std::size_t before = 0;    // the buffer's position in front of it all
    } chunk_;
};

} // namespace kairos::values
