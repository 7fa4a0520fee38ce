// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/marshal.h"

#include "kairos/cdr/codeset.h"

#include "kairos/mapping/read_ahead.h"
#include "kairos/mapping/texts.h"
#include "kairos/mapping/union.h"

#include <algorithm>

namespace kairos::mapping {
namespace {

/// The form of long double on the wire (CORBA 3.3 part 2, 9.3.1.5). x86's own has 80 bits.
__extension__ typedef __float128 Quad;
static_assert(sizeof(Quad) == 16);

/// A quad is one 16-byte number: swapping the byte order reverses all of it.
Quad swapped(Quad quad)
{
    std::array<std::byte, sizeof quad> bytes;
    std::memcpy(bytes.data(), &quad, sizeof quad);
    std::reverse(bytes.begin(), bytes.end());
    std::memcpy(&quad, bytes.data(), sizeof quad);
    return quad;
}

[[noreturn]] void raise_bad_param(std::string_view reason)
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, reason);
}

} // namespace

void raise_null_string() { raise_bad_param("a string to be sent is null"); }
void raise_null_value() { raise_bad_param("a member of a null value was used"); }
void raise_nil_reference()
{
    throw CORBA::INV_OBJREF(0, CORBA::COMPLETED_NO, "a call through a nil reference");
}
void raise_string_bound_exceeded() { raise_bad_param("a string is longer than its bound"); }
void raise_null_result() { raise_bad_param("a result or out value is null"); }
void raise_member_not_selected()
{
    raise_bad_param("a union's discriminator selects another member");
}
void raise_label_of_other_member()
{
    raise_bad_param("a union's discriminator may change only to a label of the same member");
}
void raise_sequence_bound_exceeded() { raise_bad_param("a sequence is longer than its bound"); }

// --- Text ----------------------------------------------------------------------------------------

namespace {

/// `sent_by_client` says which way the text went. Minor codes: CORBA 3.3 part 2, annex A.
[[noreturn]] void raise_text_error(cdr::TextError error, bool sent_by_client,
                                   CORBA::CompletionStatus completed)
{
    switch (error) {
    case cdr::TextError::too_long:
        throw CORBA::BAD_PARAM(0, completed, "text is longer than a message can be");
    case cdr::TextError::wide_not_offered:
        throw CORBA::INV_OBJREF(omg_minor(1), completed,
                                "the reference names no code set for wide characters");
    case cdr::TextError::wide_not_negotiated:
        throw CORBA::BAD_PARAM(omg_minor(23), completed,
                               "the client announced no code set for wide characters");
    case cdr::TextError::wide_in_giop_1_0:
        throw CORBA::MARSHAL(omg_minor(sent_by_client ? 5 : 6), completed,
                             "GIOP 1.0 has no wide characters");
    case cdr::TextError::incompatible:
        throw CORBA::CODESET_INCOMPATIBLE(omg_minor(1), completed,
                                          "client and server have no code set in common");
    case cdr::TextError::not_supported:
        throw CORBA::CODESET_INCOMPATIBLE(omg_minor(2), completed,
                                          "the client chose a code set that this server lacks");
    case cdr::TextError::none:
    case cdr::TextError::unconvertible:
        break;
    }
    throw CORBA::DATA_CONVERSION(omg_minor(1), completed,
                                 "a character has no place in the code set agreed on");
}

} // namespace

void raise_text_error(const cdr::Writer& out, cdr::TextError error)
{
    const cdr::TextForm* form = cdr::text_form(out);
    const bool is_server = form != nullptr && form->is_server;
    raise_text_error(error, !is_server, is_server ? CORBA::COMPLETED_YES : CORBA::COMPLETED_NO);
}

void raise_if_text_refused(const cdr::Reader& in, CORBA::CompletionStatus completed)
{
    const cdr::TextForm* form = cdr::text_form(in);
    const bool sent_by_client = form == nullptr || form->is_server;
    cdr::TextError error = cdr::TextError::unconvertible;
    if (in.fault() == cdr::Fault::characters_refused && form != nullptr) {
        error = form->characters_refused;
    } else if (in.fault() == cdr::Fault::wide_text_refused && form != nullptr) {
        error = form->wide_refused;
    } else if (in.fault() != cdr::Fault::unconvertible_text) {
        return;
    }
    raise_text_error(error, sent_by_client, completed);
}

