// References to documents and to places in them: how one is resolved against the URI around it (RFC 3986, section 5.2).
//
// URIs are texts without a fragment here. One that is absolute stays as it is written, so that whoever is asked for the
// document sees what the schema says. Nothing is checked: what is no URI names no document.
//
// Threads: functions of their arguments.
#pragma once

#include <string>
#include <string_view>

namespace cfgmask::uri_reference {

struct Parts {
  std::string_view document;  // a relative or absolute URI; none: the document around
  std::string_view fragment;  // percent-encoded, without its mark
};

Parts split(std::string_view reference);

// The URI of the document that a reference without fragment means in one with the URI `base`, which may be relative or
// empty itself. Linear.
std::string resolved(std::string_view base, std::string_view document);

// Without percent-encoding. What looks like an escape and is none stays.
std::string decoded(std::string_view text);

}  // namespace cfgmask::uri_reference
