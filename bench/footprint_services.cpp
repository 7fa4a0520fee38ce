// SPDX-License-Identifier: Apache-2.0
//
// Part of the footprint experiment: the OMG's services, whose IDL Debian's omniorb-idl has.
#include "bench/footprint.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

using std::filesystem::path;

/// The paper's table XVIII. Debian's omniorb-idl has the OMG's IDL of most of them.
struct Service {
    const char* name;
    std::vector<const char*> files;
};

const std::array<Service, 8>& services()
{
    static const std::array<Service, 8> all{{
        {"Trading", {"CosTrading.idl"}},
        {"A/V Streams", {"AVStreams.idl"}},
        {"Property", {"CosPropertyService.idl"}},
        {"Events", {"CosEventComm.idl", "CosEventChannelAdmin.idl"}},
        {"Naming", {"CosNaming.idl"}},
        {"Scheduling", {"RtecScheduler.idl"}},
        {"Logging", {"Logger.idl"}},
        {"LifeCycle", {"CosLifeCycle.idl"}},
    }};
    return all;
}

constexpr const char* idl_folder = "/usr/share/idl/omniORB";

Row row_of(const Service& service, const CodeVariant& variant)
{
    Row row;
    row.system = variant.system();
    row.variant = variant.description();
    row.payload_type = service.name;
    row.side = "service";
    return row;
}

/// The sum over the service's files, or why there is none.
Row measured(const Service& service, const CodeVariant& variant, const Toolchain& tools,
             const path& work)
{
    Row row = row_of(service, variant);
    const std::vector<path> folders{path(idl_folder) / "COS", idl_folder};
    LinkedSize sum;
    for (const char* file : service.files) {
        const path idl = folders[0] / file;
        if (!std::filesystem::exists(idl)) {
            row.status = "IDL not installed";
            return row;
        }
        const auto objects = generate_objects(tools, work, idl, folders, variant);
        if (!objects) {
            // omniORB's own header declares CosNaming, which is in its library.
            const std::string& reason = objects.error().reason;
            row.status = reason.find("redefinition") == std::string::npos ? reason.substr(0, 120)
                                                                          : "in the library";
            return row;
        }
        const LinkedSize size = linked_size(*objects);
        sum.code += size.code;
        sum.constants += size.constants;
        sum.unwind += size.unwind;
    }
    row.set("code_bytes", static_cast<double>(sum.code));
    row.set("table_bytes", static_cast<double>(sum.constants));
    row.set("total_bytes", static_cast<double>(sum.total()));
    row.set("unwind_bytes", static_cast<double>(sum.unwind));
    return row;
}

} // namespace

Result<void> add_services(Report& report, const FootprintOptions& options, const Toolchain& tools,
                          const path& work)
{
    double done = 0;
    for (const Service& service : services()) {
        options.progress(0.3 + 0.5 * done++ / static_cast<double>(services().size()), service.name);
        for (const std::string& level : options.levels) {
            // Their IDL passes Any around, so both generate what it takes.
            std::vector<Row> rows{
                measured(service, {CodeKind::compiled, true, level}, tools, work),
                measured(service, {CodeKind::interpretive, true, level}, tools, work)};
            if (!tools.omniidl.empty())
                rows.push_back(measured(service, {CodeKind::omniorb, true, level}, tools, work));
            for (Row& row : rows) {
                const auto mine = row.figure("total_bytes");
                for (const auto& [other, figure] : {std::pair{&rows.front(), "ratio_to_compiled"},
                                                    std::pair{&rows.back(), "ratio_to_omniorb"}}) {
                    const auto total = other->figure("total_bytes");
                    const bool is_omniorb = other->system == "omniorb";
                    const bool meant =
                        (figure == std::string_view("ratio_to_omniorb")) == is_omniorb;
                    if (mine && total && other != &row && meant && row.system == "kairos")
                        row.set(figure, *mine / *total);
                }
            }
            // One row is enough for what is not there at all.
            if (rows.front().status == "IDL not installed") rows.resize(1);
            report.rows.insert(report.rows.end(), rows.begin(), rows.end());
            if (rows.front().status == "IDL not installed") break;
        }
    }
    return {};
}

} // namespace kairos::bench
