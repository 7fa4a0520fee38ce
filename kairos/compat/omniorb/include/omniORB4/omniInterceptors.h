// SPDX-License-Identifier: Apache-2.0
//
// omniORB's interceptors: functions that are called with each request and call, and around threads.
// Each add() does what it says, or raises NO_IMPLEMENT with what there is instead
// (docs/from-omniorb.md). A function that returns false ends the list: those behind it are not
// called. What functions throw ends the request or call.
#pragma once

#ifndef KAIROS_OMNIORB_LIBRARY // which does not need omnithread
#include "omniORB4/CORBA.h"
#endif
#include "omniORB4/IIOP.h"
#include "omniORB4/internal/GIOP_C.h"
#include "omniORB4/internal/GIOP_S.h"

#include <cstddef>
#include <cstdint>

class omniIOR;
class omniIORHints;
class omniIdentity;
class omniServant;
class omni_thread;

namespace kairos::omniorb {

enum class Point : std::uint8_t {
    client_send_request,
    client_receive_reply,
    server_receive_request,
    server_send_reply,
    server_send_exception,
    create_thread,
    assign_upcall_thread,
};
constexpr std::size_t point_count = 7;
using AnyFunction = void (*)();

/// Adds a function behind the others of its point. At the points of servers and threads, throws
/// BAD_INV_ORDER where the process's ORB is serving already. Any thread.
KAIROS_API void add_function(Point point, AnyFunction function);
/// Removes a function, if it is there. It may be running. Any thread.
KAIROS_API void remove_function(Point point, AnyFunction function);
/// Raises NO_IMPLEMENT: what there is instead of a point of omniORB's.
[[noreturn]] KAIROS_API void refuse_function(const char* instead);

/// What a program has called at one point.
template <Point point, typename Function>
class Functions {
  public:
    typedef Function interceptFunc;
    void add(interceptFunc function)
    {
        add_function(point, reinterpret_cast<AnyFunction>(function));
    }
    void remove(interceptFunc function)
    {
        remove_function(point, reinterpret_cast<AnyFunction>(function));
    }
};

/// A point that Kairos does not have.
template <typename Function>
class NoFunctions {
  public:
    typedef Function interceptFunc;
    constexpr explicit NoFunctions(const char* instead) : instead_(instead) {}
    [[noreturn]] void add(interceptFunc) { refuse_function(instead_); }
    void remove(interceptFunc) {}

  private:
    const char* instead_;
};

/// What interceptors of calls and requests ask for: of a GIOP_C or a GIOP_S.
template <typename Message>
class MessageInfo {
  public:
    const char* operation() { return message_.operation(); }
    const char* myaddress() { return message_.strand().connection->myaddress(); }
    const char* peeraddress() { return message_.strand().connection->peeraddress(); }
    const char* peeridentity() { return message_.strand().connection->peeridentity(); }
    void* peerdetails() { return message_.strand().connection->peerdetails(); }

    MessageInfo(const MessageInfo&) = delete;
    MessageInfo& operator=(const MessageInfo&) = delete;

  protected:
    explicit MessageInfo(Message& message) : message_(message) {}
    ~MessageInfo() = default;

  private:
    Message& message_;
};

/// A thread that begins: run() is what it does, and returns when it is about to end.
class ThreadInfo {
  public:
    virtual void run() = 0;
    virtual omni_thread* self() = 0;

  protected:
    ~ThreadInfo() = default;
};

} // namespace kairos::omniorb

namespace omni {

class omniInterceptors {
  public:
    // --- points of Kairos's: once for each attempt at a call, and for each request ---

    struct SendRequestInfo : kairos::omniorb::MessageInfo<GIOP_C> {
        explicit SendRequestInfo(GIOP_C& call) : MessageInfo(call), giop_c(call) {}
        GIOP_C& giop_c;
        IOP::ServiceContextList service_contexts; ///< what the request is to have besides
    };
    struct clientSendRequest_T
        : kairos::omniorb::Functions<kairos::omniorb::Point::client_send_request,
                                     CORBA::Boolean (*)(SendRequestInfo&)> {
        typedef SendRequestInfo info_T;
    };

    struct ReceiveReplyInfo : kairos::omniorb::MessageInfo<GIOP_C> {
        ReceiveReplyInfo(GIOP_C& call, IOP::ServiceContextList& contexts)
            : MessageInfo(call), giop_c(call), service_contexts(contexts)
        {
        }
        GIOP_C& giop_c;
        IOP::ServiceContextList& service_contexts; ///< those of the reply
    };
    struct clientReceiveReply_T
        : kairos::omniorb::Functions<kairos::omniorb::Point::client_receive_reply,
                                     CORBA::Boolean (*)(ReceiveReplyInfo&)> {
        typedef ReceiveReplyInfo info_T;
    };

    struct RequestInfo : kairos::omniorb::MessageInfo<GIOP_S> {
        explicit RequestInfo(GIOP_S& request) : MessageInfo(request), giop_s(request) {}
        GIOP_S& giop_s;
    };
    struct serverReceiveRequest_T
        : kairos::omniorb::Functions<kairos::omniorb::Point::server_receive_request,
                                     CORBA::Boolean (*)(RequestInfo&)> {
        typedef RequestInfo info_T;
    };
    struct serverSendReply_T : kairos::omniorb::Functions<kairos::omniorb::Point::server_send_reply,
                                                          CORBA::Boolean (*)(RequestInfo&)> {
        typedef RequestInfo info_T;
    };

