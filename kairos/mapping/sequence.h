// SPDX-License-Identifier: Apache-2.0
//
// Sequences of the C++ mapping (5.15): a buffer that the sequence owns (`release`) or borrows, so
// that a skeleton can hand out a view of the receive buffer. Two kinds of storage, one for values
// and one for pointers that are managed through element proxies (strings, object references); on
// top the bounded and the unbounded form. Generated typedefs are classes derived from these.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/array.h"
#include "kairos/mapping/string.h"
#include "kairos/mapping/var.h"
#include "kairos/mapping/wstring.h"

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

namespace kairos::mapping {

/// Throws BAD_PARAM: a bounded sequence was given more elements than its type allows.
[[noreturn]] KAIROS_API void raise_sequence_bound_exceeded();

/// What every sequence is in memory, whatever its elements: what code that knows types only as data
/// (kairos/types) relies on. Buffers are made by the storage's `allocate`: new T[count] of values;
/// of pointers one slot more, which holds their number and lies in front.
struct [[gnu::may_alias]] KAIROS_API_TYPE SequenceLayout {
    void* buffer;
    CORBA::ULong length;
    CORBA::ULong capacity;
    bool release; ///< whether the elements are the sequence's own
};

/// Elements that are values: numbers, structs, sequences, arrays. T may be incomplete until used.
template <typename T>
class KAIROS_API ValueStorage {
  public:
    using Stored = T;
    [[nodiscard]] static consteval bool has_sequence_layout()
    {
        return offsetof(ValueStorage, length_) == offsetof(SequenceLayout, length) &&
               offsetof(ValueStorage, capacity_) == offsetof(SequenceLayout, capacity) &&
               offsetof(ValueStorage, release_) == offsetof(SequenceLayout, release);
    }
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    /// Makes `count` elements, default-initialised: numbers and structs of them are not cleared.
    [[nodiscard]] static T* allocate(CORBA::ULong count) { return new T[count]; }
    static void freebuf(T* buffer) noexcept { delete[] buffer; }

    [[nodiscard]] T& operator[](CORBA::ULong index) noexcept { return buffer_[index]; }
    [[nodiscard]] const T& operator[](CORBA::ULong index) const noexcept { return buffer_[index]; }

    [[nodiscard]] T* begin() noexcept { return buffer_; }
    [[nodiscard]] T* end() noexcept { return buffer_ + length_; }
    [[nodiscard]] const T* begin() const noexcept { return buffer_; }
    [[nodiscard]] const T* end() const noexcept { return buffer_ + length_; }
    [[nodiscard]] T* data() noexcept { return buffer_; }
    [[nodiscard]] const T* data() const noexcept { return buffer_; }

  protected:
    static void copy_elements(T* to, const T* from, CORBA::ULong count)
    {
        for (CORBA::ULong i = 0; i < count; ++i)
            assign(to[i], from[i]);
    }
    static void move_elements(T* to, T* from, CORBA::ULong count)
    {
        if constexpr (std::is_array_v<T>) {
            copy_elements(to, from, count);
        } else {
            for (CORBA::ULong i = 0; i < count; ++i)
                to[i] = std::move(from[i]);
        }
    }
    /// Gives back what elements hold that are no longer part of the sequence.
    void clear_elements(CORBA::ULong first, CORBA::ULong last)
    {
        if constexpr (std::is_class_v<T> && !std::is_trivially_destructible_v<T>) {
            for (CORBA::ULong i = first; i < last; ++i)
                buffer_[i] = T();
        }
    }

