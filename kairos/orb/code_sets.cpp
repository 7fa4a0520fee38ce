// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/code_sets.h"

#include <algorithm>
#include <array>

namespace kairos::orb {
namespace {

using cdr::CodeSet;
using cdr::TextError;
using cdr::TextForm;
namespace code_set = cdr::code_set;

/// What an ORB converts to and from beside its native sets: the fallbacks that CORBA names first.
constexpr std::array character_conversions = {code_set::utf_8, code_set::iso_8859_1};
constexpr std::array wide_conversions = {code_set::utf_16, code_set::ucs_4, code_set::ucs_2};

template <std::size_t count>
ior::CodeSetComponent component(std::uint32_t native,
                                const std::array<std::uint32_t, count>& conversions)
{
    ior::CodeSetComponent result{native, {}};
    for (const std::uint32_t id : conversions)
        if (id != native) result.conversions.push_back(id);
    return result;
}

bool contains(std::span<const std::uint32_t> ids, std::uint32_t id) noexcept
{
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// Whether the sets have characters in common beyond those that all have (7.10.5.1).
bool compatible(std::uint32_t a, std::uint32_t b) noexcept
{
    constexpr std::uint16_t unicode = 0x1000;
    const CodeSet* one = cdr::find_code_set(a);
    const CodeSet* other = cdr::find_code_set(b);
    if (one == nullptr || other == nullptr) return false;
    return one->character_set == other->character_set || one->character_set == unicode ||
           other->character_set == unicode;
}

/// A set for wide characters in this version: GIOP 1.1 has units of fixed width only.
const CodeSet* wide_set(std::uint32_t id, std::uint8_t giop_minor) noexcept
{
    const CodeSet* set = cdr::find_code_set(id);
    if (set == nullptr || !set->carries_wide) return nullptr;
    return giop_minor < 2 && set->encoding == cdr::Encoding::utf_8 ? nullptr : set;
}

const CodeSet* character_set(std::uint32_t id)
{
    const CodeSet* set = cdr::find_code_set(id);
    return set != nullptr && set->carries_characters && is_convertible(*set) ? set : nullptr;
}

} // namespace

std::optional<CodeSetContext> decode_code_set_context(Bytes data) noexcept
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    CodeSetContext context;
    context.characters = reader.read<std::uint32_t>();
    context.wide_characters = reader.read<std::uint32_t>();
    return reader.ok() ? std::optional(context) : std::nullopt;
}

std::vector<std::byte> encode_contexts(const CodeSetContext& context)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(std::uint32_t{1});
    writer.write(code_sets_context_id);
    const auto scope = writer.begin_encapsulation();
    writer.write(context.characters);
    writer.write(context.wide_characters);
    writer.end_encapsulation(scope);
    const Bytes bytes = writer.contiguous();
    return {bytes.begin(), bytes.end()};
}

std::uint32_t choose_code_set(std::uint32_t native, std::span<const std::uint32_t> conversions,
                              const ior::CodeSetComponent& server, std::uint32_t fallback)
{
    if (server.native == native) return native;
    if (server.native != 0 && contains(conversions, server.native)) return server.native;
    if (contains(server.conversions, native)) return native;
    // Both convert: to what the server likes best.
    for (const std::uint32_t id : server.conversions)
        if (contains(conversions, id)) return id;
    return compatible(native, server.native) ? fallback : 0;
}

CodeSets::CodeSets(const CodeSet& native, const CodeSet& native_wide)
    : native_(native), offered_{component(native.id, character_conversions),
                                component(native_wide.id, wide_conversions)}
{
}

const TextForm* CodeSets::kept(const TextForm& form)
{
    const bool plain = form.giop_minor >= 2 && form.native == form.characters &&
                       form.characters_refused == TextError::none &&
                       form.wide_refused == TextError::none &&
                       form.wide == cdr::find_code_set(code_set::utf_16);
    if (plain) return nullptr;
    const std::lock_guard lock(mutex_);
    for (const auto& known : forms_)
        if (*known == form) return known.get();
    forms_.push_back(std::make_unique<const TextForm>(form));
    return forms_.back().get();
}

