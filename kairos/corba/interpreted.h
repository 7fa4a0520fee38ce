// SPDX-License-Identifier: Apache-2.0
//
// Calls of the interpretive kind: what generated stubs and skeletons say about an operation, and
// the two functions that do everything else. A stub is an array of the addresses of its arguments
// and one call; a skeleton is a function that hands such an array to the servant. Stations 1 and 10
// of the request walk (docs/TOUR.md, docs/marshalling.md). As many allocations as compiled code:
// none but what the mapping obliges the program to own.
#pragma once

#include "kairos/corba/object.h"
#include "kairos/orb/operation.h"
#include "kairos/orb/upcall.h"
#include "kairos/types/table.h"

namespace kairos::corba {

/// Where a parameter's value is, seen from its entry in the array of arguments.
enum class Passing : std::uint8_t {
    value = 0,   ///< at that address
    owned = 1,   ///< a pointer at that address is the value: a string, an object reference
    pointer = 2, ///< a pointer at that address leads to it: out and result of variable length
};
/// Which way it goes. The result is the first entry, where there is one.
enum class Way : std::uint8_t { in = 0, out = 4, inout = 8 };

/// An operation as data. The tables of its parameters follow it in memory, and behind those the
/// forms for which there is no room here (StoredSignature).
struct Signature {
    static constexpr std::size_t forms_here = 7;

    const orb::Operation* operation;
    std::uint8_t count; ///< of parameters, the result included
    std::uint8_t forms[forms_here];

    [[nodiscard]] const types::Table* const* tables() const noexcept
    {
        return reinterpret_cast<const types::Table* const*>(this + 1);
    }
    [[nodiscard]] std::uint8_t form(std::size_t index) const noexcept
    {
        if (index < forms_here) return forms[index];
        return reinterpret_cast<const std::uint8_t*>(tables() + count)[index - forms_here];
    }
};

struct ParameterForm {
    const types::Table* table;
    Way way;
    Passing passing;
};

template <std::size_t parameters>
struct StoredSignature {
    static_assert(parameters <= 255);
    static constexpr std::size_t forms_behind =
        parameters > Signature::forms_here ? parameters - Signature::forms_here : 0;

    Signature signature;
    std::array<const types::Table*, parameters> tables{};
    std::array<std::uint8_t, forms_behind + 1> forms{};

    constexpr StoredSignature(const orb::Operation& operation,
                              const std::array<ParameterForm, parameters>& list)
        : signature{&operation, parameters, {}}
    {
        for (std::size_t i = 0; i < parameters; ++i) {
            tables[i] = list[i].table;
            const auto form = static_cast<std::uint8_t>(static_cast<unsigned>(list[i].way) |
                                                        static_cast<unsigned>(list[i].passing));
            if (i < Signature::forms_here) {
                signature.forms[i] = form;
            } else {
                forms[i - Signature::forms_here] = form;
            }
        }
    }
};

/// Makes the call. `arguments` are the addresses that the signature tells about. Throws what the
/// call throws; out and inout arguments that the caller owns are changed only when all is well.
void call(CORBA::Object& target, const Signature& signature, const void* const* arguments);

/// Calls the servant with the arguments at these addresses.
using Thunk = void (*)(void* servant, void* const* arguments);

/// Serves one request: decodes, calls `thunk`, replies.
void serve(orb::Upcall& upcall, const Signature& signature, Thunk thunk, void* servant);

} // namespace kairos::corba
