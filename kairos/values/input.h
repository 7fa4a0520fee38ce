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

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kairos::values {

/// What lies where in a message. It is read in order, so nearly all of it is behind the rest; what
/// is not is in other memory, as what was gathered of several chunks. Nothing moves when it grows:
/// a value of four octets takes sixteen here and no more.
template <typename T>
class Places {
  public:
    /// Remembers what is at a place, and returns where that is kept; null if something was there
    /// already.
    T* add(const std::byte* place, T what)
    {
        if (size_ == 0 || std::less<>()(at(size_ - 1).place, place)) {
            if (size_ % page_size == 0) pages_.push_back(std::make_unique<Page>());
            Entry& entry = at(size_++);
            entry = {place, std::move(what)};
            return &entry.what;
        }
        if (find(place) != nullptr) return nullptr;
        return &others_.emplace(place, std::move(what)).first->second;
    }
    /// Returns what is at a place; null if nothing is known of it.
    [[nodiscard]] T* find(const std::byte* place) noexcept
    {
        std::size_t first = 0;    // the first that is not in front of it is from here on…
        std::size_t last = size_; // …and no later than here
        while (first != last) {
            const std::size_t middle = first + (last - first) / 2;
            if (std::less<>()(at(middle).place, place))
                first = middle + 1;
            else
                last = middle;
        }
        if (first != size_ && at(first).place == place) return &at(first).what;
        if (others_.empty()) return nullptr;
        const auto other = others_.find(place);
        return other == others_.end() ? nullptr : &other->second;
    }
    template <typename Function>
    void for_each(const Function& function)
    {
        for (std::size_t i = 0; i < size_; ++i)
            function(at(i).what);
        for (auto& [place, what] : others_)
            function(what);
    }

  private:
    struct Entry {
        const std::byte* place = nullptr;
        T what{};
    };
    static constexpr std::size_t page_size = 32;
    using Page = std::array<Entry, page_size>;
    [[nodiscard]] Entry& at(std::size_t i) noexcept
    {
        return (*pages_[i / page_size])[i % page_size];
    }

    std::vector<std::unique_ptr<Page>> pages_; // ascending
    std::size_t size_ = 0;
    std::unordered_map<const std::byte*, T> others_;
};

class Input final : public mapping::ReadAhead, public cdr::ChunkSource {
  public:
    /// The Input of the message being read. Throws MARSHAL if that has no environment.
    [[nodiscard]] static Input& of(cdr::Reader& in);

    ~Input() override;
    void accept() noexcept override { accepted_ = true; }
    [[nodiscard]] std::unique_ptr<cdr::Attachment> ahead(cdr::Reader& proof) override;

    /// Reads a value; see decode of marshal.h.
    [[nodiscard]] void* read(cdr::Reader& in, const Type* formal, Fits fits);

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
    [[nodiscard]] void* read_shared(cdr::Reader& in, Fits fits);
    [[nodiscard]] void* read_new(cdr::Reader& in, std::uint32_t tag, const Type* formal, Fits fits);
    /// Makes what the ORB's factory of this id makes, or else a box of this id; null if there is
    /// neither. Whoever made the last value is asked again without being looked for.
    [[nodiscard]] CORBA::ValueBase* created(const cdr::Reader& in, std::string_view id);
    [[nodiscard]] Header read_header(cdr::Reader& in, std::uint32_t tag, bool in_chunk = false);
    [[nodiscard]] std::vector<std::string_view>* read_ids(cdr::Reader& in);
    /// A string or an indirection to one.
    [[nodiscard]] std::string_view read_text(cdr::Reader& in);
    /// Reads the chunks of a value up to their end tag (CORBA 3.3 part 2, 9.3.4.6).
    void read_chunked_state(cdr::Reader& in, CORBA::ValueBase& value, bool may_be_longer);
    /// Reads the chunks of a value that stands within the open chunk of another.
    void read_chunked_state_in_chunk(cdr::Reader& in, CORBA::ValueBase& value, bool may_be_longer);
    /// Returns `fits(value)`, asked once for values of one class that follow each other: it walks
    /// through all their bases.
    [[nodiscard]] void* fitted(CORBA::ValueBase* value, Fits fits);
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
    [[nodiscard]] T* target(cdr::Reader& in, Places<T> Input::*known);

    Places<CORBA::ValueBase*> values_; // each has an owner here
    Places<std::string_view> texts_;
    Places<std::vector<std::string_view>> lists_;
    std::vector<std::unique_ptr<std::byte[]>> gathered_;
    Input* outer_ = nullptr;                   // what a proof knows already, and does not change
    const std::type_info* fit_type_ = nullptr; // the last class that did fit, and where
    Fits fit_for_ = nullptr;
    std::ptrdiff_t fit_offset_ = 0; // of what it is there, from the ValueBase of it
    std::string maker_id_;          // whose maker is known: one of the next two
    CORBA::ValueFactoryBase_var maker_;
    const Type* maker_of_boxes_ = nullptr;
    std::size_t depth_ = 0;          // of values within values
    std::int32_t level_ = 0;         // of chunked values that are open on the wire
    std::int32_t reading_level_ = 0; // of the one whose state is being read
    bool accepted_ = false;
    bool tao_chunks_ = false;
};

} // namespace kairos::values