void encode_converted(cdr::Writer& out, const cdr::TextForm& form, std::string_view text)
{
    if (const auto error = write_converted(out, form, text); error != cdr::TextError::none)
        raise_text_error(out, error);
}

void encode_converted(cdr::Writer& out, const cdr::TextForm& form, char character)
{
    if (const auto error = write_converted(out, form, character); error != cdr::TextError::none)
        raise_text_error(out, error);
}

void encode_string(cdr::Writer& out, const wchar_t* text, CORBA::ULong bound)
{
    if (text == nullptr) raise_null_string();
    const std::wstring_view view(text);
    if (bound != 0 && view.size() > bound) raise_string_bound_exceeded();
    if (const auto error = write_wide_text(out, view); error != cdr::TextError::none)
        raise_text_error(out, error);
}

void Marshal<CORBA::WChar>::encode(cdr::Writer& out, const CORBA::WChar& value)
{
    if (const auto error = write_wide_character(out, value); error != cdr::TextError::none)
        raise_text_error(out, error);
}

namespace {

/// Room for `size` characters, or "".
template <typename Char>
Char* room(std::size_t size, bool may_be_shared)
{
    return size == 0 && may_be_shared ? shared_empty<Char>() : allocate_text<Char>(size);
}

} // namespace

void decode_owned(cdr::Reader& in, char*& text, CORBA::ULong bound, bool may_be_shared)
{
    const std::string_view wire = in.read_string();
    if (const cdr::TextForm* form = cdr::converting_form(in)) [[unlikely]] {
        const std::size_t size = in.ok() ? native_size(in, *form, wire, bound).value_or(0) : 0;
        text = room<char>(size, may_be_shared);
        if (size == 0) return;
        to_native(*form, wire, text);
        text[size] = '\0';
        return;
    }
    if (bound != 0 && wire.size() > bound) [[unlikely]]
        in.fail(cdr::Fault::bound_exceeded);
    const std::size_t size = in.ok() ? wire.size() : 0;
    text = room<char>(size, may_be_shared);
    if (size != 0) std::memcpy(text, wire.data(), size + 1); // with its terminator
}

const char* decode_converted(cdr::Reader& in, Arena& arena, const cdr::TextForm& form,
                             CORBA::ULong bound)
{
    const std::string_view wire = in.read_string();
    const std::size_t size = in.ok() ? native_size(in, form, wire, bound).value_or(0) : 0;
    if (!in.ok()) return "";
    char* text = arena.allocate<char>(size + 1);
    to_native(form, wire, text);
    text[size] = '\0';
    return text;
}

void decode_owned(cdr::Reader& in, wchar_t*& text, CORBA::ULong bound, bool may_be_shared)
{
    const cdr::WireWideText wire = cdr::find_wide_text(in);
    text = room<wchar_t>(wire.characters_max, may_be_shared);
    if (wire.characters_max == 0) return;
    text[decode_wide_text(in, wire, text, bound)] = L'\0';
}

void decode_string_view(cdr::Reader& in, Arena& arena, const wchar_t*& value, CORBA::ULong bound)
{
    const cdr::WireWideText wire = cdr::find_wide_text(in);
    auto* text = arena.allocate<wchar_t>(wire.characters_max + 1);
    text[decode_wide_text(in, wire, text, bound)] = L'\0';
    value = text;
}

// --- Numbers -------------------------------------------------------------------------------------

template struct Marshal<CORBA::Boolean>;
template struct Marshal<CORBA::Char>;
template struct Marshal<CORBA::Octet>;
template struct Marshal<CORBA::Short>;
template struct Marshal<CORBA::UShort>;
template struct Marshal<CORBA::Long>;
template struct Marshal<CORBA::ULong>;
template struct Marshal<CORBA::LongLong>;
template struct Marshal<CORBA::ULongLong>;
template struct Marshal<CORBA::Float>;
template struct Marshal<CORBA::Double>;

