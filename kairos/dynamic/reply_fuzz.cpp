// SPDX-License-Identifier: Apache-2.0
//
// A dynamic invocation whose reply is arbitrary bytes. The first octet of the input says what they
// are: results, or the user exception that the request lists; a TypeCode follows, that of the
// result or of the exception, and then the body. Whatever is not accepted must leave the request as
// it was, and what is accepted must be what a message can hold.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/portable_server.h"
#include "kairos/orb/upcall.h"
#include "kairos/types/any_access.h"
#include "kairos/types/typecode_wire.h"

#include <optional>
#include <vector>

namespace cdr = kairos::cdr;
using kairos::Bytes;

namespace {

constexpr CORBA::Long untouched = 0x2A2A'2A2A;

/// Sent as it is, its repository id included.
class RawException final : public CORBA::UserException {
  public:
    RawException(std::string id, Bytes body) : id_(std::move(id)), body_(body) {}

    [[noreturn]] void _raise() const override { throw RawException(*this); }
    [[nodiscard]] const char* _name() const noexcept override { return "RawException"; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return id_.c_str(); }
    [[nodiscard]] CORBA::Exception* _duplicate() const override { return new RawException(*this); }
    void _marshal(cdr::Writer& out) const override { out.write_bytes(body_); }

  private:
    std::string id_;
    Bytes body_;
};

/// Answers every request with the bytes it was given.
class RawServant final : public PortableServer::ServantBase {
  public:
    void _kairos_dispatch(kairos::orb::Upcall& upcall) override
    {
        if (exception_id) {
            const kairos::orb::ExceptionType listed[] = {{*exception_id, nullptr}};
            upcall.arguments_read(listed);
            upcall.reply(RawException(*exception_id, body));
            return;
        }
        upcall.arguments_read();
        upcall.out().write_bytes(body);
        upcall.reply();
    }
    [[nodiscard]] bool _kairos_supports(std::string_view) const override { return true; }
    [[nodiscard]] const char* _kairos_id() const override { return "IDL:Fuzz/Raw:1.0"; }

    Bytes body;
    /// None: the body is results. A type may well have the id "".
    std::optional<std::string> exception_id;
};

/// An ORB with such an object, for all inputs.
class Target {
  public:
    Target()
    {
        int argc = 0;
        orb_ = CORBA::ORB_init(argc, nullptr, "fuzz");
        CORBA::Object_var root = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(root.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        object_ = poa->id_to_reference(id.in());
    }
    ~Target() { orb_->destroy(); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    [[nodiscard]] CORBA::Request* request() { return object_->_request("anything"); }

    RawServant servant;

  private:
    CORBA::ORB_var orb_;
    CORBA::Object_var object_;
};

Target& target()
{
    static Target only;
    return only;
}

/// What was accepted can be sent: in a message, for values are of one.
void encode(const CORBA::Any& any)
{
    const cdr::Environment environment;
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    out.set_environment(&environment);
    kairos::mapping::encode(out, any);
}

void expect_results(CORBA::TypeCode_ptr type)
{
    const CORBA::Request_var request = target().request();
    request->set_return_type(type);
    CORBA::Any& last = request->add_out_arg();
    last <<= untouched;
    bool accepted = false;
    try {
        request->invoke();
        accepted = true;
    } catch (const CORBA::SystemException&) {
        KAIROS_CHECK(request->env()->exception() != nullptr);
    }
    CORBA::Long value = 0;
    KAIROS_CHECK(last >>= value);
    KAIROS_CHECK(accepted || value == untouched);
    const CORBA::TypeCode_var now = request->return_value().type();
    KAIROS_CHECK(now->equal(type));
    if (accepted && type->kind() != CORBA::tk_void) encode(request->return_value());
}

void expect_exception(CORBA::TypeCode_ptr type)
{
    const CORBA::Request_var request = target().request();
    request->exceptions()->add(type);
    try {
        request->invoke();
    } catch (const CORBA::SystemException&) {
        return;
    }
    auto* raised = CORBA::UnknownUserException::_downcast(request->env()->exception());
    KAIROS_CHECK(raised != nullptr);
    encode(raised->exception());
}

} // namespace

// A call within the process: the body is copied, and what is made of it is kept and written again.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 64, .octets_beside = std::size_t{128} << 10};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1,
                                       reinterpret_cast<const std::byte*>(data) + size);
    const bool is_exception = (data[0] & 1) != 0;
    cdr::Reader in(bytes, (data[0] & 2) != 0);
    CORBA::TypeCode_var type;
    kairos::mapping::decode(in, type);
    if (!in.ok()) return 0;
    if (is_exception != (type->kind() == CORBA::tk_except)) return 0;
    RawServant& servant = target().servant;
    servant.body = Bytes(bytes).subspan(in.offset());
    servant.exception_id.reset();
    if (is_exception) servant.exception_id = type->id();
    is_exception ? expect_exception(type.in()) : expect_results(type.in());
    return 0;
}
