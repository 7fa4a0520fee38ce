// SPDX-License-Identifier: Apache-2.0
//
// What std::unique_ptr is, for headers that generated code includes: <memory> would nearly double
// what a compiler has to read there (docs/building.md).
#pragma once

#include "kairos/base/export.h"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace kairos {

/// Owns an object, or nothing. T may be incomplete where the owner is neither made nor ended. Used
/// by one thread at a time.
template <typename T>
class KAIROS_API Owner {
  public:
    constexpr Owner() noexcept = default;
    constexpr Owner(std::nullptr_t) noexcept {}
    /// Takes the object over.
    explicit Owner(T* object) noexcept : object_(object) {}
    Owner(Owner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    /// Takes over what a std::unique_ptr, or an owner of something derived from T, owns.
    template <typename Pointer>
        requires(!std::is_lvalue_reference_v<Pointer>) &&
                requires(Pointer& pointer) { static_cast<T*>(pointer.release()); }
    Owner(Pointer&& pointer) noexcept // NOLINT(bugprone-forwarding-reference-overload): see above
        : object_(pointer.release())
    {
    }
    Owner& operator=(Owner&& other) noexcept
    {
        if (this != &other) reset(other.release());
        return *this;
    }
    ~Owner() { delete object_; }

    [[nodiscard]] T* get() const noexcept { return object_; }
    T* operator->() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    friend bool operator==(const Owner& owner, std::nullptr_t) noexcept
    {
        return owner.object_ == nullptr;
    }

    /// Gives the object to the caller.
    [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }
    /// Ends what is owned and takes `object` over.
    void reset(T* object = nullptr) noexcept { delete std::exchange(object_, object); }

  private:
    T* object_ = nullptr;
};

} // namespace kairos
