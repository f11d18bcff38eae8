#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "modewise/core/error.h"
#include "modewise/sweep/search.h"
#include "modewise/sweep/search_files.h"

namespace modewise::sweep {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxRounds = 3;

/// Steps of a training of at most `seconds`, within [kFewestSteps, full_steps].
int64_t steps_within(const TrialCost& cost, double seconds) {
  int64_t low = std::min(kFewestSteps, cost.full_steps), high = cost.full_steps;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (cost.seconds(middle) <= seconds)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// Sum of the `count` largest.
double largest(std::vector<double> values, int64_t count) {
  std::sort(values.rbegin(), values.rend());
  return std::accumulate(values.begin(), values.begin() + std::min(count, std::ssize(values)), 0.0);
}

/// The rounds of a search whose last round gives each training `seconds`, the one before half of it, ….
std::vector<SearchPlan::Round> rounds_within(const std::vector<TrialCost>& costs, double seconds) {
  std::vector<SearchPlan::Round> rounds;
  std::vector<int64_t> before(costs.size(), 0);
  int64_t kept = std::ssize(costs);
  const size_t maximum = costs.size() > 2 ? kMaxRounds : costs.size();
  for (size_t r = 0; r < maximum; ++r) {
    SearchPlan::Round round;
    for (size_t c = 0; c < costs.size(); ++c) {
      if (before[c] == costs[c].full_steps) continue;
      before[c] =
          steps_within(costs[c], std::ldexp(seconds, static_cast<int>(r) - static_cast<int>(maximum) + 1));
      round.steps.emplace_back(costs[c].name, before[c]);
    }
    if (round.steps.empty()) break;
    if (r > 0) kept = (std::min(kept, std::ssize(round.steps)) + 1) / 2;
    round.kept = kept;
    rounds.push_back(std::move(round));
  }
  return rounds;
}

/// Worst-case seconds of all rounds and of `splits` more trainings of the best: the slowest candidates are
/// kept.
double longest(const std::vector<TrialCost>& costs, const std::vector<SearchPlan::Round>& rounds,
               int64_t splits) {
  double sum = 0;
  std::vector<double> last(costs.size(), 0);
  for (const SearchPlan::Round& round : rounds) {
    std::vector<double> seconds;
    for (size_t c = 0, s = 0; c < costs.size() && s < round.steps.size(); ++c) {
      if (costs[c].name != round.steps[s].first) continue;
      seconds.push_back(last[c] = costs[c].seconds(round.steps[s++].second));
    }
    sum += largest(std::move(seconds), round.kept);
  }
  return sum + static_cast<double>(splits) * largest(std::move(last), kEvaluatedAgain);
}

SearchPlan plan_within(std::span<const TrialCost> candidates, double seconds, int64_t splits) {
  SearchPlan plan;
  plan.splits = splits;
  plan.seconds = std::max(seconds, 0.0);
  std::vector<TrialCost> costs;
  const auto fits = [&](double last) {
    return longest(costs, rounds_within(costs, last), splits) <= seconds;
  };
  for (const TrialCost& candidate : candidates) {
    costs.push_back(candidate);
    if (fits(0)) continue;
    plan.left_out.push_back(candidate.name);
    costs.pop_back();
  }
  if (costs.empty()) return plan;
  // At `high` the first round has full trainings.
  double low = 0, high = 0;
  for (const TrialCost& cost : costs) high = std::max(high, cost.seconds(cost.full_steps));
  high = std::ldexp(high, static_cast<int>(kMaxRounds) - 1);
  if (fits(high)) low = high;
  for (int i = 0; i < 40 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  plan.rounds = rounds_within(costs, low);
  plan.costs = std::move(costs);
  return plan;
}

/// Fraction of a full training that the plan gives its first candidate at most.
double share_of_first(const SearchPlan& plan) {
  if (plan.costs.empty()) return 0;
  int64_t steps = 0;
  for (const SearchPlan::Round& round : plan.rounds)
    steps = std::max(steps, round.steps_of(plan.costs.front().name));
  return static_cast<double>(steps) / static_cast<double>(plan.costs.front().full_steps);
}

}  // namespace

double TrialCost::seconds(int64_t steps) const {
  const int64_t evaluations = (steps + steps_per_epoch - 1) / steps_per_epoch;
  return start + static_cast<double>(steps) * step + static_cast<double>(evaluations) * evaluation;
}

SearchPlan plan_search(const std::vector<TrialCost>& candidates, double seconds, int64_t splits,
                       double min_share) {
  const std::span all(candidates);
  for (;; --splits)
    for (size_t count = all.size();; --count) {
      SearchPlan plan = plan_within(all.first(count), seconds, splits);
      const bool fewest = count < 2;
      if (share_of_first(plan) >= min_share || (fewest && splits == 0)) {
        for (const TrialCost& candidate : all.subspan(count)) plan.left_out.push_back(candidate.name);
        return plan;
      }
      if (fewest) break;
    }
}

int64_t SearchPlan::Round::steps_of(const std::string& name) const {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const auto& one) { return one.first == name; });
  return found == steps.end() ? 0 : found->second;
}