    T* buffer_ = nullptr;
    CORBA::ULong length_ = 0;
    CORBA::ULong capacity_ = 0;
    bool release_ = true;
};

/// How strings are held by a PointerStorage. `string_bound` is 0 for unbounded ones.
template <typename Char, CORBA::ULong string_bound>
struct KAIROS_API TextElements {
    using Pointer = Char*;
    using Borrowed = const Char*;
    using Owner = TextOwner<Char, false>;
    using Character = Char;
    static constexpr bool is_counted = false;
    static constexpr CORBA::ULong bound = string_bound;
    [[nodiscard]] static Char* initial() noexcept { return shared_empty<Char>(); }
    [[nodiscard]] static Char* duplicate(const Char* text) { return duplicate_text(text); }
    static void release(Char* text) noexcept { free_text(text); }
};
template <CORBA::ULong string_bound>
using StringElements = TextElements<char, string_bound>;
template <CORBA::ULong string_bound>
using WStringElements = TextElements<wchar_t, string_bound>;

/// How object references, or what else the traits are for, are held by a PointerStorage.
template <typename T, typename Traits = ObjectTraits<T>>
struct KAIROS_API ObjectElements {
    using Pointer = T*;
    using Borrowed = T*;
    using Owner = ObjectVar<T, Traits>;
    using Interface = T;
    static constexpr bool is_counted = true;
    [[nodiscard]] static T* initial() noexcept { return nullptr; }
    [[nodiscard]] static T* duplicate(T* object) { return Traits::duplicate(object); }
    static void release(T* object) { Traits::release(object); }
    [[noreturn]] static void raise_nil() { Traits::raise_nil(); }
};

/// What operator[] of such a sequence returns: assigns as a T_var does, but frees the old value
/// only if the sequence owns its elements.
template <typename Elements>
class KAIROS_API PointerElement {
    using Pointer = typename Elements::Pointer;
    using Borrowed = typename Elements::Borrowed;
    using Owner = typename Elements::Owner;

  public:
    PointerElement(Pointer& slot, bool release) noexcept : slot_(slot), release_(release) {}
    PointerElement(const PointerElement&) = default;

    /// Takes over a count of the caller's, also where the element holds the same object already; or
    /// a string, except the one that the element holds already, which is its own.
    PointerElement& operator=(Pointer adopted)
    {
        if (Elements::is_counted || adopted != slot_) replace(adopted);
        return *this;
    }
    PointerElement& operator=(Borrowed copied)
        requires(!std::same_as<Borrowed, Pointer>)
    {
        if (copied != slot_) replace(Elements::duplicate(copied));
        return *this;
    }
    PointerElement& operator=(const PointerElement& other)
    {
        if (other.slot_ != slot_) replace(Elements::duplicate(other.slot_));
        return *this;
    }
    PointerElement& operator=(const Owner& other)
    {
        replace(Elements::duplicate(other.in()));
        return *this;
    }
    /// A T_var of another interface would give its only count away.
    template <typename Other, typename OtherTraits>
    PointerElement& operator=(const ObjectVar<Other, OtherTraits>& other) = delete;
    PointerElement& operator=(const ConstPointerElement<Elements>& other)
    {
        if (other.in() != slot_) replace(Elements::duplicate(other.in()));
        return *this;
    }
    /// Copies a member of a struct, or an element of a sequence of another bound.
    template <typename Holder>
        requires(!Elements::is_counted && HoldsText<Holder, std::remove_pointer_t<Pointer>>)
    PointerElement& operator=(const Holder& other)
    {
        if (other.in() != slot_) replace(Elements::duplicate(other.in()));
        return *this;
    }
    template <typename Char>
        requires std::same_as<Pointer, Char*>
    PointerElement& operator=(const std::basic_string<Char>& text)
    {
        replace(mapping::duplicate<Char>(std::basic_string_view<Char>(text)));
        return *this;
    }

