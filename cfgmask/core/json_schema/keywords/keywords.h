// The keywords that a schema may have.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace cfgmask {

enum Keyword : uint8_t {
  kOther,  // not for a schema
  kType,
  kEnum,
  kConst,
  kReference,
  kDynamicReference,
  kRecursiveReference,
  kAnyOf,
  kOneOf,
  kAllOf,
  kNot,
  kIf,
  kThen,
  kElse,
  kDependentRequired,
  kDependentSchemas,
  kDependencies,
  kProperties,
  kPatternProperties,
  kRequired,
  kAdditionalProperties,
  kUnevaluatedProperties,
  kMinProperties,
  kMaxProperties,
  kPropertyNames,
  kItems,
  kPrefixItems,
  kAdditionalItems,
  kUnevaluatedItems,
  kMinItems,
  kMaxItems,
  kContains,
  kMinContains,
  kMaxContains,
  kUniqueItems,
  kMinimum,
  kMaximum,
  kExclusiveMinimum,
  kExclusiveMaximum,
  kMultipleOf,
  kMinLength,
  kMaxLength,
  kPattern,
  kFormat,
  kIdentifier,
  kDialect,
  kNumKeywords,
};
inline constexpr std::array<std::string_view, kIdentifier> kKeywordNames = {
    "",
    "type",
    "enum",
    "const",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "properties",
    "patternProperties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "minItems",
    "maxItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
};

// Keywords that hold schemas by name, in an object that is no schema itself.
inline constexpr std::array<std::string_view, 6> kSchemaMaps = {
    "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"};

// Keywords that hold a list of schemas, and that hold one.
inline constexpr std::array<std::string_view, 5> kSchemaLists = {"allOf", "anyOf", "oneOf", "prefixItems", "items"};
inline constexpr std::array<std::string_view, 11> kSingleSchemas = {"not",
                                                                    "if",
                                                                    "then",
                                                                    "else",
                                                                    "items",
                                                                    "additionalItems",
                                                                    "contains",
                                                                    "propertyNames",
                                                                    "additionalProperties",
                                                                    "unevaluatedItems",
                                                                    "unevaluatedProperties"};

// Keywords whose schemas apply to the same value as the schema they stand in.
inline constexpr std::array kApplicators = {
    kReference, kDynamicReference,  kRecursiveReference, kAnyOf,       kOneOf, kAllOf, kNot, kIf, kThen,
    kElse,      kDependentRequired, kDependentSchemas,   kDependencies};
inline constexpr std::array kReferences = {kReference, kDynamicReference, kRecursiveReference};

inline uint8_t code_of(std::string_view keyword) {
  const auto at = std::find(kKeywordNames.begin() + 1, kKeywordNames.end(), keyword);
  return at == kKeywordNames.end() ? uint8_t{kOther} : static_cast<uint8_t>(at - kKeywordNames.begin());
}

}  // namespace cfgmask
