// SPDX-License-Identifier: Apache-2.0
#include "idlc/cpp/forms.h"

#include "idlc/cpp/cpp_names.h"

#include <algorithm>
#include <array>

namespace kairos::idlc {
namespace {

constexpr std::string_view decode = "::kairos::mapping::decode($V, $N);";
constexpr std::string_view encode = "::kairos::mapping::encode($V, $N);";

constexpr Passing basic{.in = "$B",
                        .inout = "$B&",
                        .out = "$B_out",
                        .result = "$B",
                        .owner = "$B",
                        .receive = "$B $N{};\n::kairos::mapping::decode($V, $N);",
                        .held = "$N",
                        .decode = decode,
                        .encode = encode,
                        .encode_result = encode,
                        .duplicate = "$N",
                        .described = "$B",
                        .suffixes = {"_out"}};

constexpr Passing string{
    .kept = Kept::shared,
    .in = "const $R",
    .inout = "$R&",
    .out = "$S_out",
    .result = "$R",
    .owner = "$S_var",
    .read = ".in()",
    .give = "._retn()",
    .receive = "$S_var $N;\n::kairos::mapping::decode_string($V, $N$L);",
    .held = "$N.in()",
    .encode = "::kairos::mapping::encode_string($V, $N$L);",
    .encode_result = "::kairos::mapping::encode_string($V, $N$L);",
    .require = "::kairos::corba::require_text($N);",
    .release = "::CORBA::$Wstring_free($N);",
    .duplicate = "$N",
    .described = "::kairos::types::TextParameter<$C, $D>",
    .element = "String",
    .suffixes = {"_var", "_out"},
};

constexpr Passing object{
    .kept = Kept::shared,
    .in = "$B_ptr",
    .inout = "$B_ptr&",
    .out = "$B_out",
    .result = "$B_ptr",
    .owner = "$B_var",
    .read = ".in()",
    .give = "._retn()",
    .receive = "$B_var $N = ::kairos::corba::decode_reference<$R>($V);",
    .held = "$N.in()",
    .encode = "::kairos::mapping::encode_object($V, $N);",
    .encode_result = "::kairos::mapping::encode_object($V, $N);",
    .release = "$T::release($N);",
    .duplicate = "$T::duplicate($N)",
    .described = "::kairos::mapping::ObjectVar<$R>",
    .storage = "::kairos::mapping::ObjectMember<$R>",
    .traits = "::kairos::mapping::ObjectTraits<$R>",
    .typedefs = "typedef $N* $N_ptr;\n"
                "typedef ::kairos::mapping::ObjectVar<$N> $N_var;\n"
                "typedef ::kairos::mapping::ObjectOut<$N> $N_out;",
    .element = "Object",
    .suffixes = {"_ptr", "_var", "_out"},
};

/// What differs in a row that is otherwise another's.
constexpr Passing like(Passing row, auto change)
{
    change(row);
    return row;
}

constexpr Passing abstract_object = like(object, [](Passing& row) {
    row.receive = "$B_var $N = $T::decode($V);";
    row.encode = row.encode_result = "$T::encode($V, $N);";
    row.storage = "::kairos::corba::AbstractVar<$R>";
    row.traits = "::kairos::corba::AbstractTraits<$R>";
    row.typedefs = "typedef $N* $N_ptr;\n"
                   "typedef ::kairos::corba::AbstractVar<$N> $N_var;\n"
                   "typedef ::kairos::corba::AbstractOut<$N> $N_out;";
    row.element = "Abstract";
});

constexpr Passing counted_value = like(abstract_object, [](Passing& row) {
    row.in = row.result = "$B*";
    row.inout = "$B*&";
    row.storage = "::kairos::values::Var<$R>";
    row.traits = "::kairos::values::ValueTraits<$R>";
    row.typedefs = "typedef ::kairos::values::Var<$N> $N_var;\n"
                   "typedef ::kairos::values::Out<$N> $N_out;";
    row.element = "Value";
    row.suffixes = {"_var", "_out"};
});

constexpr Passing fixed_struct = like(basic, [](Passing& row) {
    row.in = "const $B&";
    row.change = "$B&";
    row.typedefs = "typedef ::kairos::mapping::FixedVar<$N> $N_var;\ntypedef $N& $N_out;";
    row.suffixes = {"_var", "_out"};
});

constexpr Passing variable_struct = like(fixed_struct, [](Passing& row) {
    row.kept = Kept::by_pointer;
    row.result = "$B*";
    row.owner = "$B_var";
    row.read = ".ptr()";
    row.give = "._retn()";
    row.receive = "$B_var $N = new $B();\n::kairos::mapping::decode($V, $N.inout());";
    row.held = "$N.inout()";
    row.require = "::kairos::corba::require_result($N);";
    row.encode_result = "::kairos::mapping::encode_result($V, $N);";
    row.typedefs = "typedef ::kairos::mapping::VariableVar<$N> $N_var;\n"
                   "typedef ::kairos::mapping::VariableOut<$N> $N_out;";
});

constexpr Passing variable_array = like(variable_struct, [](Passing& row) {
    row.in = "const $B";
    row.inout = "$B";
    row.result = row.change = "$B_slice*";
    row.receive = "$B_var $N = $B_alloc();\n"
                  "::kairos::mapping::decode($V, ::kairos::mapping::as_array<$B>($N.inout()));";
    row.held = "::kairos::mapping::as_array<$B>($N.inout())";
    row.decode = "::kairos::mapping::decode($V, ::kairos::mapping::as_array<$B>($N));";
    row.encode = "::kairos::mapping::encode($V, ::kairos::mapping::as_array<$B>($N));";
    row.encode_result = "::kairos::mapping::encode_array_result<$B>($V, $N);";
    row.suffixes = {"_slice", "_forany", "_var", "_out"};
});

constexpr Passing fixed_array =
    like(variable_array, [](Passing& row) { row.kept = Kept::in_place; });

// Of local interfaces only: nothing of it travels.
constexpr Passing native{.in = "$B", .inout = "$B&", .out = "$B&", .result = "$B", .owner = "$B"};

/// By Form.
constexpr std::array<Passing, form_count> table{
    Passing{.result = "$B"}, basic,           string,      object,         fixed_struct,
    variable_struct,         variable_struct, fixed_array, variable_array, counted_value,
    abstract_object,         native};

std::string word(char letter, const Words& words)
{
    switch (letter) {
    case 'B':
        return words.base.empty() ? value_type(words.type) : words.base;
    case 'R':
        return value_type(resolved(words.type));
    case 'S':
        return string_class(words.type);
    case 'T':
        return fill(passing(words.type).traits, words);
    case 'W':
        return is_wide(words.type) ? "w" : "";
    case 'C':
        return is_wide(words.type) ? "wchar_t" : "char";
    case 'D':
        return std::to_string(string_bound(words.type));
    case 'L':
        return bound_argument(words.type);
    case 'N':
        return words.name;
    default:
        return words.stream;
    }
}

} // namespace

const Passing& passing(Form form) { return table[static_cast<std::size_t>(form)]; }

std::string fill(std::string_view pattern, const Words& words)
{
    std::string text;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '$')
            text += word(pattern[++i], words);
        else
            text += pattern[i];
    }
    return text;
}

