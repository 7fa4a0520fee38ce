// SPDX-License-Identifier: Apache-2.0
#include "kairos/values/input.h"

#include "kairos/base/limits.h"
#include "kairos/base/stack.h"
#include "kairos/values/registry.h"
#include "kairos/values/tags.h"

#include <string>
#include <utility>

namespace kairos::values {

using cdr::Fault;

namespace {

/// Counts down again however the block is left.
class Deeper {
  public:
    explicit Deeper(std::size_t& depth) noexcept : depth_(depth) { ++depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --depth_; }

  private:
    std::size_t& depth_;
};

[[noreturn, gnu::cold]] void raise_no_factory(std::string_view id)
{
    throw CORBA::MARSHAL(no_factory, CORBA::COMPLETED_MAYBE,
                         "no value factory for '" + std::string(id) + "'");
}

} // namespace

void* decode(cdr::Reader& in, const Type* formal, Fits fits)
{
    return in.ok() ? Input::of(in).read(in, formal, fits) : nullptr;
}

CORBA::ValueBase* copy(const CORBA::ValueBase& value, orb::Orb* orb, cdr::Attachment* factories)
{
    const cdr::Environment environment{.orb = orb, .value_factories = factories};
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    out.set_environment(&environment);
    encode(out, &value, nullptr);
    // What lies elsewhere has to come together.
    std::vector<std::byte> bytes;
    const Bytes contiguous = out.contiguous();
    std::size_t at = 0;
    for (const cdr::Writer::External& external : out.externals()) {
        bytes.insert(bytes.end(), contiguous.begin() + static_cast<std::ptrdiff_t>(at),
                     contiguous.begin() + static_cast<std::ptrdiff_t>(external.position));
        bytes.insert(bytes.end(), external.bytes.begin(), external.bytes.end());
        at = external.position;
    }
    bytes.insert(bytes.end(), contiguous.begin() + static_cast<std::ptrdiff_t>(at),
                 contiguous.end());
    cdr::Reader in(bytes, native_little_endian);
    in.set_environment(&environment);
    CORBA::ValueBase_var result = static_cast<CORBA::ValueBase*>(
        decode(in, nullptr, [](CORBA::ValueBase* read) -> void* { return read; }));
    if (!in.ok()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, "a value cannot be copied");
    environment.accept_values();
    return result._retn();
}

Input& Input::of(cdr::Reader& in)
{
    if (in.environment() == nullptr)
        throw CORBA::MARSHAL(0, CORBA::COMPLETED_MAYBE, "a value outside any message");
    auto& attachment = in.environment()->values_read;
    if (attachment == nullptr) {
        auto input = std::make_unique<Input>();
        input->tao_chunks_ = Registry::says_tao_chunks(*in.environment());
        attachment = std::move(input);
    }
    return static_cast<Input&>(*attachment);
}

Input::~Input()
{
    if (!accepted_) // they may hold one another
        values_.for_each([](CORBA::ValueBase* value) { value->_kairos_clear(); });
    values_.for_each([](CORBA::ValueBase* value) { value->_remove_ref(); });
}

std::unique_ptr<cdr::Attachment> Input::ahead(cdr::Reader& proof)
{
    auto input = std::make_unique<Input>();
    input->outer_ = this;
    input->depth_ = depth_;
    input->level_ = level_;
    input->reading_level_ = reading_level_;
    input->tao_chunks_ = tao_chunks_;
    if (proof.in_chunk()) proof.enter_chunk(proof.chunk_left(), *input);
    return input;
}

void* Input::read(cdr::Reader& in, const Type* formal, Fits fits)
{
    const std::uint32_t tag = read_tag(in);
    if (!in.ok() || tag == null_tag) return nullptr;
    if (tag == indirection_tag) return read_shared(in, fits);
    if (tag < value_tag_min || tag > value_tag_max || (tag & unknown_flags) != 0) {
        in.fail(Fault::invalid_value);
        return nullptr;
    }
    if (depth_ == limits::values_nesting_max || !is_above(stack_limit())) {
        in.fail(Fault::nesting_too_deep);
        return nullptr;
    }
    return read_new(in, tag, formal, fits);
}

/// Within a chunked value, null and indirections are usually in a chunk and new values never are.
std::uint32_t Input::read_tag(cdr::Reader& in)
{
    if (reading_level_ == 0) return in.read<std::uint32_t>();
    if (align_up(in.offset(), 4) < in.offset() + in.chunk_left()) return in.read<std::uint32_t>();
    if (level_ != reading_level_) { // an end tag has ended the value around, too
        in.fail(Fault::truncated);
        return 0;
    }
    in.leave_chunk();
    const auto tag = read_tag_between_chunks(in);
    if (tag == null_tag || tag == indirection_tag || tag >= value_tag_min) {
        if (tag == null_tag) wait_for_chunk(in);
        return tag;
    }
    in.enter_chunk(tag, *this);
    return in.read<std::uint32_t>();
}

template <typename T>
T* Input::target(cdr::Reader& in, Places<T> Input::*known)
{
    in.align(4);
    const std::byte* from = here(in);
    const auto offset = in.read<std::int32_t>();
    if (!in.ok()) return nullptr;
    // Whether that is in the message at all, the table knows; as a number it cannot overflow.
    const auto place = reinterpret_cast<std::uintptr_t>(from) +
                       static_cast<std::uintptr_t>(static_cast<std::intptr_t>(offset));
    for (Input* input = this; offset < -4 && input != nullptr; input = input->outer_) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): only looked up
        T* const found = (input->*known).find(reinterpret_cast<const std::byte*>(place));
        if (found != nullptr) return found;
    }
    in.fail(Fault::invalid_value);
    return nullptr;
}

