// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as a TypeCode: what is read can be asked anything, compared with itself, made
// compact and written again, and what is written is read as an equal type.
#include "kairos/base/check.h"
#include "kairos/types/typecode_wire.h"

using namespace CORBA;
using kairos::cdr::Reader;

namespace {

/// Every parameter once; parts are not followed, there may be 2^60 ways through them.
void ask(const TypeCode& type)
{
    const auto ignoring = [](auto operation) {
        try {
            operation();
        } catch (const TypeCode::BadKind&) { // as the kind wants it
        } catch (const TypeCode::Bounds&) {
        }
    };
    ignoring([&] { KAIROS_CHECK(type.id() != nullptr && type.name() != nullptr); });
    ignoring([&] { (void)type.length(); });
    ignoring([&] { KAIROS_CHECK(type.fixed_digits() >= type.fixed_scale()); });
    ignoring([&] { TypeCode_var(type.content_type()); });
    ignoring([&] { TypeCode_var(type.discriminator_type()); });
    ignoring([&] { TypeCode_var(type.concrete_base_type()); });
    ignoring([&] {
        for (ULong i = 0; i < type.member_count(); ++i)
            KAIROS_CHECK(type.member_name(i) != nullptr);
    });
    ignoring([&] {
        for (ULong i = 0; i < type.member_count(); ++i)
            TypeCode_var(type.member_type(i));
    });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    Reader in(std::as_bytes(std::span(data + 1, size - 1)), (data[0] & 1) != 0);
    const TypeCode_var type = kairos::types::decode_type_code(in);
    KAIROS_CHECK(in.ok() == (type.in() != nullptr));
    if (!in.ok()) return 0;
    ask(*type.in());
    KAIROS_CHECK(type->equal(type) && type->equivalent(type));
    const TypeCode_var compact = type->get_compact_typecode();
    KAIROS_CHECK(compact->equivalent(type));

    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    kairos::types::encode_type_code(out, *type.in());
    Reader again(out.contiguous(), kairos::native_little_endian);
    const TypeCode_var same = kairos::types::decode_type_code(again);
    // Where the input had an indirection to a sequence, there is the sequence once more.
    if (again.fault() == kairos::cdr::Fault::nesting_too_deep) return 0;
    KAIROS_CHECK(again.ok() && again.left() == 0);
    KAIROS_CHECK(same->equal(type));
    return 0;
}