bool is_decoded_in_place(const Parameter& parameter)
{
    const Kept kept = passing(*parameter.type).kept;
    return kept == Kept::in_place ||
           (kept == Kept::by_pointer && parameter.direction == Direction::inout);
}

Form form_of(const Declaration& declaration)
{
    const auto* alias = as<Alias>(&declaration);
    const Type own{.kind = TypeKind::declared, .declaration = &declaration};
    return form_of(alias != nullptr ? *alias->type : own);
}

Form form_of(const Type& type)
{
    const Type& actual = resolved(type);
    switch (actual.kind) {
    case TypeKind::void_:
        return Form::void_;
    case TypeKind::string:
    case TypeKind::wstring:
        return Form::string;
    case TypeKind::object:
    case TypeKind::type_code: // in all its roles as an object reference
        return Form::object;
    case TypeKind::value_base:
        return Form::value;
    case TypeKind::sequence:
        return Form::sequence;
    case TypeKind::array:
        return is_variable_length(actual) ? Form::variable_array : Form::fixed_array;
    case TypeKind::any:
        return Form::variable_struct;
    case TypeKind::fixed:
        return Form::fixed_struct; // passed like one
    case TypeKind::declared:
        break;
    default:
        return Form::basic;
    }
    if (const auto* interface = as<Interface>(actual.declaration))
        return interface->is_abstract ? Form::abstract_object : Form::object;
    if (as<ValueType>(actual.declaration) != nullptr) return Form::value;
    if (as<ValueBox>(actual.declaration) != nullptr) return Form::value;
    if (as<Enum>(actual.declaration) != nullptr) return Form::basic;
    if (is_pseudo_object(actual)) return Form::object;
    if (as<Native>(actual.declaration) != nullptr) return Form::native;
    return is_variable_length(actual) ? Form::variable_struct : Form::fixed_struct;
}

} // namespace kairos::idlc
