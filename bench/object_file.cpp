// SPDX-License-Identifier: Apache-2.0
//
// The ELF reader; its bytes are a compiler's, and checked all the same.
#include "bench/object_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>

namespace kairos::bench {
namespace {

/// "f(int) [clone .cold]" and what the compiler made of parts of a function belong to it.
std::string demangled(const std::string& mangled)
{
    const std::size_t dot = mangled.find('.');
    const std::string plain = mangled.starts_with("_Z") ? mangled.substr(0, dot) : mangled;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && name ? std::string(name.get()) : plain;
}

/// The file's bytes as the structures of elf.h; nothing outside of it is ever looked at.
class Image {
  public:
    explicit Image(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

    template <typename T>
    [[nodiscard]] std::optional<T> at(std::uint64_t offset) const
    {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    [[nodiscard]] std::string text(const Elf64_Shdr& strings, std::uint64_t offset) const
    {
        std::string text;
        for (std::uint64_t i = offset; i < strings.sh_size; ++i) {
            const auto c = at<char>(strings.sh_offset + i);
            if (!c || *c == '\0') break;
            text += *c;
        }
        return text;
    }

  private:
    std::vector<char> bytes_;
};

struct Section {
    Elf64_Shdr header;
    std::string name;
    std::uint64_t named_bytes = 0; ///< that some symbol accounts for

    [[nodiscard]] bool loaded() const { return (header.sh_flags & SHF_ALLOC) != 0; }
    [[nodiscard]] bool code() const { return (header.sh_flags & SHF_EXECINSTR) != 0; }
    [[nodiscard]] bool unwinding() const
    {
        return name.starts_with(".eh_frame") || name.starts_with(".gcc_except_table");
    }
    [[nodiscard]] bool counted() const
    {
        return loaded() && !unwinding() && header.sh_type != SHT_NOBITS &&
               header.sh_type != SHT_NOTE && header.sh_type != SHT_GROUP;
    }
};

std::optional<std::vector<Section>> sections_of(const Image& image, const Elf64_Ehdr& header)
{
    std::vector<Section> sections;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const auto section =
            image.at<Elf64_Shdr>(header.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
        if (!section) return std::nullopt;
        sections.push_back({*section, {}});
    }
    if (header.e_shstrndx >= sections.size()) return std::nullopt;
    const Elf64_Shdr names = sections[header.e_shstrndx].header;
    for (Section& section : sections)
        section.name = image.text(names, section.header.sh_name);
    return sections;
}

void add_symbols(const Image& image, const Section& table, std::vector<Section>& sections,
                 ObjectFile& object)
{
    if (table.header.sh_link >= sections.size()) return;
    const Elf64_Shdr names = sections[table.header.sh_link].header;
    std::set<std::pair<unsigned, std::uint64_t>> seen; // constructors have two names, one code
    for (std::uint64_t i = 0; i < table.header.sh_size / sizeof(Elf64_Sym); ++i) {
        const auto symbol = image.at<Elf64_Sym>(table.header.sh_offset + i * sizeof(Elf64_Sym));
        if (!symbol) return;
        const unsigned type = ELF64_ST_TYPE(symbol->st_info);
        if (type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC) continue;
        if (symbol->st_shndx >= sections.size() || symbol->st_size == 0) continue;
        Section& section = sections[symbol->st_shndx];
        if (!section.counted()) continue;
        if (!seen.insert({symbol->st_shndx, symbol->st_value}).second) continue;
        section.named_bytes += symbol->st_size;
        object.symbols.push_back({demangled(image.text(names, symbol->st_name)), symbol->st_size,
                                  section.code(),
                                  ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
                                      ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL});
    }
}

} // namespace

Result<ObjectFile> read_object_file(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    const Image image(std::vector<char>(std::istreambuf_iterator<char>(file), {}));
    const auto header = image.at<Elf64_Ehdr>(0);
    const Error malformed{ErrorCode::malformed, path.string() + " is no ELF file of this machine"};
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return malformed;
    auto sections = sections_of(image, *header);
    if (!sections) return malformed;

    ObjectFile object;
    for (std::size_t i = 0; i < sections->size(); ++i)
        if ((*sections)[i].header.sh_type == SHT_SYMTAB)
            add_symbols(image, (*sections)[i], *sections, object);
    for (const Section& section : *sections) {
        if (section.loaded() && section.unwinding()) object.unwind_bytes += section.header.sh_size;
        if (!section.counted() || section.header.sh_size <= section.named_bytes) continue;
        // Literals, and what aligns functions.
        object.symbols.push_back(
            {{}, section.header.sh_size - section.named_bytes, section.code(), false});
    }
    return object;
}

} // namespace kairos::bench