    operator Borrowed() const noexcept { return slot_; }
    /// Of texts: what the element holds, and goes on holding, to be changed in place.
#ifdef KAIROS_TEXTS_AS_OMNIORB
    operator Pointer() noexcept // the better one for a const Char*, too, as a TextOwner's is
#else
    operator Pointer() const noexcept
#endif
        requires(!std::same_as<Borrowed, Pointer>)
    {
        return slot_;
    }
    explicit operator bool() const noexcept { return slot_ != nullptr; }
    friend bool operator==(const PointerElement& element, std::nullptr_t) noexcept
    {
        return element.slot_ == nullptr;
    }
    template <typename Char>
        requires std::same_as<Pointer, Char*>
    operator std::basic_string_view<Char>() const noexcept
    {
        return slot_;
    }
    /// Characters, where the element is a text.
    template <typename Index>
        requires(std::is_integral_v<Index> && !Elements::is_counted)
    auto& operator[](Index index) const noexcept
    {
        return slot_[index];
    }
    template <typename Traits>
    friend auto& operator<<(std::basic_ostream<std::remove_pointer_t<Pointer>, Traits>& stream,
                            const PointerElement& element)
        requires(!Elements::is_counted)
    {
        return stream << element.in();
    }
    /// Of references and values, as a T_var's.
    Pointer operator->() const
        requires Elements::is_counted
    {
        if (slot_ == nullptr) [[unlikely]]
            Elements::raise_nil();
        return slot_;
    }

    [[nodiscard]] Borrowed in() const noexcept { return slot_; }
    [[nodiscard]] Pointer& inout() noexcept { return slot_; }
    Pointer& out()
    {
        replace(nullptr);
        return slot_;
    }
    /// Gives the element to the caller, a copy of it if the sequence does not own it.
    [[nodiscard]] Pointer _retn()
    {
        if (!release_) return Elements::duplicate(slot_);
        return std::exchange(slot_, Elements::initial());
    }

  private:
    void replace(Pointer value)
    {
        const Pointer old = std::exchange(slot_, value);
        if (release_) Elements::release(old);
    }

    Pointer& slot_;
    bool release_;
};

/// What operator[] of such a sequence returns that is const: the element, to be read. It lives as
/// long as the sequence is not changed.
template <typename Elements>
class KAIROS_API ConstPointerElement {
    using Borrowed = typename Elements::Borrowed;

  public:
    ConstPointerElement(Borrowed value) noexcept : value_(value) {}

    operator Borrowed() const noexcept { return value_; }
    template <typename Char>
        requires std::same_as<Borrowed, const Char*>
    operator std::basic_string_view<Char>() const noexcept
    {
        return value_;
    }
    /// Of references and values, as a T_var's.
    Borrowed operator->() const
        requires Elements::is_counted
    {
        if (value_ == nullptr) [[unlikely]]
            Elements::raise_nil();
        return value_;
    }
    [[nodiscard]] Borrowed in() const noexcept { return value_; }

    // Comparison with a std::string, and what makes one, take no class that converts to a pointer.
    template <typename Text>
        requires std::same_as<Text, std::basic_string<typename Text::value_type>>
    friend bool operator==(const ConstPointerElement& element, const Text& text)
    {
        return text == element.in();
    }
    template <typename Text>
        requires std::same_as<Text, std::basic_string<typename Text::value_type>>
    friend Text operator+(const Text& text, const ConstPointerElement& element)
    {
        return text + element.in();
    }
    template <typename Traits>
    friend auto& operator<<(
        std::basic_ostream<std::remove_const_t<std::remove_pointer_t<Borrowed>>, Traits>& stream,
        const ConstPointerElement& element)
        requires(!Elements::is_counted)
    {
        return stream << element.in();
    }

  private:
    Borrowed value_;
};

/// Elements that are pointers to something owned.
template <typename Elements>
class KAIROS_API PointerStorage {
  public:
    using Stored = typename Elements::Pointer;
    [[nodiscard]] static consteval bool has_sequence_layout()
    {
        return offsetof(PointerStorage, length_) == offsetof(SequenceLayout, length) &&
               offsetof(PointerStorage, capacity_) == offsetof(SequenceLayout, capacity) &&
               offsetof(PointerStorage, release_) == offsetof(SequenceLayout, release);
    }
    using ElementTraits = Elements;
    using Borrowed = typename Elements::Borrowed;
    using value_type = Borrowed;
    using const_iterator = const Borrowed*;

