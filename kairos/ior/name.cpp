// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/name.h"

#include "kairos/ior/object_url.h"

namespace kairos::ior {
namespace {

constexpr std::string_view special = "/.\\";

Error invalid_name(std::size_t position, const std::string& reason)
{
    return {ErrorCode::invalid_argument,
            "name: " + reason + " at character " + std::to_string(position + 1)};
}

void append_escaped_field(std::string& text, std::string_view field)
{
    for (const char c : field) {
        if (special.find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
}

void append(std::string& text, const NameComponent& component)
{
    append_escaped_field(text, component.id);
    // A '.' that separates nothing is how the component without id and kind is written.
    if (component.kind.empty() && !component.id.empty()) return;
    text += '.';
    append_escaped_field(text, component.kind);
}

/// Reads one name from its beginning to its end.
class NameParser {
  public:
    explicit NameParser(std::string_view text) : text_(text) {}

    [[nodiscard]] Result<Name> parse()
    {
        if (text_.empty()) return Error{ErrorCode::invalid_argument, "name is empty"};
        Name name;
        for (;;) {
            auto component = parse_component();
            if (!component) return component.error();
            name.push_back(std::move(component).value());
            if (at_ == text_.size()) return name;
            ++at_; // the '/'
        }
    }

  private:
    /// Up to the end or a '/'.
    [[nodiscard]] Result<NameComponent> parse_component()
    {
        NameComponent component;
        const std::size_t begin = at_;
        auto id = parse_field();
        if (!id) return id.error();
        component.id = std::move(id).value();
        if (at_ == text_.size() || text_[at_] == '/') {
            if (at_ == begin) return invalid_name(begin, "component is empty");
            return component;
        }
        const std::size_t dot = at_++;
        auto kind = parse_field();
        if (!kind) return kind.error();
        component.kind = std::move(kind).value();
        if (at_ < text_.size() && text_[at_] == '.')
            return invalid_name(at_, "second '.' in a component: write '\\.'");
        // "id." would be a second way to write "id".
        if (component.kind.empty() && !component.id.empty())
            return invalid_name(dot, "nothing follows the '.'");
        return component;
    }

    /// Up to the end or one of the two separators.
    [[nodiscard]] Result<std::string> parse_field()
    {
        std::string field;
        for (; at_ < text_.size() && text_[at_] != '/' && text_[at_] != '.'; ++at_) {
            if (text_[at_] == '\0') return invalid_name(at_, "NUL");
            if (text_[at_] == '\\') {
                const std::size_t next = at_ + 1;
                if (next == text_.size() || special.find(text_[next]) == std::string_view::npos)
                    return invalid_name(at_,
                                        "backslash that is not before '/', '.' or another one");
                at_ = next;
            }
            field += text_[at_];
        }
        return field;
    }

    const std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace

Result<Name> parse_name(std::string_view text) { return NameParser(text).parse(); }

std::string to_string(const NameComponent& component)
{
    std::string text;
    append(text, component);
    return text;
}

std::string to_string(const Name& name)
{
    std::string text;
    for (const NameComponent& component : name) {
        if (&component != name.data()) text += '/';
        append(text, component);
    }
    return text;
}

Result<std::string> to_corbaname(std::string_view address, const Name& name)
{
    // The parser of URLs would take the one for the beginning of a name and ignore the others.
    if (address.find_first_of("# \t\r\n") != std::string_view::npos)
        return Error{ErrorCode::invalid_argument, "address has a '#' or a blank"};
    std::string url = "corbaname:";
    url += address;
    if (const auto parsed = parse_object_url(url); !parsed) return parsed.error();
    const std::string text = to_string(name);
    return text.empty() ? url : url + '#' + escape_key(as_bytes(text));
}

} // namespace kairos::ior
