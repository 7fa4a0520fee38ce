// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/proxy.h"

#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/events/farewell.h"

namespace kairos::events {

void Proxy::connect(CORBA::Object_ptr client)
{
    const std::lock_guard lock(mutex_);
    if (state_ == State::ended)
        throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    if (state_ == State::connected) throw CosEventChannelAdmin::AlreadyConnected();
    state_ = State::connected;
    client_ = CORBA::Object::_duplicate(client);
    last_used_ = Clock::now();
}

void Proxy::require_connection()
{
    last_used_ = Clock::now();
    if (!is_connected()) throw CosEventComm::Disconnected();
}

bool Proxy::is_connected()
{
    const std::lock_guard lock(mutex_);
    return state_ == State::connected;
}

bool Proxy::is_idle() { return !calls_client() || !is_connected(); }

void Proxy::disconnect()
{
    {
        const std::lock_guard lock(mutex_);
        if (state_ == State::ended)
            throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    }
    members_->retire(number_, true);
}

void Proxy::end(bool tells)
{
    CORBA::Object_var client;
    {
        const std::lock_guard lock(mutex_);
        state_ = State::ended;
        client = client_._retn();
    }
    stop();
    if (tells)
        bid_farewell(members_->couriers(), client.in(), farewell(),
                     members_->limits().call_timeout);
}

void require_client(const Members& members, CORBA::Object_ptr client)
{
    if (CORBA::is_nil(client))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil cannot be connected here");
    if (members.is_proxy(client))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                               "a proxy of this service cannot be connected to another one");
}

} // namespace kairos::events
