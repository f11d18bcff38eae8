#include "modewise/core/log.h"

#include <fcntl.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/system_call.h"

namespace modewise {
namespace {

/// The pattern flag %*: the message, escaped.
class EscapedMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string text = escape_text({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<EscapedMessage>(); }
};

std::unique_ptr<spdlog::formatter> formatter_of(const char* pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<EscapedMessage>('*').set_pattern(pattern);
  return formatter;
}

/// Appends each message to a file at once. spdlog's own sink reports a write that a signal interrupts as
/// failed.
class FileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(std::string path)
      : path_(std::move(path)),
        descriptor_(open_file(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
    require_call(descriptor_ >= 0, ErrorKind::io, "cannot open", path_);
  }
  ~FileSink() override { ::close(descriptor_); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    write_all(descriptor_, as_bytes(std::string_view(text.data(), text.size())), path_);
  }
  void flush_() override {}

 private:
  std::string path_;
  int descriptor_;
};

bool environment_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

spdlog::color_mode color_mode(const std::string& color) {
  if (color == "always") return spdlog::color_mode::always;
  if (color == "never") return spdlog::color_mode::never;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return spdlog::color_mode::never;
  if (environment_set("FORCE_COLOR") || environment_set("CLICOLOR_FORCE")) return spdlog::color_mode::always;
  return stderr_is_terminal() ? spdlog::color_mode::always : spdlog::color_mode::never;
}

}  // namespace

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && !(term != nullptr && std::string_view(term) == "dumb");
}

void set_up_logging(int verbosity, const std::string& color) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(color_mode(color));
  auto logger = std::make_shared<spdlog::logger>("modewise", sink);
  const auto level = verbosity < 0    ? spdlog::level::err
                     : verbosity == 0 ? spdlog::level::info
                     : verbosity == 1 ? spdlog::level::debug
                                      : spdlog::level::trace;
  sink->set_level(level);
  sink->set_formatter(formatter_of("%^%*%$"));
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void log_to_file(const std::string& path) {
  auto& sinks = spdlog::default_logger()->sinks();
  if (sinks.size() > 1) sinks.resize(1);
  if (path.empty()) return;
  auto file = std::make_shared<FileSink>(path);
  file->set_level(spdlog::level::debug);
  file->set_formatter(formatter_of("%Y-%m-%dT%H:%M:%S%z %l %*"));
  sinks.push_back(std::move(file));
}

void log_lines(LogLevel level, std::string_view text) {
  const auto wanted = level == LogLevel::error     ? spdlog::level::err
                      : level == LogLevel::warning ? spdlog::level::warn
                                                   : spdlog::level::info;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    spdlog::log(wanted, "{}", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace modewise
