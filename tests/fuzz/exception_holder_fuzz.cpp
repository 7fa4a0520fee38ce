// SPDX-License-Identifier: Apache-2.0
//
// ExceptionHolders of arbitrary octets: what they raise is an exception of CORBA's, and a holder of
// that raises the same.
#include "kairos/base/check.h"
#include "kairos/codec/Codec.h"
#include "kairos/corba/orb.h"
#include "kairos/corba/skel.h"
#include "kairos/messaging/exception_holder.h"

#include <algorithm>
#include <string>

namespace {

using kairos::corba::exception_type;

/// User exceptions with a sequence, and with a number.
const kairos::messaging::KnownException known[] = {
    kairos::messaging::KnownException(exception_type<CORBA::InvalidPolicies>()),
    kairos::messaging::KnownException(exception_type<CORBA::PolicyError>()),
};

IOP::Codec_ptr codec()
{
    static const IOP::Codec_var made = [] {
        int argc = 1;
        char name[] = "fuzz";
        char* argv[] = {name, nullptr};
        static const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "holders");
        const CORBA::Object_var object = orb->resolve_initial_references("CodecFactory");
        const IOP::CodecFactory_var factory = IOP::CodecFactory::_narrow(object.in());
        return IOP::Codec_var(factory->create_codec({IOP::ENCODING_CDR_ENCAPS, 1, 2}));
    }();
    return made.in();
}

/// The repository id of what it raises; `raised` keeps the exception.
std::string raise(Messaging::ExceptionHolder* holder, std::exception_ptr& raised)
{
    try {
        holder->raise_exception();
    } catch (const CORBA::Exception& exception) {
        raised = std::current_exception();
        return exception._rep_id();
    }
    KAIROS_CHECK(false); // it has to raise something
    return {};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    CORBA::OctetSeq octets;
    octets.length(static_cast<CORBA::ULong>(size));
    std::copy(data, data + size, octets.get_buffer());
    CORBA::Any_var any;
    try {
        any = codec()->decode_value(octets, Messaging::_tc_ExceptionHolder);
    } catch (const IOP::Codec::FormatMismatch&) { // what most inputs are
        return 0;
    } catch (const CORBA::MARSHAL&) { // values of other types, without a factory
        return 0;
    }
    Messaging::ExceptionHolder* holder = nullptr;
    if (!(any.in() >>= holder) || holder == nullptr) return 0;
    std::exception_ptr raised;
    const std::string id = raise(holder, raised);
    const Messaging::ExceptionHolder_var again = kairos::messaging::make_exception_holder(raised);
    std::exception_ptr raised_again;
    KAIROS_CHECK(raise(again.in(), raised_again) == id);
    return 0;
}
