// SPDX-License-Identifier: Apache-2.0
//
// Writes one value as compiled code writes it: the same octets. Remembers which values of
// valuetypes were written, and where, so that what is shared arrives so. Used by one thread, for
// one value.
#pragma once

#include "kairos/cdr/writer.h"
#include "kairos/dynany/node.h"

#include <unordered_map>

namespace kairos::dynany {

class Output {
  public:
    /// Whoever receives an Any of a value of a valuetype is told which it is, as `is_typed` wants;
    /// elsewhere its place says so.
    Output(cdr::Writer& out, bool is_typed) : out_(out), is_typed_(is_typed) {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// For everything but values of valuetypes.
    [[nodiscard]] cdr::Writer& data();
    /// Writes the state, or null, where the type is `formal`. Throws IMP_LIMIT for values nested
    /// deeper than limits::values_nesting_max.
    void value(const ValueState* state, const types::TypeCodeData& formal);

  private:
    void write_tag(const types::TypeCodeData& type, bool typed, bool chunked);
    void write_ids(const types::TypeCodeData& type);
    void write_state(const ValueState& state, bool chunked);
    void close_chunk();

    cdr::Writer& out_;
    std::unordered_map<const ValueState*, std::size_t> written_; // and where
    bool is_typed_;
    std::size_t depth_ = 0;
    std::int32_t level_ = 0;   // of chunked values
    std::size_t chunk_at_ = 0; // where the size of the open chunk is
    bool has_chunk_ = false;   // whether one is open
};

} // namespace kairos::dynany
