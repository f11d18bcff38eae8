#include "modewise/analysis/decomposition_study.h"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "modewise/analysis/canonical_decomposition.h"
#include "modewise/core/error.h"
#include "tests/analysis/matrices.h"
#include "tests/error_of.h"

namespace modewise::analysis {
namespace {

using testing::ElementsAre;

TEST(RanksUpTo, GrowByEighthsAndEndAtTheLargest) {
  EXPECT_THAT(ranks_up_to(1), ElementsAre(1));
  EXPECT_THAT(ranks_up_to(5), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(ranks_up_to(20), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20));
}

TEST(MergedModes, AreAsEvenAsCanBe) {
  EXPECT_THAT(merged_modes({8, 8, 8}, 2), ElementsAre(8, 64));
  EXPECT_THAT(merged_modes({2, 3, 4, 5}, 2), ElementsAre(6, 20));
  EXPECT_THAT(merged_modes({2, 3, 4, 5}, 3), ElementsAre(6, 4, 5));
  EXPECT_THAT(merged_modes({2, 3, 4, 5}, 4), ElementsAre(2, 3, 4, 5));
}

TEST(DecompositionStudy, OfOneKroneckerProduct) {
  const at::Tensor matrix = explicit_product(
      {random_attention({3, 3}, 1, 2), random_attention({4, 4}, 2, 2), random_attention({2, 2}, 3, 2)});
  StudyOptions options;
  options.rank = 3;
  options.spaces = {{4, 6}};
  const DecompositionStudy study = study_decomposition(matrix, {3, 4, 2}, options);
  EXPECT_LT(study.kronecker.front().error, 1e-12);
  EXPECT_EQ(study.kronecker.front().parameters, 9 + 16 + 4);
  EXPECT_LT(study.tucker.front().error, 1e-7);
  EXPECT_LT(study.train.front().error, 1e-12);
  EXPECT_GT(study.vector.front().error, 1e-2);  // a product of full matrices has full rank
  ASSERT_EQ(study.spectra.size(), 4u);
  EXPECT_EQ(study.spectra[0].values.size(), 24u);
  EXPECT_EQ(study.spectra[0].term_parameters, 48);
  EXPECT_EQ(study.spectra[1].name, "3 × 8");
  EXPECT_NEAR(study.spectra[1].information[0], 1, 1e-12);
  EXPECT_EQ(study.spectra[1].term_parameters, 9 + 64);
  EXPECT_NEAR(study.spectra[2].information[0], 1, 1e-12);
  EXPECT_LT(study.spectra[3].information[0], 1 - 1e-4);  // 4 × 6 cuts across the modes
  EXPECT_EQ(study_figures(study).size(), 4u);
  const auto json = study_json(study);
  EXPECT_EQ(json["exact_rank"], 36);
  EXPECT_EQ(json["spectra"][2]["order"], 3);
  EXPECT_GT(study_lines(study).rows(), 24u);
}

TEST(StudySpectra, AreThoseOfTheStudyAndEndAtNinetyNinePercent) {
  const at::Tensor product = explicit_product(
      {random_attention({3, 3}, 1, 2), random_attention({4, 4}, 2, 2), random_attention({2, 2}, 3, 2)});
  StudyOptions options;
  options.rank = 6;
  options.spaces = {{4, 6}};
  const auto spectra = study_spectra(product, {3, 4, 2}, options);
  ASSERT_EQ(spectra.size(), 4u);
  EXPECT_THAT(spectra[2].ranks, ElementsAre(1));  // a Kronecker product is one term
  EXPECT_EQ(terms_for(spectra[2], 0.99), 1);
  const DecompositionStudy study = study_decomposition(product, {3, 4, 2}, options);
  for (const size_t i : {0, 1, 3}) {
    EXPECT_EQ(spectra[i].name, study.spectra[i].name);
    EXPECT_EQ(spectra[i].information, study.spectra[i].information);
  }
  const at::Tensor matrix = random_attention({24, 24}, 5, 3);
  const DecompositionStudy full = study_decomposition(matrix, {3, 4, 2}, options);
  EXPECT_THAT(full.spectra[2].ranks, ElementsAre(1, 2, 3, 4, 5, 6));
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(full.spectra[2].information[i], 1 - full.kronecker[i].error * full.kronecker[i].error);
  Spectrum falling;
  falling.ranks = {1, 2, 4};
  falling.information = {0.5, 0.9, 0.98};
  EXPECT_EQ(terms_for(falling, 0.9), 2);
  EXPECT_EQ(terms_for(falling, 0.95), 4);
  EXPECT_EQ(terms_for(falling, 0.99), std::nullopt);
  EXPECT_THAT(spectra_table({falling}).to_csv(), testing::HasSubstr("> 4"));
  DecompositionStudy lines;
  lines.kronecker = {{.rank = 3, .parameters = 30, .error = 0.25}};
  falling.name = "rows";
  falling.values = {1, 0.5, 0.25, 0.125};
  falling.term_parameters = 7;
  lines.spectra = {falling};
  const std::string csv = study_lines(lines).to_csv();
  EXPECT_THAT(csv, testing::HasSubstr("3,30,0.25,0.9375,\n"));  // information: 1 - 0.25²
  // The error is the root of the information that is missing. Rank 3 was not decomposed.
  EXPECT_THAT(csv, testing::EndsWith("space rows,1,7,0.7071067811865476,0.5,1\n"
                                     "space rows,2,14,0.3162277660168379,0.9,0.5\n"
                                     "space rows,3,21,,,0.25\n"
                                     "space rows,4,28,0.14142135623730956,0.98,0.125\n"));
}

TEST(DecompositionStudy, OfVectorSpaceIsTheSingularValues) {
  const at::Tensor matrix = random_attention({15, 15}, 4, 3);
  const DecompositionStudy study = study_decomposition(matrix, {3, 5});
  const at::Tensor s = at::linalg_svdvals(matrix);
  for (int64_t i = 0; i < 15; ++i)
    EXPECT_NEAR(study.spectra[0].values[static_cast<size_t>(i)], (s[i] / s[0]).item<double>(), 1e-12);
  EXPECT_NEAR(study.vector[2].error, (s.slice(0, 3).square().sum() / s.square().sum()).sqrt().item<double>(),
              1e-14);
}

TEST(DecompositionStudy, RefusesWhatDoesNotFit) {
  const at::Tensor matrix = random_attention({12, 12}, 5, 3);
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       study_decomposition(matrix, {3, 5});
                     }),
            "expected a matrix of 15 × 15 for modes 3 × 5, got 12 × 12");
  EXPECT_EQ(error_of(ErrorKind::data,
                     [&] {
                       study_decomposition(matrix / 0.0 * 0.0, {3, 4});
                     }),
            "the matrix has non-finite values");
  StudyOptions options;
  options.spaces = {{5, 2}};
  EXPECT_EQ(error_of(ErrorKind::usage,
                     [&] {
                       study_decomposition(matrix, {3, 4}, options);
                     }),
            "the sizes 5 × 2 do not multiply to 12 rows");
}

TEST(CanonicalDecomposition, NeedsNumbersAndARank) {
  for (const auto& [tensor, rank, got] : std::initializer_list<std::tuple<at::Tensor, int64_t, const char*>>{
           {at::zeros({0, 2}), 1, "[0, 2] and 1"},
           {at::zeros(at::IntArrayRef{}), 1, "[] and 1"},
           {at::zeros({3, 2}), 0, "[3, 2] and 0"}})
    EXPECT_EQ(
        error_of(ErrorKind::internal,
                 [&, &tensor = tensor, &rank = rank] { canonical_decomposition(tensor, rank); }),
        std::string("canonical_decomposition: expected a non-empty tensor and a rank of at least 1, got ") +
            got);
  EXPECT_EQ(canonical_decomposition(at::zeros({3, 2}), 1).error, 0);
}

}  // namespace
}  // namespace modewise::analysis
