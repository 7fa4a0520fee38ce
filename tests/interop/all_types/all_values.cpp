// SPDX-License-Identifier: Apache-2.0
#include "all_values.h"

namespace all {

namespace {
/// The next type of those that an Any is filled with, until one is chosen.
template <typename T>
void fill_any(Filler& filler, CORBA::Any& any)
{
    T value{};
    visit(filler, value);
    any <<= value;
}
template <typename T>
bool describe_any(Describer& describer, const CORBA::Any& any)
{
    T value{};
    if (!get(any, value)) return false;
    visit(describer, static_cast<const T&>(value));
    return true;
}
} // namespace

// What is inside an Any inside something else: enough to have every way of encoding, but nothing
// wide, which GIOP 1.0 does not have. Each type by itself is a check of its own.
void Filler::any(CORBA::Any& any)
{
    switch (++depth_ > 3 ? random_() % 3 : random_() % 8) {
    case 0:
        any = CORBA::Any();
        break;
    case 1:
        fill_any<All::I32>(*this, any);
        break;
    case 2:
        fill_any<All::Color>(*this, any);
        break;
    case 3:
        fill_any<All::Point>(*this, any);
        break;
    case 4:
        fill_any<All::OnLong>(*this, any);
        break;
    case 5:
        fill_any<All::Expression>(*this, any);
        break;
    case 6:
        fill_any<All::Anything_s>(*this, any);
        break;
    default: {
        CORBA::String_var name;
        text(name, 20);
        any <<= name.in();
    }
    }
    --depth_;
}

void Describer::any(const CORBA::Any& any)
{
    const CORBA::TypeCode_var type = any.type();
    const char* name = nullptr;
    text_ << "any " << static_cast<int>(type->kind()) << " (";
    if (any >>= name)
        text(name, 0);
    else if (type->kind() != CORBA::tk_null && !describe_any<All::I32>(*this, any) &&
             !describe_any<All::Color>(*this, any) && !describe_any<All::Point>(*this, any) &&
             !describe_any<All::OnLong>(*this, any) && !describe_any<All::Expression>(*this, any) &&
             !describe_any<All::Anything_s>(*this, any))
        text_ << "unknown";
    text_ << ") ";
}

} // namespace all
