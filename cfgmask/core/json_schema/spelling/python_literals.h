// Literals of Python as models write them in arguments of tools: a string in double quotes with the escapes that JSON
// needs, or in single quotes without any; words of either language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "regex/regex.h"

namespace cfgmask {

// null, true or false as JSON or as Python writes it.
RegexId python_words(std::string_view word, RegexStore& r);
// The strings that say a text of `texts`, or one of a list.
RegexId python_strings(RegexId texts, RegexStore& r);
RegexId python_strings(const std::vector<std::string>& listed, RegexStore& r);

// Whether a name can be a key: without quotes, backslashes and control characters, and not empty.
bool is_python_key(std::string_view name);
RegexId python_key(std::string_view name, RegexStore& r);
// The keys among `texts`, in single quotes.
RegexId python_keys(RegexId texts, RegexStore& r);

}  // namespace cfgmask
