// SPDX-License-Identifier: Apache-2.0
//
// Calls of the interpretive kind: what generated stubs and skeletons say about an operation, and
// the functions that do everything else. A stub is one call with the addresses of its arguments; a
// skeleton is a function that hands an array of them to the servant. Stations 1 and 10 of the
// request walk (docs/TOUR.md, docs/marshalling.md). As many allocations as compiled code: none but
// what the mapping obliges the program to own.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/object.h"
#include "kairos/orb/operation.h"
#include "kairos/types/table.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kairos::orb {
class Upcall;
} // namespace kairos::orb

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
struct KAIROS_API Signature {
    static constexpr std::size_t forms_here = 7;

    orb::Operation operation;
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

struct KAIROS_API ParameterForm {
    const types::Table* table;
    Way way;
    Passing passing;
};

template <std::size_t parameters>
struct KAIROS_API StoredSignature {
    static_assert(parameters <= 255);
    static constexpr std::size_t forms_behind =
        parameters > Signature::forms_here ? parameters - Signature::forms_here : 0;

    Signature signature;
    std::array<const types::Table*, parameters> tables{};
    struct Nothing {};
    using Forms =
        std::conditional_t<forms_behind == 0, Nothing, std::array<std::uint8_t, forms_behind>>;
    [[no_unique_address]] Forms forms{};

    constexpr StoredSignature(const orb::Operation& operation,
                              const std::array<ParameterForm, parameters>& list)
        : signature{operation, parameters, {}}
    {
        for (std::size_t i = 0; i < parameters; ++i) {
            tables[i] = list[i].table;
            const auto form = static_cast<std::uint8_t>(static_cast<unsigned>(list[i].way) |
                                                        static_cast<unsigned>(list[i].passing));
            if (i < Signature::forms_here) {
                signature.forms[i] = form;
            } else if constexpr (forms_behind != 0) {
                forms[i - Signature::forms_here] = form;
            }
        }
    }
};

/// Calls the operation of `signature` on `target`. `arguments` has one address for each parameter
/// of the signature, in its order. Throws what the call throws; out and inout arguments that the
/// caller owns are changed only when all is well.
KAIROS_API void call(CORBA::Object& target, const Signature& signature,
                     const void* const* arguments);

/// Calls the operation of `signature` on `target`; it must have ended `deadline_ns` nanoseconds
/// from now (orb::StubCall::invoke_within). `arguments` has one address for each parameter of the
/// signature, in its order.
KAIROS_API void call(CORBA::Object& target, const Signature& signature,
                     const void* const* arguments, std::int64_t deadline_ns);

/// How many addresses of arguments the overloads below take in registers.
inline constexpr std::size_t arguments_in_registers_max = 4;
/// Calls an operation of up to four parameters, its result included, by their addresses; those that
/// the operation does not have are null. Passed in registers: most are there when a stub is
/// entered, so that the stub has next to nothing to do.
KAIROS_API void call(CORBA::Object& target, const void* first, const void* second,
                     const void* third, const void* fourth, const Signature& signature);
/// Calls an operation whose result is a pointer that the caller gets to own, and returns it. The
/// addresses are those of its up to four parameters without the result, null where it has fewer.
[[nodiscard]] KAIROS_API void* call_for_pointer(CORBA::Object& target, const void* first,
                                                const void* second, const void* third,
                                                const void* fourth, const Signature& signature);

/// Calls the servant with the arguments at these addresses.
using Thunk = void (*)(void* servant, void* const* arguments);

/// Serves one request: decodes, calls `thunk`, replies.
KAIROS_API void serve(orb::Upcall& upcall, const Signature& signature, Thunk thunk, void* servant);

} // namespace kairos::corba
