// SPDX-License-Identifier: Apache-2.0
#include "servant.h"

#include <stdexcept>
#include <string>
#include <string_view>

namespace calls {

CORBA::ULong checksum_of(const CORBA::Octet* octets, CORBA::ULong count)
{
    CORBA::ULong sum = 0;
    for (CORBA::ULong i = 0; i < count; ++i)
        sum = sum * 31 + octets[i];
    return sum;
}

void EchoServant::note(CORBA::ULong number, const char* text)
{
    const std::lock_guard lock(mutex_);
    notes_ += number;
    last_note_ = CORBA::string_dup(text);
}

CORBA::Double EchoServant::mixed(CORBA::Octet a, CORBA::Double b, const char* c, CORBA::Short d,
                                 const Types::Shape& e, CORBA::Octet& f, CORBA::Double& g,
                                 CORBA::String_out h, Types::Point_s_out i, CORBA::Boolean& j)
{
    f = a;
    g = b;
    h = CORBA::string_dup(c);
    Types::Point_s_var points = new Types::Point_s;
    points->length(3);
    points[0u] = e.origin;
    points[1u] = e.corners[0];
    points[2u] = e.corners[1];
    i = points._retn();
    j = !j;
    return b + d;
}

void EchoServant::throw_full(CORBA::Long number, const Types::Person& who, Types::Echo_ptr where)
{
    Types::Full full;
    full.number = number;
    full.outline = who.outline;
    full.called = who.called;
    full.owner = who;
    for (int i = 0; i < 3; ++i)
        full.vector[i] = number + i;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            full.names[i][j] = who.lines[i];
    full.where = Types::Echo::_duplicate(where);
    full.rows.length(2);
    full.rows[1].length(2);
    full.rows[1][0] = -number;
    full.rows[1][1] = number;
    full.mood = who.mood;
    throw full;
}

void EchoServant::throw_system(const char* which, CORBA::ULong minor, CORBA::ULong completed)
{
    const std::string_view name = which;
    const auto completion = static_cast<CORBA::CompletionStatus>(completed);
    if (name == "NO_PERMISSION") throw CORBA::NO_PERMISSION(minor, completion);
    if (name == "INTERNAL") throw CORBA::INTERNAL(minor, completion);
    if (name == "NO_RESOURCES") throw CORBA::NO_RESOURCES(minor, completion);
    if (name == "BAD_PARAM") throw CORBA::BAD_PARAM(minor, completion);
    if (name == "TIMEOUT") throw CORBA::TIMEOUT(minor, completion);
    if (name == "TRANSACTION_ROLLEDBACK") throw CORBA::TRANSACTION_ROLLEDBACK(minor, completion);
    throw CORBA::NO_IMPLEMENT(minor, completion);
}

Types::Byte_s* EchoServant::large(CORBA::ULong size)
{
    Types::Byte_s_var bytes = new Types::Byte_s;
    bytes->length(size);
    for (CORBA::ULong i = 0; i < size; ++i)
        bytes[i] = large_octet(i);
    return bytes._retn();
}

CORBA::ULong EchoServant::checksum(const Types::Byte_s& bytes)
{
    return checksum_of(bytes.get_buffer(), bytes.length());
}

char* EchoServant::long_text(CORBA::ULong size)
{
    return CORBA::string_dup(std::string(size, 'x').c_str());
}

Types::Echo_ptr EchoServant::make_object()
{
    PortableServer::Servant_var<EchoServant> servant =
        new EchoServant(orb_.in(), poa_.in(), commands_);
    return servant->_this();
}

void EchoServant::remove_object(Types::Echo_ptr victim)
{
    PortableServer::ObjectId_var id = poa_->reference_to_id(victim);
    poa_->deactivate_object(id.in());
}

CORBA::Boolean EchoServant::same_object(CORBA::Object_ptr a, CORBA::Object_ptr b)
{
    if (CORBA::is_nil(a) || CORBA::is_nil(b)) return CORBA::is_nil(a) && CORBA::is_nil(b);
    return a->_is_equivalent(b);
}

} // namespace calls
