// SPDX-License-Identifier: Apache-2.0
//
// A request that an interceptor of omniORB is told of.
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/corba/IOP.h"
#include "omniORB4/internal/giopStrand.h"

/// The operation that is called.
class omniCallDescriptor {
  public:
    explicit omniCallDescriptor(std::string operation) : operation_(std::move(operation)) {}
    [[nodiscard]] const char* op() const { return operation_.c_str(); }
    /// Returns the length of op() with its NUL.
    [[nodiscard]] std::size_t op_len() const { return operation_.size() + 1; }

  private:
    const std::string operation_;
};

namespace omni {

/// Lasts as long as the interceptor's function runs.
class KAIROS_API GIOP_S {
  public:
    GIOP_S(std::string operation, std::string peer, std::string key, bool response_expected)
        : operation_(std::move(operation)), connection_(std::move(peer)), strand_(&connection_),
          key_(std::move(key)), response_expected_(response_expected)
    {
    }
    GIOP_S(const GIOP_S&) = delete;
    GIOP_S& operator=(const GIOP_S&) = delete;

    [[nodiscard]] giopStrand& strand() { return strand_; }
    [[nodiscard]] const char* operation() const { return operation_.op(); }
    [[nodiscard]] const char* operation_name() const { return operation_.op(); }
    [[nodiscard]] omniCallDescriptor* calldescriptor() { return &operation_; }
    [[nodiscard]] int keysize() const { return static_cast<int>(key_.size()); }
    [[nodiscard]] const CORBA::Octet* key() const
    {
        return reinterpret_cast<const CORBA::Octet*>(key_.data());
    }
    [[nodiscard]] CORBA::Boolean response_expected() const { return response_expected_; }
    /// Returns the contexts of the request, in serverReceiveRequest; at the other points those that
    /// the reply is to have besides, empty at first.
    [[nodiscard]] IOP::ServiceContextList& service_contexts() { return contexts_; }

  private:
    omniCallDescriptor operation_;
    giopConnection connection_;
    giopStrand strand_;
    const std::string key_;
    const bool response_expected_;
    IOP::ServiceContextList contexts_;
};

} // namespace omni
