// SPDX-License-Identifier: Apache-2.0
//
// A gateway between ORBs, for any interface and without generated code: clients call objects of its
// own, it calls the objects behind them (docs/gateway.md). References that pass in a message are
// made to lead through it as well. Any thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/portable_server.h"
#include "kairos/gateway/interface.h"

#include <chrono>
#include <cstddef>
#include <string>

namespace kairos::gateway {

class Relay;

struct Options {
    /// How long one call of a target may take, from when its arguments are there.
    std::chrono::milliseconds timeout{30'000};
    /// Whether requests whose types nobody knows pass as they are. Their references then lead past
    /// the gateway, and they only pass where both sides have this machine's byte order.
    bool passes_unknown = false;
    /// The secret that ids are made with (Seal). With one, references mean the same in every run of
    /// the program that listens at the same address; without, they end with the gateway.
    Bytes secret{};
    /// The name of the gateway's POA, which is part of such references.
    std::string adapter_name = "KairosGateway";
    /// Targets that are remembered with what is known of them; others are asked for again.
    std::size_t targets_max = 4096;
    /// References in one message that are made to lead through the gateway; with more it is
    /// IMP_LIMIT. Each becomes some hundred octets longer.
    std::size_t references_max = 65'536;
};

class KAIROS_API Gateway {
  public:
    /// Makes a gateway, with a POA of its own below the ORB's RootPOA and that one's POAManager,
    /// which the program activates. `interfaces` must live as long. Throws what create_POA throws.
    Gateway(CORBA::ORB_ptr orb, Interfaces& interfaces, const Options& options = {});
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;
    /// Destroys the POA and waits for the requests that are served, unless the ORB is gone.
    ~Gateway();

    /// Returns a reference that leads to the target through the gateway, owned by the caller; nil
    /// for nil, and for one that leads through the gateway already, that. Throws BAD_PARAM for a
    /// local object, IMP_LIMIT for a reference that is too long.
    [[nodiscard]] CORBA::Object_ptr publish(CORBA::Object_ptr target);

  private:
    const PortableServer::Servant_var<Relay> relay_;
};

} // namespace kairos::gateway