    struct SendExceptionInfo : kairos::omniorb::MessageInfo<GIOP_S> {
        SendExceptionInfo(GIOP_S& request, const CORBA::Exception* thrown)
            : MessageInfo(request), giop_s(request), exception(thrown)
        {
        }
        GIOP_S& giop_s;
        const CORBA::Exception* exception;
    };
    struct serverSendException_T
        : kairos::omniorb::Functions<kairos::omniorb::Point::server_send_exception,
                                     CORBA::Boolean (*)(SendExceptionInfo&)> {
        typedef SendExceptionInfo info_T;
    };

    /// Around the life of each thread that the ORB makes.
    struct createThread_T : kairos::omniorb::Functions<kairos::omniorb::Point::create_thread,
                                                       void (*)(kairos::omniorb::ThreadInfo&)> {
        typedef kairos::omniorb::ThreadInfo info_T;
    };
    /// Around the life of each thread that the ORB makes, within createThread: a thread that serves
    /// does so for all its life.
    struct assignUpcallThread_T
        : kairos::omniorb::Functions<kairos::omniorb::Point::assign_upcall_thread,
                                     void (*)(kairos::omniorb::ThreadInfo&)> {
        typedef kairos::omniorb::ThreadInfo info_T;
    };

    // --- others: add() raises NO_IMPLEMENT ---

    struct EncodeInfo {
        omniIOR& ior;
        IIOP::ProfileBody& iiop;
        const omniIORHints& hints;
        CORBA::Boolean default_only;
    };
    struct DecodeInfo {
        const IIOP::ProfileBody& iiop;
        omniIOR& ior;
        CORBA::Boolean has_iiop_body;
    };
    struct OpenInfo : kairos::omniorb::MessageInfo<GIOP_C> {
        explicit OpenInfo(GIOP_C& call) : MessageInfo(call), giop_c(call) {}
        GIOP_C& giop_c;
        CORBA::Boolean reject = false;
        const char* why = nullptr;
    };
    struct AcceptInfo {
        giopStrand& strand;
        CORBA::Boolean reject;
        const char* why;
        const char* peeraddress() { return strand.connection->peeraddress(); }
    };
    struct PolicyInfo {
        CORBA::PolicyType type;
        const CORBA::Any& value;
        CORBA::Policy_ptr& policy;
    };
    struct RopeInfo;
    struct IdentityInfo;
    struct ServerInfo;

    template <typename Info>
    struct NotHere : kairos::omniorb::NoFunctions<CORBA::Boolean (*)(Info&)> {
        using kairos::omniorb::NoFunctions<CORBA::Boolean (*)(Info&)>::NoFunctions;
        typedef Info info_T;
    };
    typedef NotHere<EncodeInfo> encodeIOR_T;
    typedef NotHere<DecodeInfo> decodeIOR_T;
    typedef NotHere<OpenInfo> clientOpenConnection_T;
    typedef NotHere<AcceptInfo> serverAcceptConnection_T;
    typedef NotHere<RopeInfo> createRope_T;
    typedef NotHere<IdentityInfo> createIdentity_T;
    typedef NotHere<ServerInfo> createORBServer_T;
    typedef NotHere<PolicyInfo> createPolicy_T;
    struct assignAMIThread_T
        : kairos::omniorb::NoFunctions<void (*)(kairos::omniorb::ThreadInfo&)> {
        using NoFunctions::NoFunctions;
        typedef kairos::omniorb::ThreadInfo info_T;
    };
    typedef kairos::omniorb::NoFunctions<void (*)(omniCallDescriptor*, omniServant*)>
        invokeLocalCall_T;

    encodeIOR_T encodeIOR{"encodeIOR: an IORInterceptor adds components to references"};
    decodeIOR_T decodeIOR{"decodeIOR: references are read without telling anybody"};
    clientOpenConnection_T clientOpenConnection{
        "clientOpenConnection: connections are shared; clientSendRequest may refuse a call"};
    clientSendRequest_T clientSendRequest;
    clientReceiveReply_T clientReceiveReply;
    serverAcceptConnection_T serverAcceptConnection{
        "serverAcceptConnection: serverReceiveRequest may refuse a request by its peer"};
    serverReceiveRequest_T serverReceiveRequest;
    serverSendReply_T serverSendReply;
    serverSendException_T serverSendException;
    createRope_T createRope{"createRope: there are no ropes"};
    createIdentity_T createIdentity{"createIdentity: there are no identities"};
    createORBServer_T createORBServer{"createORBServer: -ORBListenEndpoints says who listens"};
    createPolicy_T createPolicy{"createPolicy: a PolicyFactory makes policies"};
    createThread_T createThread;
    assignUpcallThread_T assignUpcallThread;
    assignAMIThread_T assignAMIThread{"assignAMIThread: no threads are kept for replies"};
    invokeLocalCall_T invokeLocalCall{"invokeLocalCall: a CallObserver hears of local calls"};
};

} // namespace omni
