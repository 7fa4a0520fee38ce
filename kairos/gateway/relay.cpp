// SPDX-License-Identifier: Apache-2.0
#include "kairos/gateway/relay.h"

#include "kairos/base/log.h"
#include "kairos/client/stub_call.h"
#include "kairos/gateway/rewriting.h"
#include "kairos/giop/request.h"
#include "kairos/ior/object_key.h"
#include "kairos/ior/profile.h"
#include "kairos/mapping/marshal.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/reference.h"
#include "kairos/orb/upcall.h"
#include "kairos/poa/calling.h"
#include "kairos/types/typecode_data.h"

#include <utility>

namespace kairos::gateway {

namespace {

using mapping::omg_minor;
namespace minor_code = orb::minor_code;

// CORBA 3.3 part 2, annex A.
constexpr CORBA::ULong no_entry_for_interface = omg_minor(2); // INTF_REPOS

Operation operation(CORBA::TypeCode_ptr result) { return Operation(result); }

Operation operation(CORBA::TypeCode_ptr result, CORBA::TypeCode_ptr argument)
{
    Operation made(result);
    made.add(Operation::Direction::in, argument);
    return made;
}

/// What every object has. `_not_existent` is what GIOP 1.0 and 1.1 call it.
std::map<std::string, Operation, std::less<>> standard_operations()
{
    std::map<std::string, Operation, std::less<>> all;
    all.emplace("_is_a", operation(CORBA::_tc_boolean, CORBA::_tc_string));
    all.emplace("_non_existent", operation(CORBA::_tc_boolean));
    all.emplace("_not_existent", operation(CORBA::_tc_boolean));
    all.emplace("_repository_id", operation(CORBA::_tc_string));
    all.emplace("_interface", operation(CORBA::_tc_Object));
    all.emplace("_component", operation(CORBA::_tc_Object));
    return all;
}

/// The id in an object key of Kairos'; empty for others.
Bytes id_in(Bytes object_key)
{
    if (ior::ObjectKey::parse(object_key)) return ior::ObjectKey::id_in(object_key);
    if (const auto key = ior::PersistentKey::parse(object_key)) return key->id;
    return {};
}

/// What is in a body that nobody knows the types of and that may pass nevertheless.
constexpr Contents unknown_contents{.has_more = false, .has_characters = true, .has_wide = true};

/// Whether what is left of a body means the same, octet for octet, where the writer is.
bool may_pass(cdr::Reader& in, const cdr::Writer& out, Contents contents)
{
    if (in.left() == 0) return true;
    if (in.has_gap()) in.leave_chunk(); // what lies in shared memory is copied to its place
    if (contents.has_more || !in.is_native() || in.offset() % 8 != 0 || out.phase() % 8 != 0)
        return false;
    if (contents.has_wide && (cdr::text_form(in) != nullptr || cdr::text_form(out) != nullptr))
        return false;
    return !contents.has_characters ||
           (cdr::converting_form(in) == nullptr && cdr::converting_form(out) == nullptr);
}

/// Large bodies are sent from where they came in.
void pass(cdr::Reader& in, cdr::Writer& out, Contents contents)
{
    if (contents.has_wide) out.environment()->wide_text_written = true;
    const std::size_t size = in.left();
    if (const std::byte* const body = in.block(size, 1)) out.write_bulk({body, size}, 1);
}

[[noreturn]] void raise_unknown_contents(CORBA::CompletionStatus completed)
{
    orb::raise<CORBA::MARSHAL>(0, completed,
                               "the gateway does not know the types, and the message cannot pass "
                               "as it is");
}

/// Copies what came back: whatever is wrong with it, the operation was executed.
template <typename Copy>
void after_execution(const Copy& copy)
{
    try {
        copy();
    } catch (CORBA::SystemException& exception) {
        exception.completed(CORBA::COMPLETED_YES);
        throw;
    }
}

/// Thrown where the reply holds a user exception; nobody else sees it.
struct Raised {};

void raise_any(const orb::ExceptionType&, cdr::Reader&) { throw Raised(); }

/// Takes whatever exception comes: a client knows what its operation raises.
constexpr orb::ExceptionType any_exception[] = {{"", &raise_any}};

} // namespace

// --- One request ---------------------------------------------------------------------------------

class Relay::Passage {
  public:
    /// All are borrowed. `operation` is null where nobody knows it.
    Passage(Relay& relay, orb::Upcall& upcall, const Target& target, const Operation* operation)
        : relay_(relay), upcall_(upcall), operation_(operation),
          confirms_(upcall.request().response_flags == giop::response_flags::sync_server),
          outgoing_(upcall.operation(),
                    upcall.request().response_expected() && !confirms_ ? orb::Response::required
                                                                       : orb::Response::none,
                    any_exception),
          call_(target.reference(confirms_), outgoing_)
    {
    }

