// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/exception_holder.h"

#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/environment.h"
#include "kairos/corba/request.h"
#include "kairos/corba/stub.h"
#include "kairos/orb/failure.h"
#include "kairos/types/any_access.h"

#include <cstring>
#include <mutex>
#include <utility>

namespace kairos::messaging {
namespace {

// Before any initialiser runs, and after all destructors did.
constinit std::mutex known_mutex; // guards first_known; inside nobody's
constinit KnownException* first_known = nullptr;

/// What all holders are. Its state is changed only before it is given to anybody.
class Holder final : public virtual OBV_Messaging::ExceptionHolder,
                     public virtual CORBA::DefaultValueRefCountBase {
  public:
    Holder() = default;
    // NOLINTNEXTLINE(bugprone-throw-keyword-missing): it is kept, not thrown
    explicit Holder(const std::exception_ptr& exception) : exception_(exception)
    {
        byte_order(native_little_endian);
        try {
            std::rethrow_exception(exception);
        } catch (const CORBA::UserException& user) {
            is_system_exception(false);
            keep([&](cdr::Writer& out) { user._marshal(out); });
        } catch (const CORBA::SystemException& system) {
            keep_system(system);
        } catch (...) { // out of memory, say
            const CORBA::UNKNOWN unknown(orb::minor_code::foreign_exception,
                                         CORBA::COMPLETED_MAYBE);
            exception_ = std::make_exception_ptr(unknown);
            keep_system(unknown);
        }
    }

    void raise_exception() override { raise_one_of(nullptr); }
    void raise_exception_with_list(CORBA::ExceptionList_ptr list) override { raise_one_of(list); }

    /// Notes where it comes from: the exception may hold references and values.
    void _kairos_decode(cdr::Reader& in) override
    {
        OBV_Messaging::ExceptionHolder::_kairos_decode(in);
        exception_ = nullptr;
        if (const cdr::Environment* const from = in.environment(); from != nullptr) {
            environment_.orb = from->orb;
            environment_.orb_owner = from->orb_owner;
            environment_.value_factories = from->value_factories;
            orb_owner_ = IntrusivePtr<const RefCounted>(from->orb_owner);
        }
    }

  private:
    ~Holder() override = default;

    /// User exceptions: those of the list, if there is one, with its types where nobody has made
    /// them known.
    [[noreturn]] void raise_one_of(CORBA::ExceptionList_ptr list)
    {
        const auto& octets = std::as_const(*this).marshaled_exception();
        cdr::Reader in({reinterpret_cast<const std::byte*>(octets.get_buffer()), octets.length()},
                       byte_order());
        in.set_environment(&environment_);
        if (is_system_exception()) {
            if (exception_) std::rethrow_exception(exception_);
            const std::string_view id = in.read_string();
            const auto minor = in.read<std::uint32_t>();
            const auto completion = in.read<std::uint32_t>();
            if (!in.ok() || completion > CORBA::COMPLETED_MAYBE) raise_malformed();
            mapping::raise_system_exception(id, minor,
                                            static_cast<CORBA::CompletionStatus>(completion));
        }
        cdr::Reader ahead = in;
        const std::string_view id = ahead.read_string();
        if (!ahead.ok()) raise_malformed();
        const CORBA::TypeCode_ptr type = list == nullptr ? nullptr : listed(*list, id);
        if (list == nullptr || type != nullptr) {
            if (exception_) std::rethrow_exception(exception_);
            if (const orb::ExceptionType* const known = known_exception(id); known != nullptr)
                known->raise(*known, in);
        }
        if (type != nullptr) {
            CORBA::Any_var exception = new CORBA::Any;
            types::AnyAccess::decode_value(in, CORBA::TypeCode::_duplicate(type),
                                           exception.inout());
            if (!in.ok()) raise_malformed();
            throw CORBA::UnknownUserException(exception._retn());
        }
        throw CORBA::UNKNOWN(orb::minor_code::unlisted_user_exception, CORBA::COMPLETED_YES, id);
    }

    /// Null if the list has none of this repository id.
    static CORBA::TypeCode_ptr listed(const CORBA::ExceptionList& list, std::string_view id)
    {
        for (CORBA::ULong i = 0; i < list.count(); ++i)
            if (list.item(i)->id() == id) return list.item(i);
        return nullptr;
    }

    [[noreturn]] static void raise_malformed()
    {
        throw CORBA::MARSHAL(orb::minor_code::malformed_reply, CORBA::COMPLETED_YES,
                             "an ExceptionHolder with a malformed exception");
    }

    template <typename Write>
    void keep(Write&& write)
    {
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        const cdr::Writer::CopyAll copies(out);
        out.set_environment(&environment_);
        write(out);
        const Bytes octets = out.contiguous();
        auto& kept = marshaled_exception();
        kept.length(static_cast<CORBA::ULong>(octets.size()));
        if (!octets.empty()) std::memcpy(kept.get_buffer(), octets.data(), octets.size());
    }
    void keep_system(const CORBA::SystemException& system)
    {
        is_system_exception(true);
        keep([&](cdr::Writer& out) {
            out.write_string(system._rep_id());
            out.write(system.minor());
            out.write(static_cast<std::uint32_t>(system.completed()));
        });
    }

    std::exception_ptr exception_; // null in one that was received
    cdr::Environment environment_;
    IntrusivePtr<const RefCounted> orb_owner_;
};

CORBA::ValueBase* make_holder() { return new Holder; }

/// Needs no factory of the program's: it is complete.
constexpr values::Type holder_type{.id = Messaging::ExceptionHolder::_kairos_id,
                                   .create = &make_holder};
const values::KnownBox known_holder(holder_type);

} // namespace

Messaging::ExceptionHolder* make_exception_holder(const std::exception_ptr& exception)
{
    return new Holder(exception);
}

KnownException::KnownException(const orb::ExceptionType& type) noexcept : type_(type)
{
    const std::lock_guard lock(known_mutex);
    next_ = std::exchange(first_known, this);
}

KnownException::~KnownException()
{
    const std::lock_guard lock(known_mutex);
    KnownException** place = &first_known;
    while (*place != this)
        place = &(*place)->next_;
    *place = next_;
}

const orb::ExceptionType* known_exception(std::string_view id) noexcept
{
    const std::lock_guard lock(known_mutex);
    for (const KnownException* one = first_known; one != nullptr; one = one->next_)
        if (one->type_.repository_id == id) return &one->type_;
    return nullptr;
}

} // namespace kairos::messaging
