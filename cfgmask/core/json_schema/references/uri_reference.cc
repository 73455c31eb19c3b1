#include "json_schema/references/uri_reference.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

namespace cfgmask::uri_reference {

namespace {

bool is_letter(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); }

// How much of a URI is its scheme with the colon; 0 without one.
size_t scheme_size(std::string_view uri) {
  if (uri.empty() || !is_letter(uri[0])) return 0;
  const auto end = std::find_if(uri.begin(), uri.end(), [](char c) {
    return !is_letter(c) && !('0' <= c && c <= '9') && c != '+' && c != '-' && c != '.';
  });
  return end != uri.end() && *end == ':' ? static_cast<size_t>(end - uri.begin()) + 1 : 0;
}

// How much of a URI comes before its path.
size_t path_begin(std::string_view uri) {
  const size_t scheme = scheme_size(uri);
  if (!uri.substr(scheme).starts_with("//")) return scheme;
  return std::min(uri.find_first_of("/?", scheme + 2), uri.size());
}

// A path without steps to the same and to the outer folder.
std::string without_dots(std::string_view path) {
  const bool is_absolute = path.starts_with('/');
  std::vector<std::string_view> kept;
  for (size_t at = is_absolute ? 1 : 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (segment != ".") {
      kept.push_back(segment);
    }
    // A folder stays one.
    if (end == path.size() && (segment == ".." || segment == ".")) kept.push_back({});
    at = end + 1;
  }
  std::string found(is_absolute ? "/" : "");
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i > 0) found += '/';
    found += kept[i];
  }
  return found;
}

}  // namespace

Parts split(std::string_view reference) {
  const size_t mark = std::min(reference.find('#'), reference.size());
  return {reference.substr(0, mark), reference.substr(std::min(mark + 1, reference.size()))};
}

std::string resolved(std::string_view base, std::string_view document) {
  if (document.empty()) return std::string(base);
  if (base.empty() || scheme_size(document) > 0) return std::string(document);
  if (document.starts_with("//")) return std::string(base.substr(0, scheme_size(base))).append(document);
  const size_t begin = path_begin(base);
  const size_t end = std::min(base.find('?', begin), base.size());
  std::string found(base.substr(0, begin));
  const std::string_view base_path = base.substr(begin, end - begin);
  const size_t query = std::min(document.find('?'), document.size());
  if (query == 0) {
    found += base_path;
  } else if (document[0] == '/') {
    found += without_dots(document.substr(0, query));
  } else {
    const bool has_authority = begin > scheme_size(base);
    std::string path(base_path.empty() && has_authority ? "/" : base_path.substr(0, base_path.rfind('/') + 1));
    found += without_dots(path.append(document.substr(0, query)));
  }
  return found.append(document.substr(query));
}

std::string decoded(std::string_view text) {
  std::string out;
  while (true) {
    const size_t mark = std::min(text.find('%'), text.size());
    out += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) return out;
    uint8_t byte = 0;
    const char* const digits = text.data() + 1;
    if (text.size() > 2 && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      text.remove_prefix(3);
    } else {
      out += '%';
      text.remove_prefix(1);
    }
  }
}

}  // namespace cfgmask::uri_reference
