#include "modewise/sweep/paper_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/nearest_name.h"
#include "modewise/sweep/toml_reader.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".toml";
constexpr const char* kPaperFile = "paper";

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

/// The cells of "a | b | c", or of a line of Markdown, "| a | b | c |".
std::vector<std::string> cells_of(std::string_view line) {
  const std::string whole = trimmed(line);
  if (whole.size() > 1 && whole.front() == '|' && whole.back() == '|')
    return cells_of(std::string_view(whole).substr(1, whole.size() - 2));
  std::vector<std::string> cells;
  while (true) {
    const size_t bar = line.find('|');
    cells.push_back(trimmed(line.substr(0, bar)));
    if (bar == std::string_view::npos) return cells;
    line.remove_prefix(bar + 1);
  }
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string out;
  for (const std::string& part : parts)
    if (!part.empty()) out += (out.empty() ? "" : separator) + part;
  return out;
}

void read_printed(const TomlReader& reader, PaperTable& table) {
  const toml::node* node = reader.root().get("printed");
  if (node == nullptr) return;
  std::string_view text = *node->value<std::string_view>();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::vector<std::string> cells = cells_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool rule = std::ranges::all_of(cells, [](const std::string& cell) {
      return !cell.empty() && cell.find_first_not_of("-:") == std::string::npos;
    });
    if ((cells.size() == 1 && cells.front().empty()) || (rule && table.printed.empty() && cells.size() > 1))
      continue;
    const std::string name = cells.front();
    cells.erase(cells.begin());
    if (table.columns.empty()) {
      table.columns = cells;
      continue;
    }
    require(cells.size() == table.columns.size(), ErrorKind::config,
            "{}: the printed row '{}' has {} cells, but there are {} columns", reader.place(node->source()),
            name, cells.size(), table.columns.size());
    table.printed.push_back({name, std::move(cells)});
  }
}

TableMetric read_table_metric(const TomlReader& reader, const toml::table& table) {
  reader.only_keys(table, {"name", "row", "path", "decimals", "factor", "choices", "median"});
  TableMetric metric{reader.text(table, "name"),
                     reader.text(table, "row"),
                     reader.strings(table, "path"),
                     reader.value<int64_t>(table, "decimals", 3, "an integer"),
                     reader.value<double>(table, "factor", 1.0, "a number"),
                     reader.strings(table, "choices"),
                     reader.value<bool>(table, "median", false, "true or false")};
  const std::string place = reader.place(table.source());
  require(!metric.paths.empty(), ErrorKind::config,
          "{}: a metric needs a path into metrics.json, such as \"/test/auc\", or a list of paths", place);
  for (const std::string& path : metric.paths)
    SweepMetric{path, metric.name, "none", metric.decimals, metric.factor}.validate(ErrorKind::config, place);
  return metric;
}

/// Nested tables of file names as files with dotted settings.
void add_files(const TomlReader& reader, const toml::table& table, const std::string& prefix,
               const std::string& choice, std::vector<OfficialFile>& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* nested = node.as_table())
      add_files(reader, *nested, name + ".", choice, out);
    else
      out.push_back({name, reader.strings(table, std::string(key.str()).c_str()), choice});
  }
}

std::vector<OfficialFile> files_of(const TomlReader& reader, const toml::table& table,
                                   const std::string& choice) {
  std::vector<OfficialFile> out;
  const toml::node* node = table.get("files");
  if (node == nullptr) return out;
  require(node->is_table(), ErrorKind::config, "{}: files must be a table, setting = \"file name\"",
          reader.place(node->source()));
  add_files(reader, *node->as_table(), "", choice, out);
  return out;
}

/// The choices of an axis that are tables.
template <class Visit>
void each_choice(const toml::table& axis, const Visit& visit) {
  if (const toml::array* choices = axis["choices"].as_array())
    for (const toml::node& one : *choices)
      if (const toml::table* choice = one.as_table()) visit(*choice);
}

