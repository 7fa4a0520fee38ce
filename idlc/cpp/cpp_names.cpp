// SPDX-License-Identifier: Apache-2.0
#include "idlc/cpp/cpp_names.h"

#include "idlc/cpp/forms.h"
#include "idlc/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace kairos::idlc {
namespace {

/// Keywords and alternative tokens of C++20, sorted.
constexpr std::string_view keywords[] = {
    "alignas",       "alignof",     "and",
    "and_eq",        "asm",         "auto",
    "bitand",        "bitor",       "bool",
    "break",         "case",        "catch",
    "char",          "char16_t",    "char32_t",
    "char8_t",       "class",       "co_await",
    "co_return",     "co_yield",    "compl",
    "concept",       "const",       "const_cast",
    "consteval",     "constexpr",   "constinit",
    "continue",      "decltype",    "default",
    "delete",        "do",          "double",
    "dynamic_cast",  "else",        "enum",
    "explicit",      "export",      "extern",
    "false",         "float",       "for",
    "friend",        "goto",        "if",
    "inline",        "int",         "long",
    "mutable",       "namespace",   "new",
    "noexcept",      "not",         "not_eq",
    "nullptr",       "operator",    "or",
    "or_eq",         "private",     "protected",
    "public",        "register",    "reinterpret_cast",
    "requires",      "return",      "short",
    "signed",        "sizeof",      "static",
    "static_assert", "static_cast", "struct",
    "switch",        "template",    "this",
    "thread_local",  "throw",       "true",
    "try",           "typedef",     "typeid",
    "typename",      "union",       "unsigned",
    "using",         "virtual",     "void",
    "volatile",      "wchar_t",     "while",
    "xor",           "xor_eq",
};
static_assert(std::ranges::is_sorted(keywords));

// One name a line would be four pages.
// clang-format off
/// Macros that stand for something else, of the headers that generated code includes with the C
/// library of GNU: such names never compiled as they are. Sorted.
constexpr std::string_view macros[] = {
    "BIG_ENDIAN", "BUFSIZ", "BYTE_ORDER", "E2BIG", "EACCES", "EADDRINUSE", "EADDRNOTAVAIL",
    "EADV", "EAFNOSUPPORT", "EAGAIN", "EALREADY", "EBADE", "EBADF", "EBADFD", "EBADMSG",
    "EBADR", "EBADRQC", "EBADSLT", "EBFONT", "EBUSY", "ECANCELED", "ECHILD", "ECHRNG", "ECOMM",
    "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EDEADLK", "EDEADLOCK", "EDESTADDRREQ",
    "EDOM", "EDOTDOT", "EDQUOT", "EEXIST", "EFAULT", "EFBIG", "EHOSTDOWN", "EHOSTUNREACH",
    "EHWPOISON", "EIDRM", "EILSEQ", "EINPROGRESS", "EINTR", "EINVAL", "EIO", "EISCONN",
    "EISDIR", "EISNAM", "EKEYEXPIRED", "EKEYREJECTED", "EKEYREVOKED", "EL2HLT", "EL2NSYNC",
    "EL3HLT", "EL3RST", "ELIBACC", "ELIBBAD", "ELIBEXEC", "ELIBMAX", "ELIBSCN", "ELNRNG",
    "ELOOP", "EMEDIUMTYPE", "EMFILE", "EMLINK", "EMSGSIZE", "EMULTIHOP", "ENAMETOOLONG",
    "ENAVAIL", "ENETDOWN", "ENETRESET", "ENETUNREACH", "ENFILE", "ENOANO", "ENOBUFS", "ENOCSI",
    "ENODATA", "ENODEV", "ENOENT", "ENOEXEC", "ENOKEY", "ENOLCK", "ENOLINK", "ENOMEDIUM",
    "ENOMEM", "ENOMSG", "ENONET", "ENOPKG", "ENOPROTOOPT", "ENOSPC", "ENOSR", "ENOSTR",
    "ENOSYS", "ENOTBLK", "ENOTCONN", "ENOTDIR", "ENOTEMPTY", "ENOTNAM", "ENOTRECOVERABLE",
    "ENOTSOCK", "ENOTSUP", "ENOTTY", "ENOTUNIQ", "ENXIO", "EOF", "EOPNOTSUPP", "EOVERFLOW",
    "EOWNERDEAD", "EPERM", "EPFNOSUPPORT", "EPIPE", "EPROTO", "EPROTONOSUPPORT", "EPROTOTYPE",
    "ERANGE", "EREMCHG", "EREMOTE", "EREMOTEIO", "ERESTART", "ERFKILL", "EROFS", "ESHUTDOWN",
    "ESOCKTNOSUPPORT", "ESPIPE", "ESRCH", "ESRMNT", "ESTALE", "ESTRPIPE", "ETIME", "ETIMEDOUT",
    "ETOOMANYREFS", "ETXTBSY", "EUCLEAN", "EUNATCH", "EUSERS", "EWOULDBLOCK", "EXDEV", "EXFULL",
    "EXIT_FAILURE", "EXIT_SUCCESS", "FD_SETSIZE", "FILENAME_MAX", "FOPEN_MAX", "INT16_MAX",
    "INT16_MIN", "INT16_WIDTH", "INT32_MAX", "INT32_MIN", "INT32_WIDTH", "INT64_MAX",
    "INT64_MIN", "INT64_WIDTH", "INT8_MAX", "INT8_MIN", "INT8_WIDTH", "INTMAX_MAX",
    "INTMAX_MIN", "INTMAX_WIDTH", "INTPTR_MAX", "INTPTR_MIN", "INTPTR_WIDTH", "INT_FAST16_MAX",
    "INT_FAST16_MIN", "INT_FAST16_WIDTH", "INT_FAST32_MAX", "INT_FAST32_MIN",
    "INT_FAST32_WIDTH", "INT_FAST64_MAX", "INT_FAST64_MIN", "INT_FAST64_WIDTH", "INT_FAST8_MAX",
    "INT_FAST8_MIN", "INT_FAST8_WIDTH", "INT_LEAST16_MAX", "INT_LEAST16_MIN",
    "INT_LEAST16_WIDTH", "INT_LEAST32_MAX", "INT_LEAST32_MIN", "INT_LEAST32_WIDTH",
    "INT_LEAST64_MAX", "INT_LEAST64_MIN", "INT_LEAST64_WIDTH", "INT_LEAST8_MAX",
    "INT_LEAST8_MIN", "INT_LEAST8_WIDTH", "LC_ADDRESS", "LC_ADDRESS_MASK", "LC_ALL",
    "LC_ALL_MASK", "LC_COLLATE", "LC_COLLATE_MASK", "LC_CTYPE", "LC_CTYPE_MASK",
    "LC_GLOBAL_LOCALE", "LC_IDENTIFICATION", "LC_IDENTIFICATION_MASK", "LC_MEASUREMENT",
    "LC_MEASUREMENT_MASK", "LC_MESSAGES", "LC_MESSAGES_MASK", "LC_MONETARY", "LC_MONETARY_MASK",
    "LC_NAME", "LC_NAME_MASK", "LC_NUMERIC", "LC_NUMERIC_MASK", "LC_PAPER", "LC_PAPER_MASK",
    "LC_TELEPHONE", "LC_TELEPHONE_MASK", "LC_TIME", "LC_TIME_MASK", "LITTLE_ENDIAN",
    "L_ctermid", "L_cuserid", "L_tmpnam", "MB_CUR_MAX", "NFDBITS", "NULL", "PDP_ENDIAN",
    "PTRDIFF_MAX", "PTRDIFF_MIN", "PTRDIFF_WIDTH", "P_tmpdir", "RAND_MAX", "RENAME_EXCHANGE",
    "RENAME_NOREPLACE", "RENAME_WHITEOUT", "SEEK_CUR", "SEEK_DATA", "SEEK_END", "SEEK_HOLE",
    "SEEK_SET", "SIG_ATOMIC_MAX", "SIG_ATOMIC_MIN", "SIG_ATOMIC_WIDTH", "SIZE_MAX",
    "SIZE_WIDTH", "TMP_MAX", "UINT16_MAX", "UINT16_WIDTH", "UINT32_MAX", "UINT32_WIDTH",
    "UINT64_MAX", "UINT64_WIDTH", "UINT8_MAX", "UINT8_WIDTH", "UINTMAX_MAX", "UINTMAX_WIDTH",
    "UINTPTR_MAX", "UINTPTR_WIDTH", "UINT_FAST16_MAX", "UINT_FAST16_WIDTH", "UINT_FAST32_MAX",
    "UINT_FAST32_WIDTH", "UINT_FAST64_MAX", "UINT_FAST64_WIDTH", "UINT_FAST8_MAX",
    "UINT_FAST8_WIDTH", "UINT_LEAST16_MAX", "UINT_LEAST16_WIDTH", "UINT_LEAST32_MAX",
    "UINT_LEAST32_WIDTH", "UINT_LEAST64_MAX", "UINT_LEAST64_WIDTH", "UINT_LEAST8_MAX",
    "UINT_LEAST8_WIDTH", "WCHAR_MAX", "WCHAR_MIN", "WCHAR_WIDTH", "WCONTINUED", "WEOF",
    "WEXITED", "WINT_MAX", "WINT_MIN", "WINT_WIDTH", "WNOHANG", "WNOWAIT", "WSTOPPED",
    "WUNTRACED", "errno",
};
// clang-format on
static_assert(std::ranges::is_sorted(macros));

/// Namespaces that generated code needs as they are.
constexpr std::string_view namespaces[] = {"kairos", "std"};

/// Outermost first, joined by `separator`.
std::string joined(const Declaration& declaration, std::string_view separator,
                   std::string (*name_of)(const Declaration&))
{
    std::string name = name_of(declaration);
    for (const Declaration* scope = declaration.parent; scope != nullptr; scope = scope->parent)
        name.insert(0, name_of(*scope).append(separator));
    return name;
}

std::string as_written(const Declaration& declaration) { return declaration.name; }

std::string escaped(unsigned char character)
{
    switch (character) {
    case '"':
    case '\'':
    case '\\':
    case '?': // no trigraphs
        return std::string("\\") + static_cast<char>(character);
    default:
        break;
    }
    if (character >= 0x20 && character < 0x7F) return {static_cast<char>(character)};
    char text[8];
    std::snprintf(text, sizeof text, "\\%03o", character); // three digits: what follows is safe
    return text;
}

/// Beyond ASCII hexadecimal, which ends only where no digit follows.
std::string escaped_wide(char32_t character)
{
    if (character < 0x80) return escaped(static_cast<unsigned char>(character));
    char text[16];
    std::snprintf(text, sizeof text, "\\x%x", static_cast<unsigned>(character));
    return text;
}

std::string floating_literal(long double value, TypeKind kind)
{
    const bool is_float = kind == TypeKind::float_;
    const bool is_double = kind == TypeKind::double_;
    char text[64];
    std::snprintf(text, sizeof text, "%.*Lg", is_float ? 9 : is_double ? 17 : 21, value);
    std::string number = text;
    if (number.find_first_of(".en") == std::string::npos) number += ".0";
    return number + (is_float ? "F" : is_double ? "" : "L");
}

std::string signed_literal(std::int64_t value)
{
    // There are no negative literals, so the least number has none.
    if (value == INT64_MIN) return "-9223372036854775807LL - 1";
    const std::string digits = std::to_string(value);
    return value > INT32_MAX || value < INT32_MIN ? digits + "LL" : digits;
}

std::string unsigned_literal(std::uint64_t value)
{
    return std::to_string(value) + (value > UINT32_MAX ? "ULL" : value > INT32_MAX ? "U" : "");
}

} // namespace

