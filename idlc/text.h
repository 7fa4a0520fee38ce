// SPDX-License-Identifier: Apache-2.0
//
// Generated text as it grows: lines with indentation. For back ends that write source code, one
// object per file.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::idlc {

/// What the function says of each element, with ", " between.
template <typename List, typename Function>
[[nodiscard]] std::string listed(const List& elements, const Function& function)
{
    std::string text;
    for (const auto& element : elements)
        text.append(text.empty() ? "" : ", ").append(function(element));
    return text;
}

[[nodiscard]] inline std::string listed(const std::vector<std::string>& texts)
{
    return listed(texts, [](const std::string& text) { return text; });
}

class Text {
    /// A letter, or the word that stands for the one before.
    struct Word {
        Word(char which) : letter(which) {}
        template <std::convertible_to<std::string_view> T>
        Word(const T& word) : text(word)
        {
        }
        char letter = '\0';
        std::string_view text{};
    };

  public:
    template <typename... Parts>
    void line(const Parts&... parts)
    {
        text_.append(4 * depth_, ' ');
        (text_.append(parts), ...);
        text_ += '\n';
        blank_ = false;
    }
    /// Each line of the text as a line of its own.
    void lines(std::string_view text)
    {
        for (std::size_t end = 0; end != text.npos; text.remove_prefix(end + 1)) {
            end = text.find('\n');
            line(text.substr(0, end));
            if (end == text.npos) return;
        }
    }
    /// What stands for letters in a pattern: {'N', name, 'T', type}.
    using Words = std::initializer_list<Word>;
    /// The lines of the pattern with words in the places of "$N" and the like, indented as they are
    /// there and deeper by what is open. A brace at the end of a line stays open where the pattern
    /// does not close it. A line of nothing but empty words is none.
    void put(Words words, std::string_view pattern);
    void put(std::string_view pattern) { put({}, pattern); }
    /// A line after which the text is indented until close().
    template <typename... Parts>
    void open(const Parts&... parts)
    {
        line(parts...);
        ++depth_;
        blank_ = true; // no empty line at the start of a block
    }
    void close(std::string_view end = "}")
    {
        --depth_;
        end_block();
        line(end);
    }
    /// "public:", two columns to the left.
    void label(std::string_view text)
    {
        text_.append(4 * depth_ - 2, ' ').append(text) += '\n';
        blank_ = true;
    }
    /// An empty line, but never two.
    void blank()
    {
        if (!blank_) text_ += '\n';
        blank_ = true;
    }
    /// The lines of another text, as they are.
    void append(const Text& lines)
    {
        text_ += lines.text_;
        blank_ = lines.blank_;
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// The whole text, without empty lines at its end.
    [[nodiscard]] std::string finished() const
    {
        const std::size_t end = text_.find_last_not_of('\n');
        return end == std::string::npos ? "" : text_.substr(0, end + 1) + "\n";
    }

  private:
    void put_line(Words words, std::string_view line, std::size_t& opened);
    /// No empty line at the end of a block.
    void end_block()
    {
        if (text_.ends_with("\n\n")) text_.pop_back();
    }

    std::string text_;
    std::size_t depth_ = 0;
    bool blank_ = true;
};

} // namespace kairos::idlc
