// SPDX-License-Identifier: Apache-2.0
//
// The walk through one value in CDR as its TypeCode says: what copy.h offers. copy.cpp has the
// types of plain data, copy_values.cpp valuetypes. Used by one thread, for one value.
#pragma once

#include "kairos/base/limits.h"
#include "kairos/base/stack.h"
#include "kairos/types/copy.h"

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kairos::types {

/// A number of CDR: how long it is and how it is aligned. Of other kinds the size is 0.
struct Number {
    std::uint8_t size = 0;
    std::uint8_t alignment = 0;
};

/// Walks one value. `out` is null when it is only passed over.
class Walk final : cdr::ChunkSource {
  public:
    Walk(cdr::Reader& in, cdr::Writer* out, CopyRules* rules = nullptr)
        : in_(in), out_(out), rules_(rules)
    {
    }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    void value(const CORBA::TypeCode& type);
    [[nodiscard]] Found found() const noexcept { return found_; }

  private:
    /// Sequences and arrays within each other, beside the structs and the like, which nest as deep
    /// as compiled code takes them.
    static constexpr std::size_t linear_max = 4 * limits::nesting_max;

    class Level {
      public:
        Level(cdr::Reader& in, std::size_t& depth, std::size_t depth_max, std::uintptr_t stack_end)
            : depth_(depth)
        {
            if (++depth_ > depth_max || !is_above(stack_end)) in.fail(cdr::Fault::nesting_too_deep);
        }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        ~Level() { --depth_; }

      private:
        std::size_t& depth_;
    };

    void constructed(const TypeCodeData& data);
    void numbers(const TypeCodeData& data, Number number, std::size_t count);
    [[nodiscard]] bool valid(const TypeCodeData& data, const std::byte* at,
                             std::size_t count) const;
    void numbers_one_by_one(const TypeCodeData& data, Number number, std::size_t count);
    /// Whether chars cannot be moved as they are.
    [[nodiscard]] bool converts_characters();
    void string(const TypeCodeData& data);
    void wide_string(const TypeCodeData& data);
    CORBA::WChar wide_character();
    char character();
    void elements(const CORBA::TypeCode& element, std::size_t count);
    [[nodiscard]] bool pass_over_structs(const TypeCodeData& data, std::size_t count);
    [[nodiscard]] bool pass_over_numbers(const TypeCodeData& data, std::size_t& at,
                                         unsigned& steps);
    void sequence(const TypeCodeData& data);
    void members(const TypeCodeData& data);
    void union_(const TypeCodeData& data);
    [[nodiscard]] CORBA::ULong find_label(const TypeCodeData& data, std::int64_t label);
    using Label = std::pair<std::int64_t, CORBA::ULong>; // and the member's index
    static void sort_labels(const TypeCodeData& data, std::vector<Label>& labels);
    std::int64_t discriminator(const CORBA::TypeCode& type);
    void exception(const TypeCodeData& data);
    void any();
    void type_code();
    void reference();
    void fixed(const TypeCodeData& data);

    // Valuetypes (CORBA 3.3 part 2, 9.3.4).
    void abstract_interface();
    /// `formal` is the type that the place has; null where any value may be.
    void value_or_null(const TypeCodeData* formal);
    void shared_value();
    void new_value(std::uint32_t tag, const TypeCodeData* formal);
    /// Which of the types that a value says is the one to read it by: the first that is known.
    struct Chosen {
        const TypeCodeData* type; ///< null for none
        std::size_t index;        ///< among the ids that it says
    };
    [[nodiscard]] Chosen choose(std::span<const std::string_view> ids,
                                const TypeCodeData* formal) const;
    [[nodiscard]] std::uint32_t read_value_tag();
    struct IdList {
        std::vector<std::string_view> ids;
        std::size_t written_at = 0; ///< where its copy begins; 0 for not yet
    };
    struct Ids {
        IdList* list = nullptr;
        std::string_view single{};
        bool is_single = false;
        [[nodiscard]] std::span<const std::string_view> all() const noexcept
        {
            if (is_single) return {&single, 1};
            return list == nullptr ? std::span<const std::string_view>() : list->ids;
        }
    };
    [[nodiscard]] Ids read_ids(std::uint32_t tag);
    [[nodiscard]] std::string_view read_id();
    void write_ids(const Ids& types);
    void write_id(std::string_view id);
    void write_again(std::size_t written_at);
    void state(const TypeCodeData& data);
    void chunked_state(const TypeCodeData* data, bool may_be_longer);
    void end_chunks(std::int32_t level, bool may_be_longer);
    void next_chunk(cdr::Reader& in) noexcept override;
    [[nodiscard]] std::byte* gathered(std::size_t size) override;
    [[nodiscard]] const std::byte* here() const noexcept
    {
        return in_.bytes().data() + in_.offset();
    }
    /// What an indirection that was read just now points to; null for nothing in a value.
    [[nodiscard]] const std::byte* target();
    /// Around data that is written within a chunked value.
    void open_chunk()
    {
        if (out_ != nullptr && reading_level_ != 0 && chunk_at_ == 0) begin_chunk();
    }
    void begin_chunk();
    void close_chunk();

    template <typename T>
    T number()
    {
        const T value = in_.read<T>();
        if (out_ != nullptr) out_->write(value);
        return value;
    }
    void octets(std::size_t count)
    {
        const std::byte* from = in_.block(count, 1);
        if (from != nullptr && out_ != nullptr) out_->write_bytes({from, count});
    }
    void text(std::string_view text)
    {
        if (in_.ok() && out_ != nullptr) out_->write_string(text);
    }

    cdr::Reader& in_;
    cdr::Writer* out_;
    CopyRules* const rules_; // null for none; there are none without `out_`
    const std::uintptr_t stack_end_ = stack_limit();
    std::size_t depth_ = 0;
    std::size_t linear_depth_ = 0;
    std::size_t empty_ = 0;
    Found found_;

    static constexpr std::size_t octet_labels = 256;
    std::unordered_map<const TypeCodeData*, std::vector<Label>> labels_;
    const TypeCodeData* labelled_ = nullptr; // whose labels were asked for last
    std::vector<Label>* sorted_labels_ = nullptr;

    /// Where values that were read begin, and where in the writer their copies do.
    std::unordered_map<const std::byte*, std::size_t> values_;
    std::unordered_map<const std::byte*, std::string_view> ids_;
    std::unordered_map<const std::byte*, IdList> id_lists_;
    std::map<std::string_view, std::size_t> ids_written_; // no hash: peers choose them
    std::vector<std::unique_ptr<std::byte[]>> gathered_;
    std::size_t value_depth_ = 0;
    std::int32_t level_ = 0;         // of chunked values that are open on the wire
    std::int32_t reading_level_ = 0; // of the one whose state is being read
    std::size_t chunk_at_ = 0;       // where the size of the chunk being written is; 0 for none
};

} // namespace kairos::types