std::string identifier(std::string_view idl_name)
{
    const bool taken = std::ranges::binary_search(keywords, idl_name) ||
                       std::ranges::binary_search(macros, idl_name);
    return (taken ? "_cxx_" : "") + std::string(idl_name);
}

std::string identifier(const Declaration& declaration)
{
    const bool taken = declaration.parent == nullptr &&
                       std::ranges::find(namespaces, declaration.name) != std::end(namespaces);
    return taken ? "_cxx_" + declaration.name : identifier(std::string_view(declaration.name));
}

std::string defined_name(const Declaration& declaration)
{
    return joined(declaration, "::", identifier);
}

std::string qualified(const Declaration& declaration) { return "::" + defined_name(declaration); }

std::string flat_name(const Declaration& declaration)
{
    return joined(declaration, "_", as_written);
}

std::string prefixed_identifier(std::string_view prefix, const Declaration& one)
{
    return one.parent == nullptr ? std::string(prefix) + one.name : identifier(one);
}

std::string prefixed_name(std::string_view prefix, const Declaration& declaration)
{
    const Declaration* outermost = &declaration;
    while (outermost->parent != nullptr)
        outermost = outermost->parent;
    const std::string name = defined_name(declaration);
    return std::string(prefix) + outermost->name + name.substr(identifier(*outermost).size());
}