    void run()
    {
        take_arguments();
        try {
            call_.invoke();
        } catch (const Raised&) {
            return give_exception();
        }
        if (outgoing_.response() == orb::Response::required) return give_results();
        upcall_.reply(); // to who waits until the target's server has it
    }

  private:
    class PassedException;

    void take_arguments();
    void give_results();
    void give_exception();
    [[nodiscard]] CORBA::TypeCode_var exception_type(std::string_view id) const;

    Relay& relay_;
    orb::Upcall& upcall_;
    const Operation* const operation_;
    const bool confirms_;
    const orb::Operation outgoing_;
    orb::StubCall call_;
};

void Relay::Passage::take_arguments()
{
    cdr::Reader& in = upcall_.in();
    const Contents contents =
        operation_ == nullptr ? unknown_contents : operation_->contents_given();
    if (may_pass(in, call_.out(), contents)) return pass(in, call_.out(), contents);
    if (operation_ == nullptr) raise_unknown_contents(CORBA::COMPLETED_NO);
    Rewriting rules(relay_);
    types::Copier copier(in, call_.out(), rules);
    for (const CORBA::TypeCode_var& type : operation_->given())
        copier.value(*type.in());
    if (operation_->has_context() && in.ok() && in.left() != 0) copier.value(*CORBA::_tc_StringSeq);
    upcall_.arguments_read();
}

void Relay::Passage::give_results()
{
    cdr::Reader& in = call_.in();
    const Contents contents =
        operation_ == nullptr ? unknown_contents : operation_->contents_returned();
    if (may_pass(in, upcall_.out(), contents)) {
        pass(in, upcall_.out(), contents);
    } else {
        if (operation_ == nullptr) raise_unknown_contents(CORBA::COMPLETED_YES);
        after_execution([&] {
            Rewriting rules(relay_);
            types::Copier copier(in, upcall_.out(), rules);
            for (const CORBA::TypeCode_var& type : operation_->returned())
                copier.value(*type.in());
            call_.finish();
        });
    }
    upcall_.reply(); // while what came in is there
}

/// A user exception of the target's, which is copied when the reply is written.
class Relay::Passage::PassedException final : public CORBA::UserException {
  public:
    /// `type` is null where nobody knows it. All are borrowed.
    PassedException(Relay& relay, const cdr::Reader& body, const char* id,
                    const CORBA::TypeCode* type)
        : relay_(relay), body_(body), id_(id), type_(type)
    {
    }
    [[noreturn]] void _raise() const override { throw PassedException(*this); }
    [[nodiscard]] const char* _name() const noexcept override { return "user exception"; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return id_; }
    [[nodiscard]] CORBA::Exception* _duplicate() const override
    {
        return new PassedException(*this);
    }
    void _marshal(cdr::Writer& out) const override
    {
        cdr::Reader in = body_;
        Contents contents = unknown_contents;
        if (type_ != nullptr) {
            contents = {};
            contents.add(*type_);
        }
        if (may_pass(in, out, contents)) return pass(in, out, contents);
        out.write_string(in.read_string());
        if (type_ != nullptr) after_execution([&] { copy_members(in, out); });
        if (!in.ok())
            orb::raise<CORBA::MARSHAL>(minor_code::malformed_reply, CORBA::COMPLETED_YES,
                                       cdr::describe(in.fault()));
    }

  private:
    void copy_members(cdr::Reader& in, cdr::Writer& out) const
    {
        Rewriting rules(relay_);
        types::Copier copier(in, out, rules);
        const types::TypeCodeData& data = types::resolved(*type_)._kairos_data();
        for (CORBA::ULong i = 0; i < data.count; ++i)
            copier.value(*data.members[i].type);
    }