/// Digits in a name count as a number: table2 before table10.
bool by_number(const PaperTable& a, const PaperTable& b) {
  const auto split = [](const std::string& id) {
    const size_t digit = std::min(id.find_first_of("0123456789"), id.size());
    return std::pair(id.substr(0, digit), digit < id.size() ? std::atoi(id.c_str() + digit) : 0);
  };
  const auto key = [&](const PaperTable& table) {
    const auto [word, number] = split(table.id);
    return std::tuple(table.paper, word != "table", word, number, table.id);
  };
  return key(a) < key(b);
}

std::vector<std::string> papers_in(const fs::path& folder) {
  require(fs::is_directory(folder), ErrorKind::no_input,
          "{}: there is no such folder; --papers names the folder of the papers' tables", folder.string());
  std::vector<std::string> papers;
  for (const fs::path& entry : data_entries(folder))
    if (fs::is_directory(entry)) papers.push_back(entry.filename().string());
  return papers;
}

std::vector<std::string> tables_in(const fs::path& folder) {
  std::vector<std::string> ids;
  for (const fs::path& entry : data_entries(folder))
    if (entry.extension() == kExtension && entry.stem() != kPaperFile) ids.push_back(entry.stem().string());
  return ids;
}

/// Whether `path` ends with the components of `name`.
bool ends_with(const fs::path& path, const fs::path& name) {
  fs::path tail;
  fs::path rest = path;
  for (auto left = std::distance(name.begin(), name.end()); left > 0; --left) {
    tail = tail.empty() ? rest.filename() : rest.filename() / tail;
    rest = rest.parent_path();
  }
  return tail == name;
}

/// Files and folders below a folder, by official names.
class DataFolder {
 public:
  explicit DataFolder(const std::string& folder) : folder_(folder) {
    require(fs::is_directory(folder_), ErrorKind::no_input, "--data {}: there is no such folder", folder);
    visit_data_entries(folder_, [&](const fs::path& entry) {
      entries_.push_back(entry);
      return false;
    });
  }

  std::optional<std::string> find(const OfficialFile& file) const {
    for (const std::string& name : file.names) {
      std::vector<std::string> found;
      for (const fs::path& entry : entries_)
        if (ends_with(entry, name)) found.push_back(fs::absolute(entry).lexically_normal().string());
      require(found.size() <= 1, ErrorKind::usage,
              "several files are named {}: {}; --data names a folder with one", name, fmt::join(found, ", "));
      if (!found.empty()) return found.front();
    }
    return std::nullopt;
  }

 private:
  fs::path folder_;
  std::vector<fs::path> entries_;
};

/// Adds the paths of `files` to the settings in `table[key]`; returns the missing ones.
std::vector<OfficialFile> set_files(const DataFolder& data, const std::vector<OfficialFile>& files,
                                    toml::table& table, const char* key) {
  std::vector<OfficialFile> missing;
  if (files.empty()) return missing;
  if (!table.contains(key)) table.insert(key, toml::table{});
  for (const OfficialFile& file : files) {
    if (const auto path = data.find(file))
      table[key].as_table()->insert_or_assign(file.setting, *path);
    else
      missing.push_back(file);
  }
  table.erase("files");
  return missing;
}

/// The task, files and axes of the file with the table's runs.
void read_runs(PaperTable& table) {
  const TomlReader reader(table.runs_file.string(), read_file(table.runs_file));
  const toml::table& root = reader.root();
  table.task = reader.text(root, "task");
  table.files = files_of(reader, root, "");
  for (const toml::table* axis : reader.tables("axis")) {
    if (reader.value<bool>(*axis, "across", false, "true or false"))
      table.across.push_back(reader.text(*axis, "name", reader.text(*axis, "key")));
    each_choice(*axis, [&](const toml::table& choice) {
      for (OfficialFile& one : files_of(reader, choice, reader.text(choice, "name")))
        table.files.push_back(std::move(one));
    });
  }
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Config error if a slip or absent rows name a row or column that is not printed.
void require_known_cells(const PaperTable& table) {
  std::vector<std::string> rows;
  for (const PrintedRow& row : table.printed) rows.push_back(row.name);
  const auto check = [&](const char* what, const std::string& name, const std::vector<std::string>& known) {
    require(name.empty() || contains(known, name), ErrorKind::config, "{}: there is no printed {} '{}'{}",
            table.file.string(), what, name, nearest_name_hint(name, known));
  };
  for (const Slip& slip : table.slips) {
    check("row", slip.row, rows);
    check("column", slip.column, table.columns);
  }
  for (const AbsentRows& absent : table.absent)
    for (const std::string& row : absent.rows) check("row", row, rows);
}

}  // namespace

