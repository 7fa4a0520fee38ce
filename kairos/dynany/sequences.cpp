// SPDX-License-Identifier: Apache-2.0
//
// insert_…_seq and get_…_seq (CORBA 3.3 part 1, 16.2.3.11): all elements of a sequence or array of
// numbers or characters at once, of the DynAny itself or of its current component.
#include "kairos/dynany/elements.h"
#include "kairos/dynany/input.h"
#include "kairos/dynany/output.h"
#include "kairos/dynany/transfer.h"
#include "kairos/mapping/marshal.h"

namespace kairos::dynany {

Elements& Node::elements(CORBA::TCKind element)
{
    (void)tree();
    Elements* elements = as_elements();
    if (elements != nullptr && elements->element_kind() == element) return *elements;
    elements = current().as_elements();
    if (elements == nullptr || elements->element_kind() != element) raise_type_mismatch();
    return *elements;
}

template <typename Sequence>
void Node::insert_sequence(CORBA::TCKind element, const Sequence& value)
{
    Elements& place = elements(element);
    place.require_length(value.length());
    Transfer transfer(tree());
    if (!place.is_array()) transfer.out().write(value.length());
    for (CORBA::ULong i = 0; i < value.length(); ++i)
        mapping::encode(transfer.out(), value[i]);
    cdr::Reader written = transfer.reader();
    Input in(written);
    place.read(in);
    in.finish();
    place.rewind();
}

template <typename Sequence>
Sequence* Node::get_sequence(CORBA::TCKind element)
{
    Elements& place = elements(element);
    Transfer transfer(tree());
    Output out(transfer.out(), false);
    place.write(out);
    cdr::Reader in = transfer.reader();
    const CORBA::ULong length = place.is_array() ? place.count() : in.read<std::uint32_t>();
    typename Sequence::_var_type list = new Sequence;
    list->length(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        mapping::decode(in, (*list)[i]);
    if (!in.ok()) raise_invalid_value();
    return list._retn();
}

#define KAIROS_SEQUENCE_OPERATIONS(name, Type, kind)                                               \
    void Node::insert_##name##_seq(const CORBA::Type& value)                                       \
    {                                                                                              \
        insert_sequence(CORBA::kind, value);                                                       \
    }                                                                                              \
    CORBA::Type* Node::get_##name##_seq() { return get_sequence<CORBA::Type>(CORBA::kind); }

KAIROS_SEQUENCE_OPERATIONS(boolean, BooleanSeq, tk_boolean)
KAIROS_SEQUENCE_OPERATIONS(octet, OctetSeq, tk_octet)
KAIROS_SEQUENCE_OPERATIONS(char, CharSeq, tk_char)
KAIROS_SEQUENCE_OPERATIONS(short, ShortSeq, tk_short)
KAIROS_SEQUENCE_OPERATIONS(ushort, UShortSeq, tk_ushort)
KAIROS_SEQUENCE_OPERATIONS(long, LongSeq, tk_long)
KAIROS_SEQUENCE_OPERATIONS(ulong, ULongSeq, tk_ulong)
KAIROS_SEQUENCE_OPERATIONS(float, FloatSeq, tk_float)
KAIROS_SEQUENCE_OPERATIONS(double, DoubleSeq, tk_double)
KAIROS_SEQUENCE_OPERATIONS(longlong, LongLongSeq, tk_longlong)
KAIROS_SEQUENCE_OPERATIONS(ulonglong, ULongLongSeq, tk_ulonglong)
KAIROS_SEQUENCE_OPERATIONS(longdouble, LongDoubleSeq, tk_longdouble)
KAIROS_SEQUENCE_OPERATIONS(wchar, WCharSeq, tk_wchar)

#undef KAIROS_SEQUENCE_OPERATIONS

} // namespace kairos::dynany