void Marshal<CORBA::LongDouble>::encode(cdr::Writer& out, const CORBA::LongDouble& value)
{
    const Quad quad = value;
    std::memcpy(out.claim(sizeof quad, 8), &quad, sizeof quad);
}

void Marshal<CORBA::LongDouble>::decode(cdr::Reader& in, CORBA::LongDouble& value)
{
    Quad quad = 0;
    if (const std::byte* place = in.block(sizeof quad, 8)) std::memcpy(&quad, place, sizeof quad);
    value = static_cast<CORBA::LongDouble>(in.swap() ? swapped(quad) : quad);
}

void encode_string(cdr::Writer& out, const char* text, CORBA::ULong bound)
{
    if (text == nullptr) [[unlikely]]
        raise_null_string();
    const std::size_t length = std::strlen(text);
    if (bound != 0 && length > bound) [[unlikely]]
        raise_string_bound_exceeded();
    if (const cdr::TextForm* form = cdr::converting_form(out)) [[unlikely]]
        return encode_converted(out, *form, {text, length});
    write_native(out, text, length + 1);
}

// --- Proofs
// ---------------------------------------------------------------------------------------

namespace {

/// Reads as many values, one after the other, and keeps none.
void read_each(cdr::Reader& in, std::size_t count, std::size_t wire_bytes_min, void* value,
               const void* context,
               void (*decode_one)(cdr::Reader& in, void* value, const void* context))
{
    in.claim(count * wire_bytes_min);
    for (; count != 0 && in.ok(); --count) {
        in.unclaim(wire_bytes_min);
        decode_one(in, value, context);
    }
}

} // namespace

namespace {

/// What is remembered of the message's values while a proof reads on, which remembers its own.
class Remembered {
  public:
    Remembered(const cdr::Environment* environment, cdr::Reader& proof) : environment_(environment)
    {
        if (environment == nullptr || environment->values_read == nullptr) return;
        auto* const before = static_cast<ReadAhead*>(environment->values_read.get());
        Owner<cdr::Attachment> met(before->ahead(proof));
        std::swap(environment->values_read, met);
        before_ = std::move(met);
    }
    Remembered(const Remembered&) = delete;
    Remembered& operator=(const Remembered&) = delete;
    ~Remembered()
    {
        if (environment_ == nullptr) return;
        std::swap(environment_->values_read, before_);
        before_.reset(); // its values know the others
    }

  private:
    const cdr::Environment* environment_;
    Owner<cdr::Attachment> before_{};
};

} // namespace

bool prove(cdr::Reader& in, std::size_t count, std::size_t wire_bytes_min, void* value,
           const void* context,
           void (*decode_one)(cdr::Reader& in, void* value, const void* context))
{
    if (in.proving()) {
        read_each(in, count, wire_bytes_min, value, context, decode_one);
        return false;
    }
    cdr::Reader ahead = in.proof();
    {
        const Remembered remembered(in.environment(), ahead);
        read_each(ahead, count, wire_bytes_min, value, context, decode_one);
    }
    if (ahead.ok()) {
        in.set_proven(ahead);
    } else {
        in.fail(ahead.fault());
    }
    return in.ok();
}

// --- Texts and blocks that sequences hold --------------------------------------------------------

void encode_other_texts(cdr::Writer& out, const char* const* texts, std::size_t count,
                        CORBA::ULong bound)
{
    for (std::size_t i = 0; i < count; ++i)
        encode_string(out, texts[i], bound);
}

namespace {

template <typename Char>
void decode_any_text(cdr::Reader& in, Char*& text, CORBA::ULong bound, Arena* arena)
{
    if (arena != nullptr) {
        const Char* view = nullptr;
        decode_string_view(in, *arena, view, bound);
        text = const_cast<Char*>(view);
        return;
    }
    Char* decoded = nullptr;
    decode_owned(in, decoded, bound, true);
    free_text(std::exchange(text, decoded));
}

void encode_texts(cdr::Writer& out, const wchar_t* const* texts, std::size_t count,
                  CORBA::ULong bound)
{
    for (std::size_t i = 0; i < count; ++i)
        encode_string(out, texts[i], bound);
}

void decode_texts(cdr::Reader& in, wchar_t** texts, std::size_t count, CORBA::ULong bound,
                  Arena* arena)
{
    for (std::size_t i = 0; i < count; ++i)
        decode_any_text(in, texts[i], bound, arena);
}

} // namespace

