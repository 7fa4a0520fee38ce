// SPDX-License-Identifier: Apache-2.0
//
// Strings of the C++ mapping (5.8 "Mapping for string types"): char* that somebody owns, and the
// classes that own them. The classes are templates, because those of wide strings (wstring.h)
// differ in the character type alone. Values; not shared between threads.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/types.h"

#include <concepts>
#include <cstddef>
#include <cstring>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kairos::mapping {

/// The "" of members and elements that nothing was assigned to: never freed, so an empty string
/// costs no allocation. One object a process, whatever the number of shared libraries.
KAIROS_API extern char shared_empty_string[1];
KAIROS_API extern wchar_t shared_empty_wstring[1];

template <typename Char>
[[nodiscard]] Char* shared_empty() noexcept
{
    if constexpr (std::is_same_v<Char, char>) {
        return shared_empty_string;
    } else {
        return shared_empty_wstring;
    }
}

/// Room for `length` characters and the terminator; "" until the caller writes them.
template <typename Char>
[[nodiscard]] Char* allocate_text(std::size_t length)
{
    Char* text = new Char[length + 1];
    text[0] = Char();
    return text;
}

/// A copy of the text, owned by the caller.
template <typename Char>
[[nodiscard]] Char* duplicate(std::basic_string_view<Char> text)
{
    Char* copy = new Char[text.size() + 1];
    text.copy(copy, text.size());
    copy[text.size()] = Char();
    return copy;
}
[[nodiscard]] inline char* duplicate(std::string_view text) { return duplicate<char>(text); }

/// A copy of a C string, owned by the caller; null for null.
template <typename Char>
[[nodiscard]] Char* duplicate_text(const Char* text)
{
    return text == nullptr ? nullptr : duplicate<Char>(std::basic_string_view<Char>(text));
}

template <typename Char>
void free_text(Char* text) noexcept
{
    if (text != shared_empty<Char>()) delete[] text;
}

// What a compiler does not make inline, as with -Os, it finds in the library.
extern template KAIROS_API char* duplicate<char>(std::string_view);
extern template KAIROS_API char* duplicate_text<char>(const char*);
extern template KAIROS_API void free_text<char>(char*) noexcept;

} // namespace kairos::mapping

namespace CORBA {

/// Room for `length` characters and the terminator, which the caller writes.
[[nodiscard]] inline char* string_alloc(ULong length)
{
    return kairos::mapping::allocate_text<char>(length);
}

/// A copy of the text, owned by the caller; null for null.
[[nodiscard]] inline char* string_dup(const char* text)
{
    return kairos::mapping::duplicate_text(text);
}

inline void string_free(char* text) noexcept { kairos::mapping::free_text(text); }

} // namespace CORBA

namespace kairos::mapping {

/// A class that holds a text and lends it: a T_var, a member, an element of a sequence. A function
/// that has forms for `Char*` and `const Char*` has one for these, too: they convert to both, so
/// that neither would be the better one.
template <typename T, typename Char>
concept HoldsText = requires(const T& holder) {
    {
        holder.in()
    } -> std::same_as<const Char*>;
};

/// Owns a string: String_var starts with null, a member of a struct or an array with "".
/// A `Char*` assigned to it is adopted, a `const Char*` copied.
template <typename Char, bool starts_empty>
class KAIROS_API TextOwner {
  public:
    using View = std::basic_string_view<Char>;
    using String = std::basic_string<Char>;

    TextOwner() noexcept = default;
    TextOwner(Char* text) noexcept : text_(text) {}
    TextOwner(const Char* text) : text_(duplicate_text<Char>(text)) {}
    TextOwner(const String& text) : text_(duplicate<Char>(View(text))) {}
    TextOwner(std::nullptr_t) noexcept : text_(nullptr) {}
    TextOwner(const TextOwner& other) : text_(copy(other.text_)) {}
    TextOwner(TextOwner&& other) noexcept : text_(std::exchange(other.text_, initial())) {}
    template <HoldsText<Char> Other>
    TextOwner(const Other& other) : text_(copy(other.in()))
    {
    }
    ~TextOwner() { free_text<Char>(text_); }

    TextOwner& operator=(Char* text) noexcept
    {
        if (text != text_) free_text<Char>(std::exchange(text_, text));
        return *this;
    }
    TextOwner& operator=(const Char* text)
    {
        if (text != text_) free_text<Char>(std::exchange(text_, duplicate_text<Char>(text)));
        return *this;
    }
    TextOwner& operator=(const String& text) { return *this = duplicate<Char>(View(text)); }
    TextOwner& operator=(std::nullptr_t) noexcept { return *this = static_cast<Char*>(nullptr); }
    TextOwner& operator=(const TextOwner& other)
    {
        if (this != &other) *this = copy(other.text_);
        return *this;
    }
    TextOwner& operator=(TextOwner&& other) noexcept
    {
        std::swap(text_, other.text_);
        return *this;
    }
    template <HoldsText<Char> Other>
    TextOwner& operator=(const Other& other)
    {
        return *this = copy(other.in());
    }

