// SPDX-License-Identifier: Apache-2.0
//
// A token in each request to a server that wants one, without which it refuses the request and says
// who came.
#pragma once

#include "interceptor.h"
#include "wanted.h"

#include <kairos/interceptors/peer.h>

#include <atomic>
#include <utility>

/// What the program's calls say. Any thread.
inline std::atomic<const char*> token_of_program = "";

class TokenBearer final : public ClientInterceptor {
  public:
    char* name() override { return CORBA::string_dup("token"); }
    void send_request(PortableInterceptor::ClientRequestInfo_ptr request) override
    {
        if (!is_token_wanted(request)) return; // who has not asked for it is not to learn it
        request->add_request_service_context(context_of(token_id, token_of_program.load()), false);
    }
};

class TokenChecker final : public ServerInterceptor {
  public:
    explicit TokenChecker(std::string token) : token_(std::move(token)) {}
    char* name() override { return CORBA::string_dup("token"); }
    /// Before anybody has looked for the object: who may not call learns nothing of what there is.
    void
    receive_request_service_contexts(PortableInterceptor::ServerRequestInfo_ptr request) override
    {
        if (text_in(request, token_id) == token_) return;
        const std::string peer = kairos::interceptors::peer_of(request);
        say("the server refuses " + peer.substr(0, peer.rfind(':')));
        throw CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO);
    }

  private:
    const std::string token_;
};
