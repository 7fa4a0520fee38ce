// SPDX-License-Identifier: Apache-2.0
//
// Lists whose links lie in their elements, so that joining and leaving one allocates nothing. The
// list does not own its elements: they must have left it before they end. Who guards the list
// guards the links.
#pragma once

namespace kairos {

template <typename T>
struct ListLinks {
    T* previous = nullptr;
    T* next = nullptr;
    bool linked = false;
};

template <typename T, ListLinks<T> T::*links>
class IntrusiveList {
  public:
    IntrusiveList() = default;
    IntrusiveList(const IntrusiveList&) = delete;
    IntrusiveList& operator=(const IntrusiveList&) = delete;

    [[nodiscard]] bool empty() const noexcept { return front_ == nullptr; }
    /// The first element; null if there is none.
    [[nodiscard]] T* front() const noexcept { return front_; }

    void push_back(T& element) noexcept
    {
        (element.*links) = {.previous = back_, .next = nullptr, .linked = true};
        (back_ == nullptr ? front_ : (back_->*links).next) = &element;
        back_ = &element;
    }
    /// The last element; null if there is none.
    [[nodiscard]] T* back() const noexcept { return back_; }
    /// Puts the element behind another one of the list; in front of all if that is null.
    void insert_behind(T* before, T& element) noexcept
    {
        T* const after = before == nullptr ? front_ : (before->*links).next;
        (element.*links) = {.previous = before, .next = after, .linked = true};
        (before == nullptr ? front_ : (before->*links).next) = &element;
        (after == nullptr ? back_ : (after->*links).previous) = &element;
    }
    /// Takes the element out of the list; does nothing if it is in no list.
    void remove(T& element) noexcept
    {
        ListLinks<T>& own = element.*links;
        if (!own.linked) return;
        (own.previous == nullptr ? front_ : (own.previous->*links).next) = own.next;
        (own.next == nullptr ? back_ : (own.next->*links).previous) = own.previous;
        own = {};
    }

  private:
    T* front_ = nullptr;
    T* back_ = nullptr;
};

} // namespace kairos