std::string value_type(const Type& type)
{
    switch (type.kind) {
    case TypeKind::void_:
        return "void";
    case TypeKind::declared:
        return qualified(*type.declaration);
    case TypeKind::string:
        return "char*";
    case TypeKind::wstring:
        return "::CORBA::WChar*";
    case TypeKind::sequence:
        return sequence_base(type);
    case TypeKind::fixed:
        if (type.digits == 0) return "::CORBA::Fixed"; // of a constant
        return "::kairos::mapping::FixedPoint<" + std::to_string(type.digits) + ", " +
               std::to_string(type.scale) + ">";
    default:
        return "::CORBA::" + std::string(basic_type(type.kind).name);
    }
}

std::string dimensions_of(const Type& array, std::size_t first)
{
    std::string text;
    for (std::size_t i = first; i < array.dimensions.size(); ++i)
        text += "[" + std::to_string(array.dimensions[i]) + "]";
    return text;
}

Declarator storage_type(const Type& type)
{
    if (form_of(type) == Form::string) {
        const std::string member = std::string(is_wide(type) ? "W" : "") + "StringMember";
        const std::uint64_t bound = string_bound(type);
        return {"::kairos::mapping::" +
                (bound == 0 ? member : "Bounded" + member + "<" + std::to_string(bound) + ">")};
    }
    if (type.kind == TypeKind::array)
        return {storage_type(*type.element).type, dimensions_of(type)};
    const std::string_view storage = passing(type).storage;
    return {fill(storage.empty() ? "$B" : storage, {type})};
}