CORBA::ValueBase* Input::created(const cdr::Reader& in, std::string_view id)
{
    if (id != maker_id_ || id.empty()) {
        maker_ = CORBA::ValueFactoryBase_var();
        maker_of_boxes_ = nullptr;
        if (const auto* registry = static_cast<const Registry*>(in.environment()->value_factories))
            maker_ = registry->find(id);
        if (maker_.in() == nullptr) maker_of_boxes_ = known_box(id);
        maker_id_ = id;
    }
    if (maker_.in() != nullptr) return maker_->_kairos_create();
    return maker_of_boxes_ == nullptr ? nullptr : maker_of_boxes_->create();
}

void* Input::fitted(CORBA::ValueBase* value, Fits fits)
{
    auto* const base = reinterpret_cast<std::byte*>(value);
    const std::type_info& type = typeid(*value);
    if (fit_type_ == &type && fit_for_ == fits) return base + fit_offset_;
    void* const fit = fits(value);
    if (fit == nullptr) return nullptr;
    fit_type_ = &type;
    fit_for_ = fits;
    fit_offset_ = static_cast<std::byte*>(fit) - base; // the same in every object of the class
    return fit;
}

void* Input::read_shared(cdr::Reader& in, Fits fits)
{
    CORBA::ValueBase** value = target(in, &Input::values_);
    if (value == nullptr) return nullptr;
    if (reading_level_ != 0 && in.ok() && !in.in_chunk()) wait_for_chunk(in);
    void* const fit = fitted(*value, fits);
    if (fit == nullptr) {
        in.fail(Fault::invalid_value);
        return nullptr;
    }
    (*value)->_add_ref();
    return fit;
}

void* Input::read_new(cdr::Reader& in, std::uint32_t tag, const Type* formal, Fits fits)
{
    const std::byte* place = here(in) - 4;
    const bool in_chunk = reading_level_ != 0 && in.in_chunk();
    if (in_chunk && !tao_chunks_) { // a chunk would have to end before it
        in.fail(Fault::invalid_value);
        return nullptr;
    }
    const Header header = read_header(in, tag, in_chunk);
    if (!in.ok()) return nullptr;
    const bool typed = (tag & type_info_mask) != no_type_info;
    if (!typed && formal == nullptr) {
        in.fail(Fault::invalid_value);
        return nullptr;
    }

    CORBA::ValueBase_var value;
    std::size_t chosen = 0;
    const std::size_t candidates = typed ? header.count() : 1;
    for (; chosen < candidates && value.in() == nullptr; ++chosen) {
        const std::string_view id = typed ? header[chosen] : std::string_view(formal->id);
        const bool box = formal != nullptr && formal->create != nullptr && id == formal->id;
        value = box ? formal->create() : created(in, id);
    }
    if (value.in() == nullptr) raise_no_factory(typed ? header[0] : std::string_view(formal->id));
    const bool truncating = chosen > 1;
    void* const fit = fitted(value.in(), fits);
    if (fit == nullptr || (truncating && !header.chunked)) {
        in.fail(Fault::invalid_value);
        return nullptr;
    }
    // From now on an indirection may point to it, from within its own state, too.
    if (values_.add(place, value.in()) == nullptr) {
        in.fail(Fault::invalid_value); // a second reader of the same bytes
        return nullptr;
    }
    value->_add_ref();
    const Deeper deeper(depth_);
    const bool may_be_longer = truncating || value->_kairos_type().is_custom;
    if (header.chunked && in_chunk) {
        read_chunked_state_in_chunk(in, *value.in(), may_be_longer);
    } else if (header.chunked) {
        read_chunked_state(in, *value.in(), may_be_longer);
    } else {
        value->_kairos_decode(in);
    }
    if (!in.ok()) return nullptr;
    (void)value._retn(); // the caller's
    return fit;
}

Input::Header Input::read_header(cdr::Reader& in, std::uint32_t tag, bool in_chunk)
{
    Header header{.chunked = (tag & is_chunked) != 0};
    // Whatever is within a chunked value is chunked itself (9.3.4.6), but for TAO's.
    if (level_ != 0 && !header.chunked && !in_chunk) in.fail(Fault::invalid_value);
    if ((tag & has_codebase) != 0) (void)read_text(in);
    switch (tag & type_info_mask) {
    case no_type_info:
        break;
    case single_id:
        header.id = read_text(in);
        break;
    case id_list:
        header.list = read_ids(in);
        break;
    default:
        in.fail(Fault::invalid_value);
    }
    return header;
}

