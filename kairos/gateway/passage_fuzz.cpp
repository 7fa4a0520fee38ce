// SPDX-License-Identifier: Apache-2.0
//
// What a gateway makes of arbitrary bytes. The first octet of the input says what they are: an id
// of an object, a reference that an id is made of, or a TypeCode and values of that type, in either
// byte order, which pass through the gateway: out and back gives what passing them again gives.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/gateway/relay.h"
#include "kairos/gateway/rewriting.h"
#include "kairos/types/typecode_wire.h"

#include <cstring>
#include <vector>

namespace cdr = kairos::cdr;
namespace gateway = kairos::gateway;
namespace ior = kairos::ior;
using kairos::Bytes;

namespace {

/// Knows nothing but one type, where values of it are copied.
class Known final : public gateway::Interfaces {
  public:
    std::shared_ptr<const gateway::Interface> interface_of(CORBA::Object_ptr) override
    {
        return nullptr;
    }
    CORBA::TypeCode_ptr type(std::string_view repository_id) override
    {
        return repository_id == "IDL:A:1.0" ? CORBA::TypeCode::_duplicate(only.in())
                                            : CORBA::TypeCode::_nil();
    }
    CORBA::TypeCode_var only;
};

struct World {
    World()
    {
        char name[] = "fuzz";
        char option[] = "-ORBListenEndpoints";
        char endpoint[] = "iiop://127.0.0.1:0";
        char* arguments[] = {name, option, endpoint, nullptr};
        int count = 3;
        orb = CORBA::ORB_init(count, arguments, "gateway-fuzz");
        const gateway::Options options{.secret = kairos::as_bytes("secret")};
        relay = new gateway::Relay(orb.in(), known, options);
        relay->serve(gateway::make_adapter(orb.in(), options));
    }
    ~World() { orb->destroy(); }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    CORBA::ORB_var orb;
    Known known;
    PortableServer::Servant_var<gateway::Relay> relay;
};

World& world()
{
    static World only;
    return only;
}

void open_id(Bytes id)
{
    const gateway::Seal seal(kairos::as_bytes("secret"));
    if (const auto target = seal.open(id)) {
        const std::vector<std::byte> again = seal.id_of(*target);
        KAIROS_CHECK(seal.open(again) == target);
    }
}

void seal_reference(Bytes bytes, bool little_endian)
{
    cdr::Reader in(bytes, little_endian);
    ior::Ior target;
    if (!ior::decode(in, target) || target.is_nil()) return;
    const gateway::Seal seal(kairos::as_bytes("secret"));
    const gateway::Seal other(kairos::as_bytes("other"));
    try {
        std::vector<std::byte> id = seal.id_of(target);
        KAIROS_CHECK(seal.open(id) == target);
        KAIROS_CHECK(!other.open(id));
        id.back() ^= std::byte{1};
        KAIROS_CHECK(!seal.open(id));
    } catch (const CORBA::IMP_LIMIT&) { // a long one
    }
}

/// Copies values through the gateway; empty where they are refused.
std::vector<std::byte> passed(cdr::Reader& in, const CORBA::TypeCode& type)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll copies(out);
    gateway::Rewriting rules(*world().relay.in());
    kairos::types::Copier copier(in, out, rules);
    copier.value(type);
    copier.value(type); // which may share values with the first
    if (!in.ok()) return {};
    return {out.contiguous().begin(), out.contiguous().end()};
}

void pass_values(Bytes bytes, bool little_endian)
{
    cdr::Reader in(bytes, little_endian);
    CORBA::TypeCode_var type;
    try {
        type = kairos::types::decode_type_code(in);
        if (!in.ok()) return;
        world().known.only = type;
        const std::vector<std::byte> out = passed(in, *type.in());
        if (!in.ok()) return;
        cdr::Reader there(out, kairos::native_little_endian);
        const std::vector<std::byte> back = passed(there, *type.in());
        KAIROS_CHECK(there.ok() && there.left() == 0);
        cdr::Reader here(back, kairos::native_little_endian);
        const std::vector<std::byte> again = passed(here, *type.in());
        KAIROS_CHECK(here.ok() && here.left() == 0);
        KAIROS_CHECK(out == again);
    } catch (const CORBA::SystemException&) { // what cannot be written, or a long reference
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    std::vector<std::byte> bytes(size - 1);
    if (size > 1) std::memcpy(bytes.data(), data + 1, size - 1);
    const bool little_endian = (data[0] & 1) != 0;
    switch (data[0] >> 1 & 3) {
    case 0:
        open_id(bytes);
        break;
    case 1:
        seal_reference(bytes, little_endian);
        break;
    default:
        pass_values(bytes, little_endian);
    }
    return 0;
}
