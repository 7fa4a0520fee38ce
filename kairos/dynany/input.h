// SPDX-License-Identifier: Apache-2.0
//
// Reads what types::copy_value or Output has written: one value, valid as its TypeCode says, in
// this machine's byte order. Remembers which values of valuetypes were met, so that what is shared
// stays so. Used by one thread, for one value.
#pragma once

#include "kairos/cdr/reader.h"
#include "kairos/dynany/node.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace kairos::dynany {

class Input final : cdr::ChunkSource {
  public:
    explicit Input(cdr::Reader& in) : in_(in) {}
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    /// For everything but values of valuetypes.
    [[nodiscard]] cdr::Reader& data() noexcept { return in_; }
    /// The value for a place: a new one is a `made` one with its members read. Null for null.
    [[nodiscard]] std::shared_ptr<ValueState> value(ValueNode& place);
    /// Throws InvalidValue if anything was not as it should be.
    void finish() const;

  private:
    void next_chunk(cdr::Reader& in) noexcept override;
    [[nodiscard]] std::byte* gathered(std::size_t size) override;
    [[nodiscard]] std::uint32_t read_tag();
    [[nodiscard]] std::shared_ptr<ValueState> shared();
    void skip_id();
    void skip_ids(std::uint32_t tag);
    void read_state(ValueState& state, bool chunked);

    cdr::Reader& in_;
    std::unordered_map<std::size_t, std::shared_ptr<ValueState>> known_; // by where they begin
    std::vector<std::unique_ptr<std::byte[]>> gathered_;
    std::size_t level_ = 0; // of chunked values
};

} // namespace kairos::dynany
