// SPDX-License-Identifier: Apache-2.0
//
// Shared ownership of core objects by a count inside the object: one word, one atomic operation,
// no control block. Threads may share the count; the object says what else they may share.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/ref_count.h"

#include <utility>

namespace kairos {

/// Base of objects held by IntrusivePtr. Starts with one owner.
class KAIROS_API RefCounted {
  public:
    RefCounted(const RefCounted&) = delete;
    RefCounted& operator=(const RefCounted&) = delete;

    void add_ref() const noexcept { count_.add(); }
    void release() const noexcept
    {
        if (count_.drop()) delete this;
    }

  protected:
    RefCounted() = default;
    virtual ~RefCounted() = default;

  private:
    mutable RefCount count_;
};

template <typename T>
class KAIROS_API IntrusivePtr {
  public:
    IntrusivePtr() = default;
    /// Shares the object: adds an owner.
    explicit IntrusivePtr(T* object) noexcept : object_(object)
    {
        if (object_ != nullptr) object_->add_ref();
    }
    /// Takes the object over from the caller, who was an owner of it; adds none.
    [[nodiscard]] static IntrusivePtr adopt(T* object) noexcept
    {
        IntrusivePtr pointer;
        pointer.object_ = object;
        return pointer;
    }
    IntrusivePtr(const IntrusivePtr& other) noexcept : IntrusivePtr(other.object_) {}
    IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    IntrusivePtr& operator=(IntrusivePtr other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~IntrusivePtr()
    {
        if (object_ != nullptr) object_->release();
    }

    [[nodiscard]] T* get() const noexcept { return object_; }
    T* operator->() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    friend bool operator==(const IntrusivePtr&, const IntrusivePtr&) = default;

    /// Gives the ownership to the caller, who must release it.
    [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }

  private:
    T* object_ = nullptr;
};

template <typename T, typename... Args>
[[nodiscard]] IntrusivePtr<T> make_intrusive(Args&&... args)
{
    return IntrusivePtr<T>::adopt(new T(std::forward<Args>(args)...));
}

} // namespace kairos
