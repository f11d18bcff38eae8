#pragma once
// The nine layouts of GLUE's TSV files (Wang et al. 2019), as the benchmark hands them out.

#include <filesystem>
#include <string>
#include <vector>

namespace modewise::data {

struct GlueLayout {
  std::string name, title, folder;   // "cola", "CoLA", and how folders are called
  std::string first, second;         // columns of the texts; second "": single texts
  std::string label;                 // of training and dev; test files lack it
  std::vector<std::string> classes;  // as in the files, in their usual order; empty: a number
  bool header = true;                // of training and dev; test files have one
  size_t columns = 0;                // of files without header: how many, and which
  size_t text_column = 0, label_column = 0;
  std::string dev = "dev.tsv", further_dev = "";  // MNLI: matched and mismatched

  bool regression() const { return classes.empty(); }
  bool pairs() const { return !second.empty(); }
};

const std::vector<GlueLayout>& glue_layouts();
/// By name ("cola"); internal error for another.
const GlueLayout& glue_layout(const std::string& name);
/// That of a folder whose name, without marks and in small letters, is a layout's; null for another.
const GlueLayout* glue_layout_of(const std::filesystem::path& folder);

}  // namespace modewise::data
