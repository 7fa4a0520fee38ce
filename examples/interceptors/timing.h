// SPDX-License-Identifier: Apache-2.0
//
// How long calls take: what send_request begins and the ending points end. What an interceptor
// keeps meanwhile is its own, by the number of the request.
#pragma once

#include "interceptor.h"

#include <chrono>
#include <map>
#include <mutex>

class Timing final : public ClientInterceptor {
  public:
    char* name() override { return CORBA::string_dup("timing"); }
    void send_request(PortableInterceptor::ClientRequestInfo_ptr request) override
    {
        const std::lock_guard lock(mutex_);
        begun_[request->request_id()] = std::chrono::steady_clock::now();
    }
    void receive_reply(PortableInterceptor::ClientRequestInfo_ptr request) override
    {
        end(request, "answered");
    }
    void receive_exception(PortableInterceptor::ClientRequestInfo_ptr request) override
    {
        end(request, "refused");
    }
    void receive_other(PortableInterceptor::ClientRequestInfo_ptr request) override
    {
        end(request, "sent on");
    }

  private:
    void end(PortableInterceptor::ClientRequestInfo_ptr request, const char* how)
    {
        std::chrono::nanoseconds taken{};
        {
            const std::lock_guard lock(mutex_);
            const auto begun = begun_.extract(request->request_id());
            taken = std::chrono::steady_clock::now() - begun.mapped();
        }
        const CORBA::String_var operation = request->operation();
        const bool is_quick = taken < std::chrono::seconds(5);
        say(std::string(operation.in()) + " was " + how + (is_quick ? " in time" : " late"));
    }

    std::mutex mutex_; // calls of several threads may be under way
    std::map<CORBA::ULong, std::chrono::steady_clock::time_point> begun_;
};
