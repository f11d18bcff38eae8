#include "modewise/core/claims.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/core/parse_json.h"

namespace modewise {
namespace {

namespace fs = std::filesystem;

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
std::string token_in(System& system, const fs::path& file) {
  return field<std::string>(parsed(system.read(file).value_or(""), file), "token", "");
}

void write_claim(System& system, const fs::path& file, const std::string& token, int64_t heartbeats) {
  const System::Process process = system.this_process();
  const nlohmann::ordered_json json = {{"token", token},
                                       {"host", process.host},
                                       {"machine", process.machine},
                                       {"process", process.number},
                                       {"start", process.start},
                                       {"beats", heartbeats}};
  system.write(file, json.dump() + "\n");
}

fs::path lock_of(const fs::path& folder) {
  return folder / "lock";
}

fs::path file_of(const fs::path& folder, const std::string& name) {
  return folder / (name + ".json");
}

}  // namespace

Claim::Claim(System& system, fs::path folder, std::string name, std::string token, bool taken_over)
    : system_(system),
      folder_(std::move(folder)),
      name_(std::move(name)),
      token_(std::move(token)),
      taken_over_(taken_over) {}

Claim::~Claim() {
  try {
    const auto lock = system_.lock(lock_of(folder_));
    const fs::path file = file_of(folder_, name_);
    if (token_in(system_, file) == token_) system_.remove(file);
  } catch (const std::exception&) {  // the claim expires by its timeout
  }
}

bool Claim::heartbeat() {
  const auto lock = system_.lock(lock_of(folder_));
  const fs::path file = file_of(folder_, name_);
  if (token_in(system_, file) != token_) return false;
  write_claim(system_, file, token_, ++heartbeats_);
  return true;
}

std::string Claim::ticket() const {
  return token_ + " " + file_of(folder_, name_).string();
}

Claims::Claims(fs::path folder, std::chrono::milliseconds lease, System& system)
    : folder_(std::move(folder)), lease_(lease), system_(&system) {
  system_->make_folders(folder_);
  if (const auto lock = system_->try_lock(lock_of(folder_))) reason_unguarded_ = lock->reason();
}

bool Claims::dead(const std::string& name, const std::string& content) {
  const nlohmann::json json = parsed(content, file_of(folder_, name));
  if (system_->has_ended({"", field<std::string>(json, "machine", ""), field<std::string>(json, "start", ""),
                          field<int64_t>(json, "process", 0)}))
    return true;
  const System::Clock::time_point now = system_->now();
  const auto [at, first] = seen_.try_emplace(name, Seen{content, now});
  if (!first && at->second.content != content) at->second = {content, now};
  return now - at->second.since >= lease_;
}

std::unique_ptr<Claim> Claims::take(const std::string& name) {
  const auto lock = system_->lock(lock_of(folder_));
  if (!lock->reason().empty()) reason_unguarded_ = lock->reason();
  const fs::path file = file_of(folder_, name);
  const std::optional<std::string> before = system_->read(file);
  if (before && !dead(name, *before)) return nullptr;
  seen_.erase(name);
  const std::string token = system_->random_token();
  write_claim(*system_, file, token, 0);  // before there is a Claim, whose destructor takes the lock too
  return std::unique_ptr<Claim>(new Claim(*system_, folder_, name, token, before.has_value()));
}

std::string Claims::owner(const std::string& name) const {
  const fs::path file = file_of(folder_, name);
  const std::optional<std::string> content = system_->read(file);
  if (!content) return "";
  const nlohmann::json json = parsed(*content, file);
  return fmt::format("{}, process {}", field<std::string>(json, "host", "unknown"),
                     field<int64_t>(json, "process", 0));
}

void require_claim(System& system, const std::string& ticket) {
  const size_t blank = ticket.find(' ');
  require(blank != std::string::npos, ErrorKind::usage, "{} must be \"TOKEN FILE\", got \"{}\"",
          kClaimVariable, ticket);
  const fs::path file(ticket.substr(blank + 1));
  const std::optional<std::string> content = system.read(file);
  require(content.has_value(), ErrorKind::cannot_create,
          "the claim on this work was released by the program that started it: {} does not exist, so nothing "
          "is saved",
          file.string());
  require(field<std::string>(parsed(*content, file), "token", "") == ticket.substr(0, blank),
          ErrorKind::cannot_create,
          "this work was taken over by another process after a missed heartbeat: the claim {} has another "
          "owner, so nothing is saved",
          file.string());
}

void require_own_claim() {
  if (const char* ticket = std::getenv(kClaimVariable)) require_claim(local_system(), ticket);
}

}  // namespace modewise
