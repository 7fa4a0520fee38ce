// SPDX-License-Identifier: Apache-2.0
//
// A servant without a skeleton that gets arbitrary bytes as its arguments. The first octet of the
// input says in which byte order the rest is, and whether there is a second argument; a TypeCode
// follows, that of the arguments, and then the request's body, perhaps with a context. What is
// accepted goes back as result and inout argument; of what is refused the servant can still say so.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/portable_server.h"
#include "kairos/giop/request.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"
#include "kairos/types/typecode_wire.h"

#include <vector>

namespace cdr = kairos::cdr;
using kairos::Bytes;

namespace {

class Echo final : public PortableServer::DynamicImplementation {
  public:
    void invoke(CORBA::ServerRequest_ptr request) override
    {
        accepted = false;
        CORBA::NVList_ptr list = new CORBA::NVList;
        list->add(CORBA::ARG_INOUT)->value()->replace(type, nullptr);
        if (has_second) list->add(CORBA::ARG_IN)->value()->replace(type, nullptr);
        try {
            request->arguments(list);
        } catch (const CORBA::SystemException& refusal) {
            CORBA::Any exception;
            exception <<= refusal;
            return request->set_exception(exception);
        }
        accepted = true;
        const CORBA::Context_ptr context = request->ctx();
        CORBA::NVList_var properties;
        try {
            if (!CORBA::is_nil(context)) context->get_values("", 0, "*", properties.out());
        } catch (const CORBA::BAD_CONTEXT&) { // it has none
        }
        request->set_result(*list->item(list->count() - 1)->value());
    }
    char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override
    {
        return CORBA::string_dup("IDL:Fuzz/Echo:1.0");
    }

    CORBA::TypeCode_ptr type = nullptr;
    bool has_second = false;
    bool accepted = false;
};

/// Nobody waits for the reply.
class Sink final : public kairos::orb::ReplyChannel {
  public:
    void send(Bytes, const cdr::Writer&) noexcept override {}
};

kairos::orb::Orb& core()
{
    struct Target {
        Target()
        {
            int argc = 0;
            orb = CORBA::ORB_init(argc, nullptr, "fuzz");
        }
        ~Target() { orb->destroy(); }
        CORBA::ORB_var orb;
    };
    static Target only;
    return only.orb->_kairos_core();
}

bool is_parameter(CORBA::TypeCode_ptr type)
{
    CORBA::TypeCode_var actual = CORBA::TypeCode::_duplicate(type);
    while (actual->kind() == CORBA::tk_alias)
        actual = actual->content_type();
    const CORBA::TCKind kind = actual->kind();
    return kind != CORBA::tk_null && kind != CORBA::tk_void && kind != CORBA::tk_except;
}

} // namespace

// What the body holds is kept in two Anys, one of them twice, and written again.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 64, .octets_beside = std::size_t{128} << 10};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1,
                                       reinterpret_cast<const std::byte*>(data) + size);
    const bool little_endian = (data[0] & 2) != 0;
    cdr::Reader in(bytes, little_endian);
    CORBA::TypeCode_var type;
    kairos::mapping::decode(in, type);
    if (!in.ok()) return 0;

    kairos::giop::Request request;
    request.version = kairos::giop::version_1_2;
    request.little_endian = little_endian;
    request.response_flags = kairos::giop::response_flags::sync_target;
    request.operation = "anything";
    request.body = cdr::Reader(Bytes(bytes).subspan(in.offset()), little_endian);
    Sink sink;
    kairos::orb::UpcallMemory memory;
    kairos::orb::Upcall upcall(core(), request, nullptr, sink, memory);
    Echo servant;
    servant.type = type.in();
    servant.has_second = (data[0] & 1) != 0;
    try {
        servant._kairos_dispatch(upcall);
    } catch (const CORBA::SystemException& exception) {
        KAIROS_CHECK(!servant.accepted); // what was received can be sent
        upcall.reply(exception);
    }
    KAIROS_CHECK(upcall.replied());
    KAIROS_CHECK(!servant.accepted || is_parameter(type.in()));
    return 0;
}