    Relay& relay_;
    const cdr::Reader body_; // at the repository id
    const char* const id_;
    const CORBA::TypeCode* const type_;
};

CORBA::TypeCode_var Relay::Passage::exception_type(std::string_view id) const
{
    if (operation_ != nullptr)
        if (const CORBA::TypeCode* const listed = operation_->exception(id))
            return CORBA::TypeCode::_duplicate(const_cast<CORBA::TypeCode_ptr>(listed));
    CORBA::TypeCode_var known = relay_.interfaces().type(id);
    if (!CORBA::is_nil(known.in()) && types::resolved(*known.in()).kind() != CORBA::tk_except)
        return CORBA::TypeCode::_nil();
    return known;
}

void Relay::Passage::give_exception()
{
    cdr::Reader ahead = call_.in();
    const std::string_view id = ahead.read_string(); // a NUL follows it
    const CORBA::TypeCode_var type = exception_type(id);
    const bool has_members = ahead.left() != 0;
    if (CORBA::is_nil(type.in()) && has_members &&
        !(relay_.passes_unknown() && may_pass(call_.in(), upcall_.out(), unknown_contents)))
        orb::raise<CORBA::UNKNOWN>(minor_code::unlisted_user_exception, CORBA::COMPLETED_YES, id);
    const orb::ExceptionType raised[] = {{id, nullptr}};
    upcall_.let_pass(raised);
    upcall_.reply(PassedException(relay_, call_.in(), id.data(), type.in()));
    upcall_.let_pass({});
}

// --- The adapter ---------------------------------------------------------------------------------

PortableServer::POA_ptr make_adapter(CORBA::ORB_ptr orb, const Options& options)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = root->the_POAManager();
    CORBA::PolicyList policies(5);
    policies.length(5);
    policies[0] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[1] = root->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
    policies[2] = root->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    policies[3] = root->create_id_assignment_policy(PortableServer::USER_ID);
    policies[4] = root->create_lifespan_policy(options.secret.empty() ? PortableServer::TRANSIENT
                                                                      : PortableServer::PERSISTENT);
    return root->create_POA(options.adapter_name.c_str(), manager.in(), policies);
}

// --- The servant ---------------------------------------------------------------------------------

Relay::Relay(CORBA::ORB_ptr orb, Interfaces& interfaces, const Options& options)
    : interfaces_(interfaces), passes_unknown_(options.passes_unknown),
      references_max_(options.references_max), seal_(options.secret),
      targets_(orb, seal_, options.timeout, options.targets_max), standard_(standard_operations())
{
}

Relay::~Relay() = default;

void Relay::serve(PortableServer::POA_ptr poa)
{
    poa_ = poa;
    poa_->set_servant(this);
}

void Relay::_kairos_dispatch(orb::Upcall& upcall)
{
    const std::shared_ptr<const Target> target = targets_.find(poa::Calling::innermost()->id());
    std::shared_ptr<const Interface> kept;
    const Operation* const operation = operation_of(*target, upcall.operation(), kept);
    Passage(*this, upcall, *target, operation).run();
}

const Operation* Relay::operation_of(const Target& target, std::string_view name,
                                     std::shared_ptr<const Interface>& kept)
{
    if (const auto found = standard_.find(name); found != standard_.end()) return &found->second;
    kept = target.interface(interfaces_);
    if (kept != nullptr)
        if (const auto found = kept->operations.find(name); found != kept->operations.end())
            return &found->second;
    if (passes_unknown_) return nullptr;
    if (kept != nullptr)
        orb::raise<CORBA::BAD_OPERATION>(minor_code::unknown_operation, CORBA::COMPLETED_NO,
                                         "the gateway knows no such operation of the interface");
    if (target.is_to_be_logged())
        log::warning("gateway: nobody knows the interface of '" +
                     target.reference(false).ior().type_id + "': its operation '" +
                     std::string(name) + "' was refused, as others will be");
    orb::raise<CORBA::INTF_REPOS>(no_entry_for_interface, CORBA::COMPLETED_NO,
                                  "the gateway does not know the object's interface");
}

// --- References ----------------------------------------------------------------------------------

std::optional<ior::Ior> Relay::unwrapped(const ior::Ior& reference) const
{
    for (const ior::TaggedProfile& profile : reference.profiles) {
        if (profile.tag != ior::tag_internet_iop) continue;
        const auto iiop = ior::decode_iiop(profile.data);
        if (!iiop) continue;
        const Bytes id = id_in(iiop->object_key);
        if (auto target = seal_.open(id)) return target;
    }
    return std::nullopt;
}

CORBA::Object_ptr Relay::published(const ior::Ior& target)
{
    const std::vector<std::byte> id = seal_.id_of(target);
    const auto size = static_cast<CORBA::ULong>(id.size());
    const PortableServer::ObjectId oid(
        size, size, reinterpret_cast<CORBA::Octet*>(const_cast<std::byte*>(id.data())), false);
    return poa_->create_reference_with_id(oid, target.type_id.c_str());
}

ior::Ior Relay::exchanged(const ior::Ior& reference)
{
    if (reference.is_nil()) return reference;
    if (auto target = unwrapped(reference)) return std::move(*target);
    const CORBA::Object_var made = published(reference);
    return made->_kairos_reference()->ior();
}

} // namespace kairos::gateway