std::vector<std::string_view>* Input::read_ids(cdr::Reader& in)
{
    in.align(4);
    const std::byte* place = here(in);
    const auto count = in.read<std::uint32_t>();
    if (count == indirection_tag) return target(in, &Input::lists_);
    if (count == 0 || count > limits::value_ids_max || count > in.unclaimed() / 5) {
        in.fail(Fault::length_beyond_end);
        return nullptr;
    }
    std::vector<std::string_view>* const known = lists_.add(place, {});
    std::vector<std::string_view>& ids = known != nullptr ? *known : *lists_.find(place);
    ids.clear();
    ids.reserve(count);
    for (std::uint32_t i = 0; i < count && in.ok(); ++i)
        ids.push_back(read_text(in));
    return &ids;
}

std::string_view Input::read_text(cdr::Reader& in)
{
    in.align(4);
    const std::byte* place = here(in);
    cdr::Reader ahead = in;
    if (ahead.read<std::uint32_t>() == indirection_tag) {
        in = ahead;
        const std::string_view* text = target(in, &Input::texts_);
        return text == nullptr ? std::string_view() : *text;
    }
    const std::string_view text = in.read_string();
    if (in.ok()) (void)texts_.add(place, text);
    return text;
}

// --- Chunks --------------------------------------------------------------------------------------

void Input::read_chunked_state(cdr::Reader& in, CORBA::ValueBase& value, bool may_be_longer)
{
    const std::int32_t outer = reading_level_;
    const std::int32_t level = ++level_;
    reading_level_ = level;
    wait_for_chunk(in);
    value._kairos_decode(in);
    if (in.ok()) end_chunks(in, level, may_be_longer);
    reading_level_ = outer;
    if (!in.ok()) return;
    in.leave_chunk();
    if (outer != 0) wait_for_chunk(in);
}

void Input::read_chunked_state_in_chunk(cdr::Reader& in, CORBA::ValueBase& value,
                                        bool may_be_longer)
{
    const std::size_t end = in.offset() + in.chunk_left();
    in.leave_chunk();
    const std::int32_t outer = std::exchange(level_, 0);
    const std::int32_t outer_reading = std::exchange(reading_level_, 0);
    read_chunked_state(in, value, may_be_longer);
    level_ = outer;
    reading_level_ = outer_reading;
    if (!in.ok()) return;
    if (in.offset() > end) return in.fail(Fault::invalid_value);
    in.enter_chunk(end - in.offset(), *this);
}

bool Input::ends_class(std::uint32_t tag) const noexcept
{
    return tao_chunks_ && tag > value_tag_max &&
           -static_cast<std::int64_t>(static_cast<std::int32_t>(tag)) > level_;
}

std::uint32_t Input::read_tag_between_chunks(cdr::Reader& in) const noexcept
{
    auto tag = in.read<std::uint32_t>();
    while (ends_class(tag) && in.ok())
        tag = in.read<std::uint32_t>();
    return tag;
}

void Input::next_chunk(cdr::Reader& in) noexcept
{
    if (level_ != reading_level_) return in.fail(Fault::truncated);
    in.leave_chunk();
    const auto size = read_tag_between_chunks(in);
    if (size == 0 || size >= value_tag_min) return in.fail(Fault::truncated); // the state ends here
    in.enter_chunk(size, *this);
}

std::byte* Input::gathered(std::size_t size)
{
    gathered_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    return gathered_.back().get();
}

void Input::end_chunks(cdr::Reader& in, std::int32_t level, bool may_be_longer)
{
    if (level_ < level) return; // an end tag within it was its own, too
    if (in.chunk_left() != 0 && !may_be_longer) return in.fail(Fault::invalid_value);
    // What follows is skipped: values in it are not made, so nobody can refer to them.
    while (in.ok() && level_ >= level) {
        if (in.in_chunk()) (void)in.block(in.chunk_left(), 1);
        in.leave_chunk();
        const auto tag = read_tag_between_chunks(in);
        if (!in.ok()) return;
        if (tag > value_tag_max) {
            take_end_tag(in, tag);
        } else if (!may_be_longer) {
            in.fail(Fault::invalid_value);
        } else if (tag >= value_tag_min) {
            if ((tag & unknown_flags) != 0) return in.fail(Fault::invalid_value);
            (void)read_header(in, tag);
            if (level_ == INT32_MAX) return in.fail(Fault::nesting_too_deep);
            ++level_;
        } else if (tag != null_tag) {
            in.enter_chunk(tag, *this);
        }
    }
}

/// -n ends every value from level n on (9.3.4.6).
void Input::take_end_tag(cdr::Reader& in, std::uint32_t tag)
{
    const auto end = -static_cast<std::int64_t>(static_cast<std::int32_t>(tag));
    if (end > level_) return in.fail(Fault::invalid_value);
    level_ = static_cast<std::int32_t>(end - 1);
}

} // namespace kairos::values