PaperTable read_paper_table(const fs::path& file) {
  const TomlReader own(file.string(), read_file(file));
  const toml::table& root = own.root();
  own.only_keys(root, {"title", "why", "note", "printed", "task", "config", "seeds", "settings", "files",
                       "axis", "group", "metric", "absent", "slip", "runs_of", "only_printed"});
  PaperTable table;
  table.paper = file.parent_path().filename().string();
  table.id = file.stem().string();
  table.file = table.runs_file = file;
  table.title = own.text(root, "title");
  require(!table.title.empty(), ErrorKind::config, "{}: a table needs a title", file.string());
  table.why = own.text(root, "why");
  table.note = own.text(root, "note");
  table.only_printed = own.value<bool>(root, "only_printed", false, "true or false");
  own.text(root, "printed");
  read_printed(own, table);
  for (const toml::table* metric : own.tables("metric"))
    table.metrics.push_back(read_table_metric(own, *metric));
  for (const toml::table* absent : own.tables("absent")) {
    own.only_keys(*absent, {"rows", "why"});
    table.absent.push_back({own.strings(*absent, "rows"), own.text(*absent, "why")});
  }
  for (const toml::table* slip : own.tables("slip")) {
    own.only_keys(*slip, {"row", "column", "note"});
    table.slips.push_back({own.text(*slip, "row"), own.text(*slip, "column"), own.text(*slip, "note")});
  }
  require_known_cells(table);
  if (const std::string other = own.text(root, "runs_of"); !other.empty()) {
    for (const char* key : {"task", "config", "seeds", "settings", "files", "axis", "group"})
      require(!root.contains(key), ErrorKind::config,
              "{}: the runs are those of {}, so {} has no effect here", file.string(), other, key);
    table.runs_file = file.parent_path() / (other + kExtension);
  }
  read_runs(table);
  require(!table.task.empty() || !table.why.empty(), ErrorKind::config,
          "{}: a table needs a task, or why it cannot be reproduced", file.string());
  require(table.task.empty() || !table.metrics.empty(), ErrorKind::config,
          "{}: a table with runs needs a [[metric]]", file.string());
  return table;
}

std::string OfficialFile::text() const {
  return joined(names, " or ");
}

std::vector<std::string> texts_of(const std::vector<OfficialFile>& files) {
  std::vector<std::string> out;
  for (const OfficialFile& file : files)
    if (!contains(out, file.text())) out.push_back(file.text());
  return out;
}

std::string runs_name(const PaperTable& table) {
  return table.paper + "-" + table.runs_file.stem().string();
}

TablePlace place_of(const PaperTable& table, const SweepPlan& plan, const SweepRun& run,
                    const TableMetric& metric) {
  std::vector<std::string> row, column;
  for (size_t i = 0; i < plan.axes.size(); ++i)
    (contains(table.across, plan.axes[i]) ? column : row).push_back(run.labels[i]);
  row.push_back(metric.row);
  column.push_back(metric.name);
  return {joined(row, ", "), joined(column, " ")};
}

bool has_cell(const PaperTable& table, const SweepPlan& plan, const SweepRun& run,
              const TableMetric& metric) {
  const bool of_choice = metric.choices.empty() ||
                         std::any_of(run.labels.begin(), run.labels.end(), [&](const std::string& label) {
                           return contains(metric.choices, label);
                         });
  if (!of_choice || !table.only_printed) return of_choice;
  const TablePlace place = place_of(table, plan, run, metric);
  return contains(table.columns, place.column) &&
         std::any_of(table.printed.begin(), table.printed.end(),
                     [&](const PrintedRow& row) { return row.name == place.row; });
}

