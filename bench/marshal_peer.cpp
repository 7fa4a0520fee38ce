// SPDX-License-Identifier: Apache-2.0
//
// The measured program for marshalling alone: the code that kairos-idl generates, compiled or
// interpretive, over buffers in memory.
#include "bench/marshal_peer.h"

#include "bench/peer.h"

#include <stdexcept>

int main()
{
    using kairos::bench::Order;
    using kairos::bench::Verb;
    return kairos::bench::serve_orders("marshal", [](const Order& order) {
        if (order.verb == Verb::roles) return kairos::bench::time_roles(order.exercise);
        if (order.verb == Verb::marshal) return kairos::bench::time_sequence(order.exercise);
        throw std::invalid_argument("this program makes no calls");
    });
}
