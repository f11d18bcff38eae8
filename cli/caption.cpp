#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/data/broken_files.h"
#include "modewise/io/images/image.h"
#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/captioning/spec.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/result.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct CaptionCommandOptions {
  std::string run, out;
  std::vector<std::string> images;
  int64_t beams = 0;
  double skip_broken = 0;
  bool force = false, allow_size = false;
};

/// Files in the given order; folders are replaced by their images in byte order.
std::vector<fs::path> listed_images(const std::vector<std::string>& named) {
  std::vector<fs::path> files;
  for (const std::string& name : named) {
    if (!fs::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    std::vector<fs::path> inside;
    for (const fs::path& entry : data_entries(name))
      if (io::named_as_image(entry)) inside.push_back(entry);
    require(!inside.empty(), ErrorKind::no_input, "{}: there is no image (.png, .jpg, .jpeg) in this folder",
            name);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

/// Image ids from the digits at the end of file names, as in COCO; 1, 2, … if any is missing or duplicate.
std::vector<int64_t> image_ids(const std::vector<fs::path>& files) {
  constexpr size_t kMaxDigits = 18;
  std::vector<int64_t> ids, numbers;
  for (const fs::path& file : files) {
    numbers.push_back(std::ssize(numbers) + 1);
    const std::string stem = file.stem().string();
    const size_t begin = stem.find_last_not_of("0123456789") + 1;  // 0: all are digits
    const std::string digits = stem.substr(begin);
    if (digits.empty() || digits.size() > kMaxDigits) continue;
    ids.push_back(std::stoll(digits));
  }
  const bool distinct = std::set<int64_t>(ids.begin(), ids.end()).size() == files.size();
  if (!distinct) spdlog::info("file names do not end in unique numbers: image_id counts from 1");
  return distinct ? ids : numbers;
}

void caption(const Program& program, const CaptionCommandOptions& options) {
  install_stop_handlers();
  require(options.out.empty() || lower_extension(options.out) == ".json", ErrorKind::usage,
          "--out must end in .json, got '{}'", options.out);
  prepare_output(options.out, options.force);
  const std::vector<fs::path> files = listed_images(options.images);
  const auto run = tasks::open_run_as<tasks::CaptioningRun>(tasks::captioning_spec, options.run);
  require(run->config.data.features.empty(), ErrorKind::usage,
          "{} was trained on features instead of pixels and cannot caption images", options.run);
  if (options.beams > 0) run->config.captions.beams = options.beams;
  const std::vector<int64_t> ids = image_ids(files);
  const int64_t size = run->config.data.size;
  Json results = Json::array();
  std::string text;
  data::BrokenFiles broken(options.skip_broken, std::ssize(files), "--skip-broken 1");
  for (size_t i = 0; i < files.size(); ++i) {
    throw_if_stopped();
    io::Image image;
    std::string remark;
    const io::ImageReadOptions reading{size, size, options.allow_size, &remark};
    if (!broken.read([&] { image = io::read_image(files[i], reading); })) continue;
    if (!remark.empty()) broken.note_damaged(files[i].string(), remark);
    std::string words = run->caption_of(image);
    text += fmt::format("{}: {}\n", files[i].string(), words);
    results.push_back(
        {{"image_id", ids[i]}, {"caption", std::move(words)}, {"file_name", files[i].filename().string()}});
  }
  for (const std::string& warning : broken.warnings()) spdlog::warn("{}", warning);
  if (!options.out.empty()) write_file_atomically(options.out, tasks::json_text(results) + "\n");
  program.print(tasks::Result(std::move(results), options.out.empty() ? std::move(text) : std::string()));
}

}  // namespace

void add_caption(Program& program) {
  const auto [command, options] = program.add_command<CaptionCommandOptions>(
      program.app(), "caption", "Writes captions of images with a captioning run.",
      "modewise caption runs/captions_train2017-transformer-dense photo.jpg", caption);
  command->add_option("run,--run", options.run, "run folder")->required();
  command->add_option("images", options.images, "PNG and JPEG files, and folders of them")->required();
  add_positive(*command, "--beam-size", options.beams, "beam width (default: that of the run)");
  command->add_option("--out", options.out, "write captions to a .json file in COCO results format");
  command->add_flag("--overwrite", options.force, "overwrite the file of --out");
  command->add_option(
      "--skip-broken", options.skip_broken,
      "most broken images that are left out, or below 1 the largest fraction of them (default 0)");
  command->add_flag("--allow-size", options.allow_size, "decode images of any size");
}

}  // namespace modewise::cli
