// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/stack.h"

#include <pthread.h>

namespace kairos {
namespace {

StackBounds ask() noexcept
{
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
    void* lowest = nullptr;
    std::size_t size = 0;
    const int error = ::pthread_attr_getstack(&attributes, &lowest, &size);
    ::pthread_attr_destroy(&attributes);
    if (error != 0) return {};
    return {reinterpret_cast<std::uintptr_t>(lowest), size};
}

} // namespace

StackBounds stack_bounds() noexcept
{
    thread_local const StackBounds bounds = ask();
    return bounds;
}

} // namespace kairos
