#pragma once
// Layouts of the TSV files of GLUE's nine tasks (Wang et al. 2019).

#include <filesystem>
#include <string>
#include <vector>

namespace modewise::data {

struct GlueLayout {
  std::string name, title, folder;   // "cola", "CoLA", and the folder name
  std::string first, second;         // text columns; second "": single texts
  std::string label;                 // label column of training and dev; test files have none
  std::vector<std::string> classes;  // as in the files, in the usual order; empty: regression
  bool header = true;                // of training and dev; test files have a header
  size_t columns = 0;                // for files without header
  size_t text_column = 0, label_column = 0;
  std::string dev = "dev.tsv", further_dev = "";  // MNLI: matched, mismatched

  bool regression() const { return classes.empty(); }
  bool pairs() const { return !second.empty(); }
};

const std::vector<GlueLayout>& glue_layouts();
/// The layout of a task ("cola"); internal error for an unknown name.
const GlueLayout& glue_layout(const std::string& name);
/// The layout of a folder by its name, ignoring case and punctuation; null: none.
const GlueLayout* glue_layout_of(const std::filesystem::path& folder);

}  // namespace modewise::data
