// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of the values read from one message: where each is and what ids were where,
// which is all that an indirection may point to, and the chunks around the reader. Attached to the
// message's cdr::Environment. Until the message is accepted the values belong to it.
//
// TAO's form (-ORBQuirks tao-chunks) is another where values are chunked, and read beside that of
// the specification. Each class of a value's line has a chunk of its own, and an end tag behind it
// as if it were a value within: -1 ends the value, lower ones that end nothing end a class. A value
// within is in the chunk of the one around, with its tag; not chunked unless its own type wants it;
// and then its levels begin at 1 again.
#pragma once

#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/mapping/read_ahead.h"
#include "kairos/values/marshal.h"

#include <memory>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <vector>

namespace kairos::values {

class Input final : public mapping::ReadAhead, public cdr::ChunkSource {
  public:
    /// The Input of the message being read. Throws MARSHAL if that has no environment.
    [[nodiscard]] static Input& of(cdr::Reader& in);

    ~Input() override;
    void accept() noexcept override { accepted_ = true; }
    [[nodiscard]] std::unique_ptr<cdr::Attachment> ahead(cdr::Reader& proof) override;

    [[nodiscard]] CORBA::ValueBase* read(cdr::Reader& in, const Type* formal, Fits fits);

    void next_chunk(cdr::Reader& in) noexcept override;
    [[nodiscard]] std::byte* gathered(std::size_t size) override;

  private:
    /// What stands in front of a value's state.
    struct Header {
        std::vector<std::string_view>* list = nullptr; ///< the ids, most derived first
        std::string_view id{};                         ///< or the only one, if there is any
        bool chunked = false;

        [[nodiscard]] std::size_t count() const { return list != nullptr ? list->size() : 1; }
        [[nodiscard]] std::string_view operator[](std::size_t i) const
        {
            return list != nullptr ? (*list)[i] : id;
        }
    };

    [[nodiscard]] std::uint32_t read_tag(cdr::Reader& in);
    [[nodiscard]] CORBA::ValueBase* read_shared(cdr::Reader& in, Fits fits);
    [[nodiscard]] CORBA::ValueBase* read_new(cdr::Reader& in, std::uint32_t tag, const Type* formal,
                                             Fits fits);
    [[nodiscard]] Header read_header(cdr::Reader& in, std::uint32_t tag, bool in_chunk = false);
    [[nodiscard]] std::vector<std::string_view>* read_ids(cdr::Reader& in);
    /// A string or an indirection to one.
    [[nodiscard]] std::string_view read_text(cdr::Reader& in);
    /// Reads the chunks of a value up to their end tag (CORBA 3.3 part 2, 9.3.4.6).
    void read_chunked_state(cdr::Reader& in, CORBA::ValueBase& value, bool may_be_longer);
    /// Reads the chunks of a value that stands within the open chunk of another.
    void read_chunked_state_in_chunk(cdr::Reader& in, CORBA::ValueBase& value, bool may_be_longer);
    /// `fits(value)`, asked once for values of one class that follow each other: it walks through
    /// all their bases.
    [[nodiscard]] bool is_fit(CORBA::ValueBase* value, Fits fits);
    /// Whether a tag is an end that ends no value, but a class of the present one.
    [[nodiscard]] bool ends_class(std::uint32_t tag) const noexcept;
    /// The next tag or size that is no end of a class.
    [[nodiscard]] std::uint32_t read_tag_between_chunks(cdr::Reader& in) const noexcept;
    /// Ends the value of this level: reads its end tag, and before that what it has left.
    void end_chunks(cdr::Reader& in, std::int32_t level, bool may_be_longer);
    void take_end_tag(cdr::Reader& in, std::uint32_t tag);
    /// Reads on within the value around, where no chunk is open.
    void wait_for_chunk(cdr::Reader& in) { in.enter_chunk(0, *this); }

    /// Where the reader is: the address is the same for every reader of the message.
    [[nodiscard]] static const std::byte* here(const cdr::Reader& in) noexcept
    {
        return in.bytes().data() + in.offset();
    }
    /// What an indirection read just now points to.
    template <typename T>
    using Places = std::unordered_map<const std::byte*, T>;
    template <typename T>
    [[nodiscard]] T* target(cdr::Reader& in, Places<T> Input::*known);

    Places<CORBA::ValueBase*> values_; // each has an owner here
    Places<std::string_view> texts_;
    Places<std::vector<std::string_view>> lists_;
    std::vector<std::unique_ptr<std::byte[]>> gathered_;
    Input* outer_ = nullptr;                   // what a proof knows already, and does not change
    const std::type_info* fit_type_ = nullptr; // the last class that did fit, and where
    Fits fit_for_ = nullptr;
    std::size_t depth_ = 0;          // of values within values
    std::int32_t level_ = 0;         // of chunked values that are open on the wire
    std::int32_t reading_level_ = 0; // of the one whose state is being read
    bool accepted_ = false;
    bool tao_chunks_ = false;
};

} // namespace kairos::values