    /// Makes `count` empty elements. Their number is kept in front of them: freebuf is told only
    /// where they are.
    [[nodiscard]] static Stored* allocate(CORBA::ULong count)
    {
        auto* slots = new Stored[std::size_t{count} + 1];
        const std::uintptr_t number = count;
        std::memcpy(static_cast<void*>(slots), &number, sizeof number);
        for (std::size_t i = 1; i <= count; ++i)
            slots[i] = Elements::initial();
        return slots + 1;
    }
    static void freebuf(Stored* buffer)
    {
        if (buffer == nullptr) return;
        std::uintptr_t number = 0;
        std::memcpy(&number, static_cast<void*>(buffer - 1), sizeof number);
        for (std::uintptr_t i = 0; i < number; ++i)
            Elements::release(buffer[i]);
        delete[] (buffer - 1);
    }

    [[nodiscard]] PointerElement<Elements> operator[](CORBA::ULong index) noexcept
    {
        return {buffer_[index], release_};
    }
    [[nodiscard]] ConstPointerElement<Elements> operator[](CORBA::ULong index) const noexcept
    {
        return buffer_[index];
    }

    [[nodiscard]] const Borrowed* begin() const noexcept { return buffer_; }
    [[nodiscard]] const Borrowed* end() const noexcept { return buffer_ + length_; }
    [[nodiscard]] const Borrowed* data() const noexcept { return buffer_; }

  protected:
    /// `to` holds what Elements::initial() says or owned values.
    static void copy_elements(Stored* to, const Borrowed* from, CORBA::ULong count)
    {
        for (CORBA::ULong i = 0; i < count; ++i) {
            const Stored copy = Elements::duplicate(from[i]);
            Elements::release(std::exchange(to[i], copy));
        }
    }
    static void move_elements(Stored* to, Stored* from, CORBA::ULong count)
    {
        for (CORBA::ULong i = 0; i < count; ++i)
            std::swap(from[i], to[i]);
    }
    void clear_elements(CORBA::ULong first, CORBA::ULong last)
    {
        for (CORBA::ULong i = first; i < last; ++i)
            Elements::release(std::exchange(buffer_[i], Elements::initial()));
    }

    Stored* buffer_ = nullptr;
    CORBA::ULong length_ = 0;
    CORBA::ULong capacity_ = 0;
    bool release_ = true;
};

/// What bounded and unbounded sequences share.
template <typename Storage>
class KAIROS_API SequenceBase : public Storage {
  public:
    using kairos_storage = Storage;
    using typename Storage::Stored;

    SequenceBase() noexcept = default;
    SequenceBase(const SequenceBase& other) : Storage() { copy(other); }
    SequenceBase(SequenceBase&& other) noexcept : Storage() { swap(other); }
    SequenceBase& operator=(const SequenceBase& other)
    {
        if (this != &other) copy(other);
        return *this;
    }
    SequenceBase& operator=(SequenceBase&& other) noexcept
    {
        swap(other);
        return *this;
    }
    ~SequenceBase() { drop(); }

    [[nodiscard]] CORBA::ULong length() const noexcept { return this->length_; }
    [[nodiscard]] std::size_t size() const noexcept { return this->length_; }
    [[nodiscard]] bool empty() const noexcept { return this->length_ == 0; }
    /// Whether the elements are the sequence's own.
    [[nodiscard]] CORBA::Boolean release() const noexcept { return this->release_; }
    [[nodiscard]] auto get_buffer() const noexcept { return this->data(); }

