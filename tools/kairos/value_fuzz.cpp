// SPDX-License-Identifier: Apache-2.0
//
// Any text as JSON of a value: it is one, or is refused with a reason; what it is it is again when
// it was written and read. The first octet says of which type.
#include "tools/kairos/value_json.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

using namespace kairos::tools;

const ValueJson& values()
{
    static const CORBA::ORB_var orb = [] {
        int argc = 0;
        return CORBA::ORB_init(argc, nullptr, "value-fuzz");
    }();
    static const ValueJson made(orb.in(), {});
    return made;
}

/// A struct of most kinds, in a sequence of which each may hold others.
CORBA::TypeCode_ptr everything()
{
    static const CORBA::TypeCode_var made =
        type_of(parse_json(R"({"kind":"struct","id":"IDL:E:1.0","name":"E","members":[
            {"name":"s","type":"string<8>"},{"name":"w","type":"wstring"},
            {"name":"f","type":"float"},
            {"name":"o","type":{"kind":"sequence","element":"octet"}},{"name":"a","type":"any"},
            {"name":"p","type":"fixed<5,2>"},
            {"name":"e","type":{"kind":"enum","id":"IDL:C:1.0","name":"C","enumerators":["x","y"]}},
            {"name":"u","type":{"kind":"union","id":"IDL:U:1.0","name":"U","discriminator":"short",
              "cases":[{"name":"n","type":"long","label":1},{"name":"t","type":"char","label":2}]}},
            {"name":"more","type":{"kind":"sequence","element":{"recursive":"IDL:E:1.0"}}}]})"),
                {});
    return made.in();
}

CORBA::TypeCode_ptr chosen(std::uint8_t number)
{
    switch (number % 4) {
    case 0:
        return CORBA::_tc_any;
    case 1:
        return everything();
    case 2:
        return CORBA::_tc_TypeCode;
    default:
        return CORBA::_tc_longdouble;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const CORBA::TypeCode_ptr type = chosen(data[0]);
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    Json json;
    CORBA::Any_var value;
    try {
        json = parse_json(text);
        value = values().value_of(json, type);
    } catch (const std::runtime_error&) {
        return 0;
    } catch (const CORBA::SystemException&) { // a limit of the core's
        return 0;
    }
    const Json written = values().json_of(value.in());
    const CORBA::Any_var again = values().value_of(written, type);
    if (values().json_of(again.in()) != written) std::abort();
    return 0;
}
