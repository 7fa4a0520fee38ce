// SPDX-License-Identifier: Apache-2.0
//
// What each thread has one of, as with thread_local, but for longer: a program's own objects with
// thread or static storage call us in their destructors, which run after those of our thread_local
// objects would have.
#pragma once

#include "kairos/base/thread_local.h"

#include <pthread.h>

namespace kairos {

/// Makes a T for each thread that asks. It lives until all thread-local objects of the thread have
/// been destroyed; the main thread's, which static objects may need, for as long as the process.
/// Tag tells apart those of one type. In one file each: `get` is not to be inlined into others.
template <typename T, typename Tag = T>
class ThreadOwned {
  public:
    [[nodiscard]] static T& get()
    {
        if (T* const own = own_) [[likely]]
            return *own;
        return make();
    }

  private:
    [[gnu::cold, gnu::noinline]] static T& make()
    {
        // Where the system has no more keys a thread's is not destroyed.
        static const Key key;
        own_ = new T;
        if (key.made) (void)::pthread_setspecific(key.key, own_);
        return *own_;
    }
    /// The thread ends; what ends after this one makes another.
    static void end(void* own) noexcept
    {
        delete static_cast<T*>(own);
        own_ = nullptr;
    }

    struct Key {
        pthread_key_t key{};
        bool made = ::pthread_key_create(&key, &ThreadOwned::end) == 0;
    };

    KAIROS_NEAR static inline constinit thread_local T* own_ = nullptr;
};

} // namespace kairos