std::string sequence_template(const Type& sequence)
{
    const std::string_view wide = is_wide(*sequence.element) ? "W" : "";
    std::string name = sequence.bound != 0 ? "Bounded" : "Unbounded";
    return name.append(wide).append(passing(*sequence.element).element).append("Sequence");
}

std::string sequence_base(const Type& sequence)
{
    const Type& element = *sequence.element;
    const bool of_texts = form_of(element) == Form::string;
    std::vector<std::string> arguments;
    if (!of_texts) arguments.push_back(fill(has_traits(form_of(element)) ? "$R" : "$B", {element}));
    if (sequence.bound != 0) arguments.push_back(std::to_string(sequence.bound));
    if (of_texts) arguments.push_back(std::to_string(string_bound(element)));
    return "::kairos::mapping::" + sequence_template(sequence) + "<" + listed(arguments) + ">";
}

bool is_wide(const Type& type) { return resolved(type).kind == TypeKind::wstring; }

std::uint64_t string_bound(const Type& type)
{
    const Type& actual = resolved(type);
    return form_of(actual) == Form::string ? actual.bound : 0;
}

std::string string_class(const Type& type)
{
    return is_wide(type) ? "::CORBA::WString" : "::CORBA::String";
}

std::string bound_argument(const Type& type)
{
    const std::uint64_t bound = string_bound(type);
    return bound == 0 ? "" : ", " + std::to_string(bound);
}

std::string parameter_type(const Type& type, Direction direction)
{
    const Passing& row = passing(type);
    return fill(direction == Direction::in    ? row.in
                : direction == Direction::out ? row.out
                                              : row.inout,
                {type});
}

std::string result_type(const Type& type) { return fill(passing(type).result, {type}); }

std::string string_literal(std::string_view text)
{
    std::string literal = "\"";
    for (const char character : text)
        literal += escaped(static_cast<unsigned char>(character));
    return literal + "\"";
}

std::string literal(const Value& value, const Type& type)
{
    if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
    if (const auto* character = std::get_if<char>(&value))
        return "'" + escaped(static_cast<unsigned char>(*character)) + "'";
    if (const auto* wide = std::get_if<char32_t>(&value)) return "L'" + escaped_wide(*wide) + "'";
    if (const auto* number = std::get_if<std::int64_t>(&value)) return signed_literal(*number);
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return unsigned_literal(*number);
    if (const auto* number = std::get_if<long double>(&value))
        return floating_literal(*number, resolved(type).kind);
    if (const auto* text = std::get_if<std::string>(&value)) return string_literal(*text);
    if (const auto* text = std::get_if<std::u32string>(&value)) {
        std::string literal = "L\"";
        for (const char32_t character : *text)
            literal += escaped_wide(character) + (character < 0x80 ? "" : "\" L\"");
        return literal + "\"";
    }
    if (const auto* const* enumerator = std::get_if<const Enumerator*>(&value))
        return qualified(**enumerator);
    if (const auto* decimal = std::get_if<FixedValue>(&value)) return string_literal(decimal->text);
    return "";
}

} // namespace kairos::idlc