const TrialCost& SearchPlan::cost_of(const std::string& name) const {
  const auto found =
      std::find_if(costs.begin(), costs.end(), [&](const TrialCost& one) { return one.name == name; });
  require(found != costs.end(), ErrorKind::data, "the search plan has no measured times of '{}'", name);
  return *found;
}

Json SearchPlan::to_json() const {
  Json measured = Json::array(), all = Json::array();
  for (const TrialCost& cost : costs)
    measured.push_back({{"name", cost.name},
                        {"start_seconds", cost.start},
                        {"step_seconds", cost.step},
                        {"evaluation_seconds", cost.evaluation},
                        {"full_steps", cost.full_steps},
                        {"steps_per_epoch", cost.steps_per_epoch}});
  for (const Round& round : rounds) {
    Json of_round = Json::object();
    for (const auto& [name, count] : round.steps) of_round[name] = count;
    all.push_back({{"candidates", round.kept}, {"steps", of_round}});
  }
  return {{"seconds", seconds},
          {"splits", splits},
          {"measured", measured},
          {"left_out", left_out},
          {"rounds", all}};
}

SearchPlan SearchPlan::from_json(const Json& json, const std::string& source) {
  SearchPlan plan;
  plan.seconds = member<double>(json, "seconds", source);
  plan.splits = member<int64_t>(json, "splits", source);
  const auto measured = member<Json>(json, "measured", source), rounds = member<Json>(json, "rounds", source);
  for (const Json& one : measured)
    plan.costs.push_back(
        {member<std::string>(one, "name", source), member<double>(one, "start_seconds", source),
         member<double>(one, "step_seconds", source), member<double>(one, "evaluation_seconds", source),
         member<int64_t>(one, "full_steps", source), member<int64_t>(one, "steps_per_epoch", source)});
  for (const TrialCost& cost : plan.costs)
    require(cost.full_steps > 0 && cost.steps_per_epoch > 0, ErrorKind::data,
            "{}: a training of '{}' has no steps", source, cost.name);
  plan.left_out = member<std::vector<std::string>>(json, "left_out", source);
  for (const Json& one : rounds) {
    Round round{member<int64_t>(one, "candidates", source), {}};
    const Json steps = member<Json>(one, "steps", source);
    for (const auto& [name, count] : steps.items()) {
      require(count.is_number_integer() && count.get<int64_t>() > 0, ErrorKind::data,
              "{}: the steps of '{}' must be positive", source, name);
      round.steps.emplace_back(name, count.get<int64_t>());
    }
    plan.rounds.push_back(std::move(round));
  }
  return plan;
}

}  // namespace modewise::sweep
