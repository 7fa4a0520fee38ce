// SPDX-License-Identifier: Apache-2.0
//
// Loading and indexing of source texts.
#include "idlc/source.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace kairos::idlc {

SourceText::SourceText(std::string text) : text_(std::move(text))
{
    starts_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i)
        if (text_[i] == '\n' && i + 1 < text_.size()) starts_.push_back(i + 1);
}

std::string_view SourceText::line(std::size_t number) const noexcept
{
    if (number == 0 || number > starts_.size()) return {};
    const std::size_t begin = starts_[number - 1];
    const std::size_t end = number < starts_.size() ? starts_[number] : text_.size();
    std::string_view line(text_.data() + begin, end - begin);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
        line.remove_suffix(1);
    return line;
}

void SourceTexts::give(const std::string& path, std::string text)
{
    disk_ = false;
    texts_[path] = std::make_unique<SourceText>(std::move(text));
}

const SourceText* SourceTexts::find(const std::string& path)
{
    if (const auto found = texts_.find(path); found != texts_.end()) return found->second.get();
    if (!disk_) return nullptr;
    std::unique_ptr<SourceText> text;
    std::error_code ignored;
    const bool directory = std::filesystem::is_directory(path, ignored); // opening it would work
    if (std::ifstream file(path, std::ios::binary); file && !directory)
        text = std::make_unique<SourceText>(std::string(std::istreambuf_iterator<char>(file), {}));
    return (texts_[path] = std::move(text)).get();
}

} // namespace kairos::idlc
