// SPDX-License-Identifier: Apache-2.0
//
// Which code sets text travels in (CORBA 3.3 part 2, 7.10): what an ORB offers in its references,
// what a client and a server make of what the other offers, and the service context by which the
// client tells. Asked when references are made and connections begin, not during calls. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/codeset.h"
#include "kairos/ior/component.h"

#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace kairos::orb {

/// The CodeSets service context's id.
inline constexpr std::uint32_t code_sets_context_id = 1;

/// What a client tells the server on a connection; 0 for "none".
struct CodeSetContext {
    std::uint32_t characters = 0;
    std::uint32_t wide_characters = 0;
    friend bool operator==(const CodeSetContext&, const CodeSetContext&) = default;
};
/// Decodes the context's data, an encapsulation; nothing if it is malformed.
[[nodiscard]] KAIROS_API std::optional<CodeSetContext> decode_code_set_context(Bytes data) noexcept;
/// Returns an encoded list of service contexts with this one only, as giop::RequestTemplate wants
/// it.
[[nodiscard]] std::vector<std::byte> encode_contexts(const CodeSetContext& context);

/// What is agreed between this ORB as a client and a profile of a reference.
struct Agreement {
    const cdr::TextForm* form = nullptr; ///< of the code sets that made it; may be null
    /// Whether the server is to be told, and what.
    std::optional<CodeSetContext> context{};
};

/// Returns the id of the transmission code set by the algorithm of CORBA 3.3 part 2, 7.10.2.6, or 0
/// if there is none. `conversions` are the client's, best first.
[[nodiscard]] std::uint32_t choose_code_set(std::uint32_t native,
                                            std::span<const std::uint32_t> conversions,
                                            const ior::CodeSetComponent& server,
                                            std::uint32_t fallback);

/// The code sets of one ORB, and what it agrees with others on.
class CodeSets {
  public:
    CodeSets(const cdr::CodeSet& native, const cdr::CodeSet& native_wide);
    CodeSets(const CodeSets&) = delete;
    CodeSets& operator=(const CodeSets&) = delete;

    /// Returns what references to objects of this ORB say.
    [[nodiscard]] const ior::CodeSets& offered() const noexcept { return offered_; }

    /// Returns what this ORB, as a client that speaks GIOP 1.`giop_minor`, agrees on with a profile
    /// that has these components.
    [[nodiscard]] Agreement agree(std::uint8_t giop_minor,
                                  std::span<const ior::TaggedComponent> components);

    /// Returns, for a server, how text travels in messages of GIOP 1.`giop_minor` on a connection
    /// whose client has announced this, or nothing.
    [[nodiscard]] KAIROS_API const cdr::TextForm*
    form_of(std::uint8_t giop_minor, const std::optional<CodeSetContext>& announced);

    /// Returns whether a body with wide text means the same in both forms.
    [[nodiscard]] bool same_wide_text(const cdr::TextForm* a,
                                      const cdr::TextForm* b) const noexcept;
    /// Returns whether a body with octets beyond ASCII in its characters means the same in both
    /// forms.
    [[nodiscard]] bool same_characters(const cdr::TextForm* a,
                                       const cdr::TextForm* b) const noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks

  private:
    /// Returns the one kept form with these values; null for the plain form.
    [[nodiscard]] const cdr::TextForm* kept(const cdr::TextForm& form);
    [[nodiscard]] const cdr::CodeSet& characters_of(const cdr::TextForm* form) const noexcept
    {
        return form == nullptr ? native_ : *form->characters;
    }

    const cdr::CodeSet& native_;
    const ior::CodeSets offered_;
    mutable std::mutex mutex_; // guards forms_
    // As many as there are versions, pairs of code sets and refusals: peers cannot make more.
    std::vector<std::unique_ptr<const cdr::TextForm>> forms_;
};

} // namespace kairos::orb
