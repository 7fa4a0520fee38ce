// SPDX-License-Identifier: Apache-2.0
//
// Hostile texts, asked of hostile values. The first octet says which language, the second how often
// four octets of text follow; what is left is an Any in CDR, the event. What was accepted is
// evaluated twice, also of the Any as it is after another journey, and by an index: the answers are
// the same.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/constraints/index.h"
#include "kairos/types/any_access.h"
#include "kairos/types/typecode_wire.h"

#include <algorithm>
#include <vector>

namespace cdr = kairos::cdr;
namespace constraints = kairos::constraints;

namespace kairos::fuzz {

// A literal of one octet is an operand of 64, in a list that doubles; a TypeCode of a few octets is
// a hundred.
Bounds bounds() { return {.octets_each = 600, .comparisons_each = 3000}; }

} // namespace kairos::fuzz

namespace {

/// The event is also the value of every property, and of every name that it has not itself.
class Both : public constraints::AnyEvent {
  public:
    explicit Both(const CORBA::Any& any) : AnyEvent(any), any_(any) {}
    [[nodiscard]] constraints::Term find(std::string_view name) const override
    {
        return name == "p" ? constraints::Term(any_) : constraints::Term();
    }

  private:
    const CORBA::Any& any_;
};

CORBA::Any decoded(kairos::Bytes bytes)
{
    cdr::Reader in(bytes, kairos::native_little_endian);
    CORBA::Any any;
    kairos::mapping::decode(in, any);
    return in.ok() ? any : CORBA::Any();
}

/// After another journey. It may be none that can be made again: then as it was.
CORBA::Any moved(const CORBA::Any& any)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copy_all(out);
    kairos::mapping::encode(out, any);
    return decoded(out.contiguous());
}

constraints::Answer answer(const CORBA::Any& any, const constraints::Constraint& constraint)
{
    constraints::Evaluator evaluator(4096);
    const Both subject(any);
    evaluator.look_at(subject);
    const constraints::Answer first = evaluator.evaluate(constraint);
    const constraints::Answer again = evaluator.evaluate(constraint);
    KAIROS_CHECK(first.matches == again.matches && first.fault == again.fault);
    KAIROS_CHECK(!first.matches || first.fault == constraints::Fault::none);

    constraints::ConstraintIndex index;
    KAIROS_CHECK(index.add(1, constraint));
    std::vector<constraints::ConstraintIndex::Id> found;
    KAIROS_CHECK(index.match(evaluator, found) <= 1);
    KAIROS_CHECK(found.size() == (first.matches ? 1 : 0));
    return first;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2) return 0;
    const bool is_trader = (data[0] & 1) != 0;
    const std::size_t length = std::min<std::size_t>(4 * data[1], size - 2);
    const std::string_view text(reinterpret_cast<const char*>(data + 2), length);
    (void)constraints::Preference::parse(text);
    constraints::Diagnostic diagnostic;
    const auto constraint = constraints::Constraint::parse(
        text, is_trader ? constraints::Language::trader : constraints::Language::extended, {},
        &diagnostic);
    if (!constraint.ok()) {
        KAIROS_CHECK(diagnostic.offset <= text.size() && !diagnostic.message.empty());
        KAIROS_CHECK(!diagnostic.render(text).empty());
        return 0;
    }
    std::vector<std::byte> event; // aligned as a message is
    for (std::size_t i = 2 + length; i < size; ++i)
        event.push_back(static_cast<std::byte>(data[i]));
    const CORBA::Any any = decoded(event);
    const constraints::Answer here = answer(any, *constraint);
    const constraints::Answer there = answer(moved(any), *constraint);
    KAIROS_CHECK(here.matches == there.matches && here.fault == there.fault);
    return 0;
}
