#include "modewise/text/canonical_form.h"

#include <gtest/gtest.h>

namespace modewise::text {
namespace {

TEST(CanonicalForm, DecomposesCharactersAndSortsTheirMarks) {
  EXPECT_EQ(canonical_form("caf\u00E9"), "cafe\u0301");
  EXPECT_EQ(canonical_form("cafe\u0301"), "cafe\u0301");
  EXPECT_EQ(canonical_form("\u1E69"), "s\u0323\u0307");  // in two steps
  EXPECT_EQ(canonical_form("s\u0307\u0323"), "s\u0323\u0307");
  EXPECT_EQ(canonical_form("\uD55C\uAC00"), "\u1112\u1161\u11AB\u1100\u1161");
  EXPECT_EQ(canonical_form("\u212B"), "A\u030A");  // the sign of the ångström
  EXPECT_EQ(canonical_form("\uFB01"), "\uFB01") << "no compatibility decomposition";
}

TEST(CanonicalForm, KeepsOtherBytes) {
  EXPECT_EQ(canonical_form(""), "");
  EXPECT_EQ(canonical_form("a\xFF\u00E9\xC3"),
            "a\xFF"
            "e\u0301\xC3");
  EXPECT_EQ(canonical_form("\u0301"), "\u0301");
}

}  // namespace
}  // namespace modewise::text