    /// Room for `count` elements, all of which the caller assigns; what was there is lost.
    [[nodiscard, gnu::noinline]] Stored* kairos_overwrite(CORBA::ULong count)
    {
        if (!this->release_ || count > this->capacity_) {
            drop();
            this->buffer_ = Storage::allocate(count);
            this->capacity_ = count;
        } else if (count < this->length_) {
            this->clear_elements(count, this->length_);
        }
        this->length_ = count;
        return this->buffer_;
    }

  protected:
    /// Takes these elements in place of the present ones; the buffer may be the present one.
    void adopt(CORBA::ULong capacity, CORBA::ULong length, Stored* elements, bool release)
    {
        if (elements != this->buffer_) drop();
        this->buffer_ = elements;
        this->capacity_ = capacity;
        this->length_ = length;
        this->release_ = release;
    }
    void resize(CORBA::ULong length, CORBA::ULong capacity_max)
    {
        if (length > this->capacity_) {
            const std::uint64_t doubled = std::uint64_t{2} * this->capacity_;
            const auto capacity = static_cast<CORBA::ULong>(
                doubled < capacity_max ? doubled : std::uint64_t{capacity_max});
            reserve(capacity < length ? length : capacity);
        } else if (length < this->length_ && this->release_) {
            this->clear_elements(length, this->length_);
        }
        this->length_ = length;
    }
    void reserve(CORBA::ULong capacity)
    {
        Stored* grown = Storage::allocate(capacity);
        try {
            if (this->release_) {
                this->move_elements(grown, this->buffer_, this->length_);
            } else {
                this->copy_elements(grown, this->buffer_, this->length_);
            }
        } catch (...) {
            Storage::freebuf(grown);
            throw;
        }
        const CORBA::ULong length = this->length_;
        adopt(capacity, length, grown, true);
    }
    /// The buffer itself, made if it is not there yet, or handed over with its elements.
    [[nodiscard]] Stored* buffer(bool orphan, CORBA::ULong capacity)
    {
        if (orphan) {
            if (!this->release_) return nullptr;
            this->length_ = this->capacity_ = 0;
            return std::exchange(this->buffer_, nullptr);
        }
        if (this->capacity_ < capacity) reserve(capacity);
        return this->buffer_;
    }
    void assign_range(const typename Storage::value_type* elements, std::size_t count)
    {
        const auto length = static_cast<CORBA::ULong>(count);
        this->copy_elements(kairos_overwrite(length), elements, length);
    }

  private:
    void copy(const SequenceBase& other)
    {
        this->copy_elements(kairos_overwrite(other.length_), other.data(), other.length_);
    }
    void swap(SequenceBase& other) noexcept
    {
        std::swap(this->buffer_, other.buffer_);
        std::swap(this->length_, other.length_);
        std::swap(this->capacity_, other.capacity_);
        std::swap(this->release_, other.release_);
    }
    [[gnu::noinline]] void drop()
    {
        if (this->release_) Storage::freebuf(this->buffer_);
        this->buffer_ = nullptr;
        this->length_ = this->capacity_ = 0;
        this->release_ = true;
    }
};

/// Whether a sequence class keeps to SequenceLayout: it, too, has nothing but the four members, in
/// this order.
template <typename Sequence>
inline constexpr bool is_sequence_layout =
    std::is_standard_layout_v<Sequence> && sizeof(Sequence) == sizeof(SequenceLayout) &&
    Sequence::kairos_storage::has_sequence_layout();

template <typename Storage>
class KAIROS_API Unbounded : public SequenceBase<Storage> {
    using Base = SequenceBase<Storage>;

  public:
    using typename Base::Stored;
    static constexpr CORBA::ULong kairos_bound = 0;

    Unbounded() noexcept = default;
    explicit Unbounded(CORBA::ULong maximum)
    {
        if (maximum != 0) this->reserve(maximum);
    }
    Unbounded(CORBA::ULong maximum, CORBA::ULong length, Stored* elements,
              CORBA::Boolean release = false)
    {
        this->adopt(maximum, length, elements, release);
    }
    Unbounded(std::initializer_list<typename Storage::value_type> elements)
    {
        this->assign_range(elements.begin(), elements.size());
    }

