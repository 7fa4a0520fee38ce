// SPDX-License-Identifier: Apache-2.0
//
// The calls of bench.idl without stubs, and its servants without skeletons: what
// `kairos bench ttcp --invocation` measures beside those of orb_peer.cpp. Classic C++ mapping
// alone, so it is included behind the generated headers of whichever ORB is measured.
#pragma once

#include "bench/exercise.h"

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kairos::bench {

/// How a client calls, as its last argument says.
enum class Invocation { sii, dii, dii_reused, deferred };

[[nodiscard]] inline std::optional<Invocation> invocation_named(std::string_view name)
{
    if (name == "sii") return Invocation::sii;
    if (name == "dii") return Invocation::dii;
    if (name == "dii-reused") return Invocation::dii_reused;
    if (name == "deferred") return Invocation::deferred;
    return std::nullopt;
}

// What Latency's and Ttcp's operations have in their names for an argument of this type.
// clang-format off
inline const char* name_of(const Bench::OctetSeq&) { return "octets"; }
inline const char* name_of(const Bench::CharSeq&) { return "chars"; }
inline const char* name_of(const Bench::ShortSeq&) { return "shorts"; }
inline const char* name_of(const Bench::LongSeq&) { return "longs"; }
inline const char* name_of(const Bench::DoubleSeq&) { return "doubles"; }
inline const char* name_of(const Bench::StructSeq&) { return "structs"; }
inline const char* name_of(const std::string&) { return "text"; }
inline const char* name_of(const Bench::StringSeq&) { return "strings"; }
// clang-format on

template <typename T>
void put(CORBA::Any& any, const T& value)
{
    any <<= value;
}
inline void put(CORBA::Any& any, const std::string& value) { any <<= value.c_str(); }

/// One operation of one object, called without a stub as often as one likes.
class DynamicCall {
  public:
    /// `fill` gives a request its arguments.
    template <typename Fill>
    DynamicCall(Invocation invocation, CORBA::Object_ptr target, std::string operation, bool oneway,
                const Fill& fill)
        : invocation_(invocation), target_(CORBA::Object::_duplicate(target)),
          operation_(std::move(operation)), oneway_(oneway)
    {
        if (invocation == Invocation::dii_reused) fill((kept_ = make()).in());
    }

    template <typename Fill>
    void operator()(const Fill& fill)
    {
        if (invocation_ == Invocation::dii_reused) return send(kept_.in());
        const CORBA::Request_var request = make();
        fill(request.in());
        send(request.in());
    }

  private:
    [[nodiscard]] CORBA::Request_ptr make() const
    {
        CORBA::Request_ptr request = target_->_request(operation_.c_str());
        request->set_return_type(CORBA::_tc_void);
        return request;
    }
    void send(CORBA::Request_ptr request) const
    {
        if (oneway_) return request->send_oneway();
        if (invocation_ != Invocation::deferred) return request->invoke();
        request->send_deferred();
        request->get_response();
    }

    const Invocation invocation_;
    const CORBA::Object_var target_;
    const std::string operation_;
    const bool oneway_;
    CORBA::Request_var kept_;
};

/// Both of bench.idl's interfaces, as their servants in orb_peer.cpp are: what arrives is extracted
/// and counted.
class DynamicServant : public PortableServer::DynamicImplementation {
  public:
    DynamicServant(CORBA::ORB_ptr orb, const char* interface)
        : orb_(CORBA::ORB::_duplicate(orb)), interface_(interface)
    {
    }

    char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override
    {
        return CORBA::string_dup(interface_);
    }

    void invoke(CORBA::ServerRequest_ptr request) override
    {
        std::string_view operation = request->operation();
        CORBA::NVList_ptr list = CORBA::NVList::_nil();
        orb_->create_list(0, list);
        if (operation.substr(0, 4) == "ping") return request->arguments(list);
        if (operation == "received_bytes") {
            request->arguments(list);
            CORBA::Any bytes;
            bytes <<= static_cast<CORBA::LongLong>(received_bytes_);
            return request->set_result(bytes);
        }
        if (operation.substr(0, 5) == "send_") operation.remove_prefix(5);
        const std::string_view units = operation.substr(0, operation.find('_'));
        CORBA::Any& argument = *list->add(CORBA::ARG_IN)->value();
        if (units == "octets")
            return take<Bench::OctetSeq>(request, list, argument, Bench::_tc_OctetSeq, 1);
        if (units == "chars")
            return take<Bench::CharSeq>(request, list, argument, Bench::_tc_CharSeq, 1);
        if (units == "shorts")
            return take<Bench::ShortSeq>(request, list, argument, Bench::_tc_ShortSeq, 2);
        if (units == "longs")
            return take<Bench::LongSeq>(request, list, argument, Bench::_tc_LongSeq, 4);
        if (units == "doubles")
            return take<Bench::DoubleSeq>(request, list, argument, Bench::_tc_DoubleSeq, 8);
        if (units == "structs")
            return take<Bench::StructSeq>(request, list, argument, Bench::_tc_StructSeq, 24);
        if (units == "strings")
            return take<Bench::StringSeq>(request, list, argument, Bench::_tc_StringSeq, 32);
        if (units != "text") throw CORBA::BAD_OPERATION(0, CORBA::COMPLETED_NO);
        argument.replace(CORBA::_tc_string, nullptr);
        request->arguments(list);
        const char* text = nullptr;
        if (argument >>= text)
            received_bytes_ += static_cast<CORBA::LongLong>(std::string_view(text).size() + 1);
    }

  private:
    template <typename Sequence>
    void take(CORBA::ServerRequest_ptr request, CORBA::NVList_ptr list, CORBA::Any& argument,
              CORBA::TypeCode_ptr type, CORBA::LongLong unit_bytes)
    {
        argument.replace(type, nullptr);
        request->arguments(list);
        const Sequence* sequence = nullptr;
        if (argument >>= sequence) received_bytes_ += sequence->length() * unit_bytes;
    }

    const CORBA::ORB_var orb_;
    const char* const interface_;
    std::atomic<CORBA::LongLong> received_bytes_{0}; // oneways may be served side by side
};

} // namespace kairos::bench