std::string paper_title(const fs::path& folder, const std::string& paper) {
  const fs::path file = folder / paper / (std::string(kPaperFile) + kExtension);
  if (!fs::exists(file)) return paper;
  const TomlReader reader(file.string(), read_file(file));
  reader.only_keys(reader.root(), {"title"});
  return reader.text(reader.root(), "title", paper);
}

std::vector<PaperTable> all_paper_tables(const fs::path& folder) {
  std::vector<PaperTable> tables;
  for (const std::string& paper : papers_in(folder))
    for (const std::string& id : tables_in(folder / paper))
      tables.push_back(read_paper_table(folder / paper / (id + kExtension)));
  std::sort(tables.begin(), tables.end(), by_number);
  return tables;
}

PaperTable find_paper_table(const fs::path& folder, const std::string& paper, const std::string& id) {
  const std::vector<std::string> papers = papers_in(folder);
  require(std::find(papers.begin(), papers.end(), paper) != papers.end(), ErrorKind::no_input,
          "there is no paper '{}'{}; papers: {}", paper, nearest_name_hint(paper, papers),
          fmt::join(papers, ", "));
  const std::vector<std::string> ids = tables_in(folder / paper);
  require(std::find(ids.begin(), ids.end(), id) != ids.end(), ErrorKind::no_input,
          "{} has no '{}'{}; --list shows its tables and figures", paper, id, nearest_name_hint(id, ids));
  return read_paper_table(folder / paper / (id + kExtension));
}

TablePlan plan_table(const PaperTable& table, const std::string& data, const std::vector<SweepTask>& tasks,
                     SweepOverrides overrides) {
  require(!table.task.empty(), ErrorKind::usage, "{} {} has no runs: {}", table.paper, table.id, table.why);
  TablePlan out;
  const DataFolder folder(data);
  TomlReader reader(table.runs_file.string(), read_file(table.runs_file));
  toml::table& root = reader.root();
  out.missing = set_files(folder, files_of(reader, root, ""), root, "settings");
  const bool any = out.missing.empty();
  std::vector<std::pair<size_t, std::string>> without;  // axes and their choices without all files
  if (toml::array* axes = root["axis"].as_array()) {
    for (size_t i = 0; i < axes->size(); ++i) {
      toml::table& axis = *axes->get(i)->as_table();
      axis.erase("across");
      toml::array* choices = axis["choices"].as_array();
      if (choices == nullptr) continue;
      for (toml::node& node : *choices) {
        toml::table* choice = node.as_table();
        if (choice == nullptr) break;  // reported by plan_of
        const std::string name = reader.text(*choice, "name");
        for (OfficialFile& file : set_files(folder, files_of(reader, *choice, name), *choice, "set")) {
          out.missing.push_back(std::move(file));
          without.emplace_back(i, name);
        }
      }
    }
  }
  for (const char* key : {"title", "why", "note", "printed", "metric", "absent", "slip", "only_printed"})
    root.erase(key);
  overrides.reads_test = true;
  overrides.data.clear();
  out.plan = plan_of(reader, table.runs_file.string(), tasks, overrides);
  out.plan.name = runs_name(table);
  std::erase_if(out.plan.runs, [&](const SweepRun& run) {
    return std::any_of(without.begin(), without.end(),
                       [&](const auto& one) { return run.labels[one.first] == one.second; });
  });
  const std::vector<std::string> names = texts_of(out.missing);
  require(any && !out.plan.runs.empty(), ErrorKind::no_input, "--data {}: {} {} needs {}, which {} not there",
          data, table.paper, table.id, fmt::join(names, ", "), names.size() == 1 ? "is" : "are");
  std::erase_if(out.plan.runs, [&](const SweepRun& run) {
    return std::none_of(table.metrics.begin(), table.metrics.end(),
                        [&](const TableMetric& metric) { return has_cell(table, out.plan, run, metric); });
  });
  require(!out.plan.runs.empty(), ErrorKind::config, "{}: no run has a cell", table.file.string());
  return out;
}

}  // namespace modewise::sweep