    [[nodiscard]] CORBA::ULong maximum() const noexcept { return this->capacity_; }
    using Base::length;
    void length(CORBA::ULong length) { this->resize(length, 0xFFFF'FFFF); }

    using Base::get_buffer;
    [[nodiscard]] Stored* get_buffer(CORBA::Boolean orphan = false)
    {
        return this->buffer(orphan, this->capacity_);
    }
    void replace(CORBA::ULong maximum, CORBA::ULong length, Stored* elements,
                 CORBA::Boolean release = false)
    {
        this->adopt(maximum, length, elements, release);
    }
    [[nodiscard]] static Stored* allocbuf(CORBA::ULong count) { return Storage::allocate(count); }

    /// Copies the elements.
    void assign(std::span<const typename Storage::value_type> elements)
    {
        this->assign_range(elements.data(), elements.size());
    }
};

template <typename Storage, CORBA::ULong bound>
class KAIROS_API Bounded : public SequenceBase<Storage> {
    using Base = SequenceBase<Storage>;

  public:
    using typename Base::Stored;
    static constexpr CORBA::ULong kairos_bound = bound;

    Bounded() noexcept = default;
    Bounded(CORBA::ULong length, Stored* elements, CORBA::Boolean release = false)
    {
        replace(length, elements, release);
    }
    Bounded(std::initializer_list<typename Storage::value_type> elements)
    {
        assign({elements.begin(), elements.size()});
    }

    [[nodiscard]] CORBA::ULong maximum() const noexcept { return bound; }
    using Base::length;
    void length(CORBA::ULong length)
    {
        if (length > bound) raise_sequence_bound_exceeded();
        this->resize(length, bound);
    }

    using Base::get_buffer;
    [[nodiscard]] Stored* get_buffer(CORBA::Boolean orphan = false)
    {
        return this->buffer(orphan, bound);
    }
    void replace(CORBA::ULong length, Stored* elements, CORBA::Boolean release = false)
    {
        if (length > bound) raise_sequence_bound_exceeded();
        this->adopt(length, length, elements, release);
    }
    [[nodiscard]] static Stored* allocbuf() { return Storage::allocate(bound); }

    /// Copies the elements.
    void assign(std::span<const typename Storage::value_type> elements)
    {
        if (elements.size() > bound) raise_sequence_bound_exceeded();
        this->assign_range(elements.data(), elements.size());
    }
};

extern template class KAIROS_API PointerStorage<StringElements<0>>;
extern template class KAIROS_API SequenceBase<PointerStorage<StringElements<0>>>;

template <typename T>
using UnboundedSequence = Unbounded<ValueStorage<T>>;
template <typename T, CORBA::ULong bound>
using BoundedSequence = Bounded<ValueStorage<T>, bound>;

template <CORBA::ULong string_bound = 0>
using UnboundedStringSequence = Unbounded<PointerStorage<StringElements<string_bound>>>;
template <CORBA::ULong bound, CORBA::ULong string_bound = 0>
using BoundedStringSequence = Bounded<PointerStorage<StringElements<string_bound>>, bound>;

template <CORBA::ULong string_bound = 0>
using UnboundedWStringSequence = Unbounded<PointerStorage<WStringElements<string_bound>>>;
template <CORBA::ULong bound, CORBA::ULong string_bound = 0>
using BoundedWStringSequence = Bounded<PointerStorage<WStringElements<string_bound>>, bound>;

template <typename T>
using UnboundedObjectSequence = Unbounded<PointerStorage<ObjectElements<T>>>;
template <typename T, CORBA::ULong bound>
using BoundedObjectSequence = Bounded<PointerStorage<ObjectElements<T>>, bound>;

} // namespace kairos::mapping
