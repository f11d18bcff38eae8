#include "modewise/core/claims.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/file_lock.h"
#include "modewise/core/folder.h"
#include "modewise/core/parse_json.h"

namespace modewise {
namespace {

namespace fs = std::filesystem;

constexpr int kReadAttempts = 3;

std::string first_line_of(const fs::path& file) {
  try {
    const std::string text = read_file(file);
    return text.substr(0, text.find('\n'));
  } catch (const Error&) {
    return "";
  }
}

/// The scope in which a PID is unique: boot id and PID namespace. "" if unknown.
std::string this_machine() {
  std::error_code error;
  const fs::path processes = fs::read_symlink("/proc/self/ns/pid", error);
  const std::string boot = first_line_of("/proc/sys/kernel/random/boot_id");
  return error || boot.empty() ? "" : boot + " " + processes.string();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Start time of a process in ticks since boot, which tells apart processes with the same PID; "" if there is
/// no such process.
std::string start_of(int64_t process) {
  const std::string line = first_line_of("/proc/" + std::to_string(process) + "/stat");
  size_t at = line.rfind(')');  // the process name before it may contain spaces
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  return at == std::string::npos ? "" : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

std::string new_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

/// The file's text; nullopt if there is no file. On NFS a heartbeat that replaces the file during the read
/// makes it stale: the read is repeated.
std::optional<std::string> content_of(const fs::path& file) {
  for (int attempt = 1;; ++attempt) {
    try {
      return read_file(file);
    } catch (const Error&) {
      std::error_code error;
      if (!fs::exists(file, error) && !error) return std::nullopt;
      if (attempt == kReadAttempts) throw;
    }
  }
}

nlohmann::json parsed(const std::string& content, const fs::path& file) {
  try {
    nlohmann::json json = parse_json(content, file.string());
    if (json.is_object()) return json;
  } catch (const Error&) {
  }
  return nlohmann::json::object();  // damaged: only the timeout decides whether it is dead
}

template <class Value>
Value field(const nlohmann::json& json, const char* name, Value otherwise) {
  const auto at = json.find(name);
  if (at == json.end()) return otherwise;
  if constexpr (std::is_same_v<Value, std::string>)
    return at->is_string() ? at->template get<std::string>() : otherwise;
  else
    return at->is_number_integer() ? at->template get<Value>() : otherwise;
}

/// The token in the file; "" if there is no file or no token.
std::string token_in(const fs::path& file) {
  return field<std::string>(parsed(content_of(file).value_or(""), file), "token", "");
}

void write_claim(const fs::path& file, const std::string& token, int64_t heartbeats) {
  const nlohmann::ordered_json json = {
      {"token", token},        {"host", host_name()},           {"machine", this_machine()},
      {"process", ::getpid()}, {"start", start_of(::getpid())}, {"beats", heartbeats}};
  write_file_atomically(file, json.dump() + "\n");
}

fs::path lock_of(const fs::path& folder) {
  return folder / "lock";
}

fs::path file_of(const fs::path& folder, const std::string& name) {
  return folder / (name + ".json");
}

}  // namespace

Claim::Claim(fs::path folder, std::string name, std::string token, bool taken_over)
    : folder_(std::move(folder)), name_(std::move(name)), token_(std::move(token)), taken_over_(taken_over) {}

Claim::~Claim() {
  try {
    const FileLock lock = FileLock::of_file(lock_of(folder_), FileLock::Mode::wait);
    const fs::path file = file_of(folder_, name_);
    if (token_in(file) == token_) fs::remove(file);
  } catch (const std::exception&) {  // the claim expires by its timeout
  }
}

bool Claim::heartbeat() {
  const FileLock lock = FileLock::of_file(lock_of(folder_), FileLock::Mode::wait);
  const fs::path file = file_of(folder_, name_);
  if (token_in(file) != token_) return false;
  write_claim(file, token_, ++heartbeats_);
  return true;
}

std::string Claim::ticket() const {
  return token_ + " " + file_of(folder_, name_).string();
}

Claims::Claims(fs::path folder, std::chrono::milliseconds lease, std::function<Clock::time_point()> now)
    : folder_(std::move(folder)), lease_(lease), now_(std::move(now)) {
  make_folders(folder_);
  reason_unguarded_ = FileLock::of_file(lock_of(folder_), FileLock::Mode::attempt).reason();
}

bool Claims::dead(const std::string& name, const std::string& content) {
  const nlohmann::json json = parsed(content, file_of(folder_, name));
  const std::string machine = field<std::string>(json, "machine", "");
  if (!machine.empty() && machine == this_machine()) {
    const auto process = field<int64_t>(json, "process", 0);
    const std::string start = start_of(process);
    if (process > 0 && (start.empty() || start != field<std::string>(json, "start", start))) return true;
  }
  const Clock::time_point now = now_();
  const auto [at, first] = seen_.try_emplace(name, Seen{content, now});
  if (!first && at->second.content != content) at->second = {content, now};
  return now - at->second.since >= lease_;
}

std::unique_ptr<Claim> Claims::take(const std::string& name) {
  const FileLock lock = FileLock::of_file(lock_of(folder_), FileLock::Mode::wait);
  if (!lock.reason().empty()) reason_unguarded_ = lock.reason();
  const fs::path file = file_of(folder_, name);
  const std::optional<std::string> before = content_of(file);
  if (before && !dead(name, *before)) return nullptr;
  seen_.erase(name);
  std::unique_ptr<Claim> claim(new Claim(folder_, name, new_token(), before.has_value()));
  write_claim(file, claim->token_, 0);
  return claim;
}

std::string Claims::owner(const std::string& name) const {
  const fs::path file = file_of(folder_, name);
  const std::optional<std::string> content = content_of(file);
  if (!content) return "";
  const nlohmann::json json = parsed(*content, file);
  return fmt::format("{}, process {}", field<std::string>(json, "host", "unknown"),
                     field<int64_t>(json, "process", 0));
}

void require_own_claim() {
  const char* ticket = std::getenv(kClaimVariable);
  if (ticket == nullptr) return;
  const std::string_view text = ticket;
  const size_t blank = text.find(' ');
  require(blank != std::string_view::npos, ErrorKind::usage, "{} must be \"TOKEN FILE\", got \"{}\"",
          kClaimVariable, text);
  const fs::path file(text.substr(blank + 1));
  const std::optional<std::string> content = content_of(file);
  require(content.has_value(), ErrorKind::cannot_create,
          "the claim on this work was released by the program that started it: {} does not exist, so nothing "
          "is saved",
          file.string());
  require(field<std::string>(parsed(*content, file), "token", "") == text.substr(0, blank),
          ErrorKind::cannot_create,
          "this work was taken over by another process after a missed heartbeat: the claim {} has another "
          "owner, so nothing is saved",
          file.string());
}

}  // namespace modewise