    operator Char*&() noexcept { return text_; }
#ifndef KAIROS_TEXTS_AS_OMNIORB
    // Also for objects that are not const: else the operator above would be chosen for a const
    // Char*, which -Wconversion calls confusing in the users' code. Of two functions, for Char* and
    // for const Char*, neither is the better one then; programs for omniORB have such.
    operator const Char*() noexcept { return text_; }
#endif
    operator const Char*() const noexcept { return text_; }
    explicit operator bool() noexcept { return text_ != nullptr; }
    explicit operator bool() const noexcept { return text_ != nullptr; }
    friend bool operator==(const TextOwner& owner, std::nullptr_t) noexcept
    {
        return owner.text_ == nullptr;
    }
    operator View() const noexcept { return text_ == nullptr ? View() : View(text_); }
    /// Prints the text to any output stream of its characters; null prints nothing.
    template <typename Traits>
    friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& stream,
                                                        const TextOwner& owner)
    {
        return stream << View(owner);
    }
    template <typename Index>
        requires std::is_integral_v<Index>
    Char& operator[](Index index) noexcept
    {
        return text_[index];
    }
    template <typename Index>
        requires std::is_integral_v<Index>
    Char operator[](Index index) const noexcept
    {
        return text_[index];
    }

    [[nodiscard]] const Char* in() const noexcept { return text_; }
    [[nodiscard]] Char*& inout() noexcept { return text_; }
    /// Frees what is held: a callee only assigns.
    Char*& out() noexcept
    {
        *this = static_cast<Char*>(nullptr);
        return text_;
    }
    /// Gives the string to the caller, who frees it with string_free.
    [[nodiscard]] Char* _retn() noexcept { return std::exchange(text_, initial()); }

  private:
    [[nodiscard]] static Char* initial() noexcept
    {
        return starts_empty ? shared_empty<Char>() : nullptr;
    }
    [[nodiscard]] static Char* copy(const Char* text)
    {
        return text == shared_empty<Char>() ? shared_empty<Char>() : duplicate_text<Char>(text);
    }

    Char* text_ = initial();
};

extern template class KAIROS_API TextOwner<char, false>;
extern template class KAIROS_API TextOwner<char, true>;

template <bool starts_empty>
using StringOwner = TextOwner<char, starts_empty>;
using StringMember = StringOwner<true>;

/// A member of type string<bound>. The bound is checked when it is encoded or decoded.
template <CORBA::ULong bound>
class KAIROS_API BoundedStringMember : public StringMember {
  public:
    using StringMember::StringMember;
    using StringMember::operator=;
};

/// The type of `out` parameters: null at first, so that the callee need not look at it.
template <typename Char>
class KAIROS_API TextOut {
  public:
    TextOut(Char*& text) noexcept : text_(text) { text_ = nullptr; }
    TextOut(TextOwner<Char, false>& text) noexcept : text_(text.out()) {}
    TextOut(TextOwner<Char, true>& text) noexcept : text_(text.out()) {}
    TextOut(const TextOut&) = default;

    TextOut& operator=(const TextOut& other) // NOLINT(modernize-use-equals-default): deleted
    {
        text_ = other.text_;
        return *this;
    }
    TextOut& operator=(Char* text) noexcept
    {
        text_ = text;
        return *this;
    }
    TextOut& operator=(const Char* text)
    {
        text_ = duplicate_text<Char>(text);
        return *this;
    }
    /// Deleted: what a String_var holds would be freed by both. Use _retn() or a copy.
    void operator=(const TextOwner<Char, false>&) = delete;
    /// Assigns a copy of a member or an element.
    template <HoldsText<Char> Holder>
    TextOut& operator=(const Holder& holder)
    {
        return *this = holder.in();
    }

    operator Char*&() noexcept { return text_; }
    [[nodiscard]] Char*& ptr() noexcept { return text_; }

  private:
    Char*& text_;
};

} // namespace kairos::mapping

namespace CORBA {

using String_var = kairos::mapping::StringOwner<false>;
using String_out = kairos::mapping::TextOut<char>;
/// What string members of structs and string elements of arrays are.
using String_mgr = kairos::mapping::StringMember;

} // namespace CORBA
