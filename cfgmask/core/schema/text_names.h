// Texts of a schema as JSON writes them, and what messages show of them.
#pragma once

#include <string>
#include <string_view>

namespace cfgmask {

// What messages show of a terminal.
std::string shortened(std::string name);
// A string as JSON writes it, with no more escapes than it needs.
std::string shown(std::string_view text);
// A text in quotes, as it is.
std::string quoted(std::string_view text);
// Whether a text may be written with escapes where printable characters stand as themselves alone.
bool has_escapes(std::string_view text);

}  // namespace cfgmask
