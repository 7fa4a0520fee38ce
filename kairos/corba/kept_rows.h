// SPDX-License-Identifier: Apache-2.0
//
// What services have in common that keep their state in a Journal: values of IDL types as the
// octets of a row, and what clients are told where the journal fails. Any thread; each writer and
// reader belongs to one.
#pragma once

#include "kairos/base/journal.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/orb_state.h"
#include "kairos/mapping/marshal.h"
#include "kairos/orb/orb.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::corba {

/// The layout of all rows: this octet, that which says the byte order, and CDR from there on,
/// aligned from the first octet.
inline constexpr std::uint8_t row_version = 1;

/// Writes the values of a row one behind the other.
class RowWriter {
  public:
    /// `orb`, which may be nil, is what references and valuetypes belong to.
    explicit RowWriter(CORBA::ORB_ptr orb) : out_(buffer_), copies_(out_)
    {
        if (orb != nullptr) environment_.orb = &orb->_kairos_core();
        environment_.orb_owner = environment_.orb;
        if (orb != nullptr) environment_.value_factories = environment_.orb->value_factories();
        out_.set_environment(&environment_);
        out_.write(row_version);
        out_.write(static_cast<std::uint8_t>(native_little_endian));
    }
    RowWriter(const RowWriter&) = delete;
    RowWriter& operator=(const RowWriter&) = delete;

    template <typename T>
    RowWriter& put(const T& value)
    {
        mapping::encode(out_, value);
        return *this;
    }
    RowWriter& put(const std::string& text)
    {
        mapping::encode_string(out_, text.c_str());
        return *this;
    }
    [[nodiscard]] std::string row() const { return std::string(as_text(out_.contiguous())); }

  private:
    cdr::Buffer buffer_;
    cdr::Writer out_;
    cdr::Writer::CopyAll copies_;
    cdr::Environment environment_;
};

/// Reads them again. What a row says is believed only if is_whole() says so, at the end.
class RowReader {
  public:
    /// Borrows the row.
    RowReader(std::string_view row, CORBA::ORB_ptr orb)
    {
        if (row.size() < 2 || static_cast<std::uint8_t>(row[0]) != row_version ||
            static_cast<std::uint8_t>(row[1]) > 1)
            return; // nothing is left to be read
        in_ = cdr::Reader(as_bytes(row), row[1] == 1, 2);
        has_begun_ = true;
        if (orb != nullptr) environment_.orb = &orb->_kairos_core();
        environment_.orb_owner = environment_.orb;
        if (orb != nullptr) environment_.value_factories = environment_.orb->value_factories();
        in_.set_environment(&environment_);
    }
    RowReader(const RowReader&) = delete;
    RowReader& operator=(const RowReader&) = delete;

    /// What it makes is bounded by the octets that are there. May throw MARSHAL and others for what
    /// is no such value.
    template <typename T>
    RowReader& get(T& value)
    {
        if (has_begun_ && in_.ok()) mapping::decode(in_, value);
        return *this;
    }
    RowReader& get(std::string& text)
    {
        CORBA::String_var read;
        if (has_begun_ && in_.ok()) mapping::decode_string(in_, read);
        if (read.in() != nullptr) text = read.in();
        return *this;
    }
    /// Whether everything was read, and nothing is behind it.
    [[nodiscard]] bool is_whole()
    {
        if (!has_begun_ || !in_.ok() || in_.left() != 0) return false;
        environment_.accept_values();
        return true;
    }

  private:
    cdr::Reader in_;
    cdr::Environment environment_;
    bool has_begun_ = false;
};

/// "2 type 00000000000000ff": keys are ordered as what they stand for depends on each other.
[[nodiscard]] inline std::string row_key(std::string_view kind, std::uint64_t number)
{
    std::string key(kind);
    for (int shift = 60; shift >= 0; shift -= 4)
        key += "0123456789abcdef"[number >> shift & 15];
    return key;
}

/// The number behind this beginning of a key, which is taken off; none if it is another key.
[[nodiscard]] inline std::optional<std::uint64_t> take_number(std::string_view& key,
                                                              std::string_view kind)
{
    constexpr std::size_t digits = 16;
    if (!key.starts_with(kind) || key.size() < kind.size() + digits) return std::nullopt;
    const std::string_view text = key.substr(kind.size(), digits);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number, 16);
    if (error != std::errc() || end != text.data() + digits ||
        row_key(kind, number) != key.substr(0, kind.size() + digits))
        return std::nullopt;
    key.remove_prefix(kind.size() + digits);
    return number;
}

/// Throws what a client is told of a change that was not made: NO_RESOURCES, TRANSIENT or
/// PERSIST_STORE, which is COMPLETED_MAYBE where nobody knows.
inline void raise_unless_done(JournalStatus status)
{
    switch (status) {
    case JournalStatus::done:
        return;
    case JournalStatus::full:
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "the store has no room");
    case JournalStatus::busy:
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the store does not answer");
    case JournalStatus::broken:
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO, "the store has failed");
    case JournalStatus::uncertain:
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_MAYBE,
                                   "the store has failed: the change may be there or not");
    }
}

} // namespace kairos::corba
