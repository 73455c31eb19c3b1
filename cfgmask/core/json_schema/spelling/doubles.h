// Numbers as most programs hold them: doubles. A decimal is read as the double next to it; a double stands here for the
// shortest decimal that is read as it, which is what programs print. The same as cfgmask/json_schema/doubles.py.
//
// Threads: functions of their arguments.
#pragma once

#include <optional>

#include "json_schema/document/decimal.h"

namespace cfgmask::doubles {

Decimal greatest();
// The least above zero.
Decimal least();
// Whether the number is what a double is printed as.
bool is_printed(const Decimal& number);
// The least double that is greater than the one that a number is read as, and the greatest that is less; nullopt where
// there is none.
std::optional<Decimal> after(const Decimal& number);
std::optional<Decimal> before(const Decimal& number);

}  // namespace cfgmask::doubles