Agreement CodeSets::agree(std::uint8_t giop_minor, std::span<const ior::TaggedComponent> components)
{
    TextForm form{.giop_minor = giop_minor,
                  .native = &native_,
                  .characters = cdr::find_code_set(code_set::iso_8859_1)};
    const ior::TaggedComponent* found =
        giop_minor == 0 ? nullptr : ior::find(components, ior::tag_code_sets);
    const auto server = found == nullptr ? std::nullopt : ior::decode_code_sets(*found);
    if (!server) {
        form.wide_refused =
            giop_minor == 0 ? TextError::wide_in_giop_1_0 : TextError::wide_not_offered;
        return {kept(form), std::nullopt};
    }
    const ior::CodeSetComponent& chars = server->characters;
    if (chars.native != 0 || !chars.conversions.empty()) {
        const std::uint32_t id =
            choose_code_set(native_.id, offered_.characters.conversions, chars, code_set::utf_8);
        if (id == 0) form.characters_refused = TextError::incompatible;
        if (id != 0) form.characters = character_set(id);
    }
    const ior::CodeSetComponent& wide = server->wide_characters;
    if (wide.native == 0 && wide.conversions.empty()) {
        form.wide_refused = TextError::wide_not_offered;
    } else {
        // Beyond what it offers itself: other names of the same sets, and UTF-8.
        std::vector<std::uint32_t> conversions = offered_.wide_characters.conversions;
        for (const std::uint32_t id : {0x00010104u, 0x00010105u, 0x00010101u, 0x00010102u})
            conversions.push_back(id);
        if (giop_minor >= 2) conversions.push_back(code_set::utf_8);
        const std::uint32_t id =
            choose_code_set(offered_.wide_characters.native, conversions, wide, code_set::utf_16);
        form.wide = wide_set(id, giop_minor);
        if (form.wide == nullptr) form.wide_refused = TextError::incompatible;
    }
    const bool characters_agreed = form.characters_refused == TextError::none;
    return {kept(form), CodeSetContext{characters_agreed ? form.characters->id : 0,
                                       form.wide == nullptr ? 0 : form.wide->id}};
}

const TextForm* CodeSets::form_of(std::uint8_t giop_minor,
                                  const std::optional<CodeSetContext>& announced)
{
    TextForm form{.giop_minor = giop_minor,
                  .is_server = true,
                  .native = &native_,
                  .characters = cdr::find_code_set(code_set::iso_8859_1)};
    if (giop_minor == 0) {
        form.wide_refused = TextError::wide_in_giop_1_0;
        return kept(form);
    }
    const CodeSetContext context = announced.value_or(CodeSetContext{});
    if (context.characters != 0) {
        const CodeSet* set = character_set(context.characters);
        if (set == nullptr) form.characters_refused = TextError::not_supported;
        if (set != nullptr) form.characters = set;
    }
    if (context.wide_characters == 0) {
        form.wide_refused = TextError::wide_not_negotiated;
    } else {
        form.wide = wide_set(context.wide_characters, giop_minor);
        if (form.wide == nullptr) form.wide_refused = TextError::not_supported;
    }
    return kept(form);
}

bool CodeSets::same_wide_text(const TextForm* a, const TextForm* b) const noexcept
{
    const auto minor = [](const TextForm* form) { return form == nullptr ? 2 : form->giop_minor; };
    const auto set = [](const TextForm* form) {
        return form == nullptr ? cdr::find_code_set(code_set::utf_16) : form->wide;
    };
    return minor(a) == minor(b) && set(a) == set(b);
}

bool CodeSets::same_characters(const TextForm* a, const TextForm* b) const noexcept
{
    const auto refused = [](const TextForm* form) {
        return form != nullptr && form->characters_refused != TextError::none;
    };
    return &characters_of(a) == &characters_of(b) && refused(a) == refused(b);
}

} // namespace kairos::orb
