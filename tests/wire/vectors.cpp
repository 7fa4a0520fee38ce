// SPDX-License-Identifier: Apache-2.0
#include "vectors.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace kairos::test {

namespace {

Vector parse_title(const std::string& line)
{
    Vector vector;
    vector.title = line.substr(1, line.find(']') - 1);
    std::istringstream words(vector.title);
    std::string version, order;
    words >> vector.name >> version >> order >> vector.source;
    const bool valid = version.size() == 3 && version.starts_with("1.") && version[2] >= '0' &&
                       version[2] <= '2' && (order == "le" || order == "be");
    if (!valid) throw std::runtime_error("vector title: " + line);
    vector.minor = version[2] - '0';
    vector.little_endian = order == "le";
    return vector;
}

void append_octets(const std::string& line, std::vector<std::byte>& bytes)
{
    std::istringstream words(line.substr(0, line.find(';')));
    for (std::string word; words >> word;) {
        std::size_t read = 0;
        const unsigned long octet = std::stoul(word, &read, 16);
        if (word.size() != 2 || read != 2) throw std::runtime_error("vector octet: " + line);
        bytes.push_back(static_cast<std::byte>(octet));
    }
}

} // namespace

std::vector<Vector> load_vectors(const std::string& file)
{
    std::ifstream input(std::string(KAIROS_WIRE_VECTORS) + "/" + file);
    if (!input) throw std::runtime_error("no vectors in " + file);
    std::vector<Vector> vectors;
    for (std::string line; std::getline(input, line);) {
        if (line.empty() || line[0] == '#') continue;
        if (line[0] == '[')
            vectors.push_back(parse_title(line));
        else if (!vectors.empty())
            append_octets(line, vectors.back().bytes);
        else
            throw std::runtime_error("octets before a title in " + file);
    }
    return vectors;
}

} // namespace kairos::test
