// SPDX-License-Identifier: Apache-2.0
//
// What generated code says about an operation: constant data of a stub. A skeleton needs to know of
// the exceptions only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/reader.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace kairos::orb {

enum class Response : std::uint8_t {
    none,     ///< oneway: the caller does not wait
    required, ///< twoway
};

/// One user exception of a raises clause.
struct KAIROS_API ExceptionType {
    std::string_view repository_id;
    /// Decodes the exception, from its repository id on, which is this one, and throws it; throws
    /// CORBA::MARSHAL when it is malformed.
    void (*raise)(const ExceptionType& type, cdr::Reader& body);
};

/// One operation of an interface: its name, whether it is a oneway, and the exceptions it raises.
/// Small, for every stub has one. Borrows its name and its exceptions.
class KAIROS_API Operation {
  public:
    constexpr Operation() noexcept = default;
    constexpr Operation(std::string_view name, Response response = Response::required,
                        std::span<const ExceptionType> exceptions = {}) noexcept
        : name_(name.data()), exceptions_(exceptions.data()),
          name_size_(static_cast<std::uint32_t>(name.size())),
          exception_count_(static_cast<std::uint32_t>(exceptions.size()) & exception_count_max),
          is_oneway_(response == Response::none)
    {
    }

    /// Returns the name as on the wire: attributes are _get_x and _set_x.
    [[nodiscard]] constexpr std::string_view name() const noexcept { return {name_, name_size_}; }
    [[nodiscard]] constexpr Response response() const noexcept
    {
        return is_oneway_ ? Response::none : Response::required;
    }
    [[nodiscard]] constexpr std::span<const ExceptionType> exceptions() const noexcept
    {
        return {exceptions_, exception_count_};
    }

  private:
    static constexpr std::uint32_t exception_count_max = 0x7FFF'FFFF;

    const char* name_ = "";
    const ExceptionType* exceptions_ = nullptr;
    std::uint32_t name_size_ = 0;
    std::uint32_t exception_count_ : 31 = 0;
    bool is_oneway_ : 1 = false;
};
static_assert(sizeof(Operation) <= 24);

} // namespace kairos::orb