void decode_other_texts(cdr::Reader& in, char** texts, std::size_t count, CORBA::ULong bound,
                        Arena* arena)
{
    const bool converts = cdr::converting_form(in) != nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        if (converts || arena != nullptr) {
            decode_any_text(in, texts[i], bound, arena);
            continue;
        }
        const std::string_view text = in.read_string();
        if (text.size() > bound) [[unlikely]]
            in.fail(cdr::Fault::bound_exceeded);
        replace_text(texts[i], in.ok() ? text : "");
    }
}

template <typename Char>
void decode_text(cdr::Reader& in, Char*& text, CORBA::ULong bound, Arena* arena)
{
    decode_texts(in, &text, 1, bound, arena);
}

template <typename Char>
void encode_text_sequence(cdr::Writer& out, const SequenceLayout& sequence, CORBA::ULong bound,
                          CORBA::ULong text_bound)
{
    write_length(out, sequence.length, bound);
    encode_texts(out, static_cast<const Char* const*>(sequence.buffer), sequence.length,
                 text_bound);
}

template <typename Char>
void decode_text_sequence(cdr::Reader& in, SequenceLayout& sequence, CORBA::ULong bound,
                          CORBA::ULong text_bound, Arena* arena)
{
    if (begin_text_sequence<Char>(in, sequence, bound, arena))
        decode_texts(in, static_cast<Char**>(sequence.buffer), sequence.length, text_bound, arena);
}

template void decode_string(cdr::Reader&, TextOwner<char, false>&, CORBA::ULong);
template void decode_text(cdr::Reader&, char*&, CORBA::ULong, Arena*);
template void encode_text_sequence<char>(cdr::Writer&, const SequenceLayout&, CORBA::ULong,
                                         CORBA::ULong);
template void decode_text_sequence<char>(cdr::Reader&, SequenceLayout&, CORBA::ULong, CORBA::ULong,
                                         Arena*);
template void decode_text(cdr::Reader&, wchar_t*&, CORBA::ULong, Arena*);
template void encode_text_sequence<wchar_t>(cdr::Writer&, const SequenceLayout&, CORBA::ULong,
                                            CORBA::ULong);
template void decode_text_sequence<wchar_t>(cdr::Reader&, SequenceLayout&, CORBA::ULong,
                                            CORBA::ULong, Arena*);

void encode_block_sequence(cdr::Writer& out, const Block& element, const SequenceLayout& sequence,
                           CORBA::ULong bound)
{
    write_length(out, sequence.length, bound);
    if (sequence.length != 0) encode_block(out, element, sequence.buffer, sequence.length);
}

void decode_block_sequence(cdr::Reader& in, const Block& element, SequenceLayout& sequence,
                           CORBA::ULong bound, Arena* arena)
{
    const CORBA::ULong count = read_length(in, element.data_size, bound);
    if (!in.ok()) [[unlikely]]
        return;
    if (arena != nullptr) {
        void* const view = count == 0 ? nullptr : view_block(in, element, *arena, count);
        const CORBA::ULong viewed = view == nullptr ? 0 : count;
        sequence = {view, viewed, viewed, false};
        return;
    }
    // What fixed_layout.h describes has no constructors: new T[n] is nothing but its memory.
    if (!sequence.release || count > sequence.capacity) {
        if (sequence.release) ::operator delete[](sequence.buffer);
        sequence = {nullptr, 0, 0, true};
        sequence = {::operator new[](count* std::size_t{element.size}), 0, count, true};
    }
    sequence.length = count;
    if (count != 0) decode_block(in, element, sequence.buffer, count);
}

} // namespace kairos::mapping
