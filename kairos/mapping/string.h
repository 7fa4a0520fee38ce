// SPDX-License-Identifier: Apache-2.0
//
// Strings of the C++ mapping (5.8 "Mapping for string types"): char* that somebody owns, and the
// classes that own them. Values; not shared between threads.
#pragma once

#include "kairos/mapping/types.h"

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
extern char shared_empty_string[1];

} // namespace kairos::mapping

namespace CORBA {

/// Room for `length` characters and the terminator, which the caller writes.
[[nodiscard]] inline char* string_alloc(ULong length)
{
    char* text = new char[std::size_t{length} + 1];
    text[0] = '\0';
    return text;
}

/// A copy, owned by the caller; null for null.
[[nodiscard]] inline char* string_dup(const char* text)
{
    if (text == nullptr) return nullptr;
    const std::size_t size = std::strlen(text) + 1;
    return static_cast<char*>(std::memcpy(new char[size], text, size));
}

inline void string_free(char* text) noexcept
{
    if (text != kairos::mapping::shared_empty_string) delete[] text;
}

class String_out;

} // namespace CORBA

namespace kairos::mapping {

/// A copy of the text, owned by the caller.
[[nodiscard]] inline char* duplicate(std::string_view text)
{
    char* copy = new char[text.size() + 1];
    text.copy(copy, text.size());
    copy[text.size()] = '\0';
    return copy;
}

/// Owns a string: String_var starts with null, a member of a struct or an array with "".
/// A `char*` assigned to it is adopted, a `const char*` copied.
template <bool starts_empty>
class StringOwner {
  public:
    StringOwner() noexcept = default;
    StringOwner(char* text) noexcept : text_(text) {}
    StringOwner(const char* text) : text_(CORBA::string_dup(text)) {}
    StringOwner(const std::string& text) : text_(duplicate(text)) {}
    StringOwner(std::nullptr_t) noexcept : text_(nullptr) {}
    StringOwner(const StringOwner& other) : text_(copy(other.text_)) {}
    StringOwner(StringOwner&& other) noexcept : text_(std::exchange(other.text_, initial())) {}
    template <bool other_starts_empty>
    StringOwner(const StringOwner<other_starts_empty>& other) : text_(copy(other.in()))
    {
    }
    ~StringOwner() { CORBA::string_free(text_); }

    StringOwner& operator=(char* text) noexcept
    {
        if (text != text_) CORBA::string_free(std::exchange(text_, text));
        return *this;
    }
    StringOwner& operator=(const char* text)
    {
        if (text != text_) CORBA::string_free(std::exchange(text_, CORBA::string_dup(text)));
        return *this;
    }
    StringOwner& operator=(const std::string& text) { return *this = duplicate(text); }
    StringOwner& operator=(std::nullptr_t) noexcept { return *this = static_cast<char*>(nullptr); }
    StringOwner& operator=(const StringOwner& other)
    {
        if (this != &other) *this = copy(other.text_);
        return *this;
    }
    StringOwner& operator=(StringOwner&& other) noexcept
    {
        std::swap(text_, other.text_);
        return *this;
    }
    template <bool other_starts_empty>
    StringOwner& operator=(const StringOwner<other_starts_empty>& other)
    {
        return *this = copy(other.in());
    }

    operator char*&() noexcept { return text_; }
    // Also for objects that are not const: else the operator above would be chosen for a const
    // char*, which -Wconversion calls confusing in the users' code.
    operator const char*() noexcept { return text_; }
    operator const char*() const noexcept { return text_; }
    explicit operator bool() noexcept { return text_ != nullptr; }
    explicit operator bool() const noexcept { return text_ != nullptr; }
    friend bool operator==(const StringOwner& owner, std::nullptr_t) noexcept
    {
        return owner.text_ == nullptr;
    }
    operator std::string_view() const noexcept
    {
        return text_ == nullptr ? std::string_view() : std::string_view(text_);
    }
    /// Any output stream of characters; null prints nothing.
    template <typename Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                                        const StringOwner& owner)
    {
        return stream << std::string_view(owner);
    }
    template <typename Index>
        requires std::is_integral_v<Index>
    char& operator[](Index index) noexcept
    {
        return text_[index];
    }
    template <typename Index>
        requires std::is_integral_v<Index>
    char operator[](Index index) const noexcept
    {
        return text_[index];
    }

    [[nodiscard]] const char* in() const noexcept { return text_; }
    [[nodiscard]] char*& inout() noexcept { return text_; }
    /// Frees what is held: a callee only assigns.
    char*& out() noexcept
    {
        *this = static_cast<char*>(nullptr);
        return text_;
    }
    /// Gives the string to the caller, who frees it with string_free.
    [[nodiscard]] char* _retn() noexcept { return std::exchange(text_, initial()); }

  private:
    [[nodiscard]] static char* initial() noexcept
    {
        return starts_empty ? shared_empty_string : nullptr;
    }
    [[nodiscard]] static char* copy(const char* text)
    {
        return text == shared_empty_string ? shared_empty_string : CORBA::string_dup(text);
    }

    char* text_ = initial();
};

using StringMember = StringOwner<true>;

/// A member of type string<bound>. The bound is checked when it is encoded or decoded.
template <CORBA::ULong bound>
class BoundedStringMember : public StringMember {
  public:
    using StringMember::StringMember;
    using StringMember::operator=;
};

} // namespace kairos::mapping

namespace CORBA {

using String_var = kairos::mapping::StringOwner<false>;

/// The type of `out` parameters: null at first, so that the callee need not look at it.
class String_out {
  public:
    String_out(char*& text) noexcept : text_(text) { text_ = nullptr; }
    String_out(String_var& text) noexcept : text_(text.out()) {}
    String_out(kairos::mapping::StringMember& text) noexcept : text_(text.out()) {}
    String_out(const String_out&) = default;

    String_out& operator=(const String_out& other) // NOLINT(modernize-use-equals-default): deleted
    {
        text_ = other.text_;
        return *this;
    }
    String_out& operator=(char* text) noexcept
    {
        text_ = text;
        return *this;
    }
    String_out& operator=(const char* text)
    {
        text_ = string_dup(text);
        return *this;
    }
    /// A String_var would be freed by both: use _retn() or a copy.
    void operator=(const String_var&) = delete;

    operator char*&() noexcept { return text_; }
    [[nodiscard]] char*& ptr() noexcept { return text_; }

  private:
    char*& text_;
};

} // namespace CORBA
