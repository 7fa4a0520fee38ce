// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/marshal.h"

#include "kairos/mapping/union.h"

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

} // namespace kairos::mapping
