#include <algorithm>
#include <cmath>
#include <numeric>

#include "modewise/sweep/search.h"

namespace modewise::sweep {
namespace {

/// Steps of a candidate at a share of its full training.
int64_t steps_at(const TrialCost& cost, double share) {
  const double steps = std::round(share * static_cast<double>(cost.full_steps));
  return std::clamp(static_cast<int64_t>(steps), std::min(kFewestSteps, cost.full_steps), cost.full_steps);
}

/// How many candidates each round has.
std::vector<int64_t> kept_in_rounds(int64_t candidates) {
  std::vector<int64_t> out = {candidates};
  while (out.size() < 3 && out.back() > 1) out.push_back((out.back() + 1) / 2);
  return out;
}

double share_of_round(size_t round, size_t rounds, double last) {
  return std::ldexp(last, static_cast<int>(round) - static_cast<int>(rounds) + 1);
}

/// Seconds of the `count` slowest candidates at a share of their full trainings.
double slowest(const std::vector<TrialCost>& costs, int64_t count, double share) {
  std::vector<double> seconds;
  for (const TrialCost& cost : costs) seconds.push_back(cost.seconds(steps_at(cost, share)));
  std::sort(seconds.rbegin(), seconds.rend());
  return std::accumulate(seconds.begin(), seconds.begin() + std::min(count, std::ssize(seconds)), 0.0);
}

/// Seconds of all rounds and splits if each kept its slowest candidates.
double longest(const std::vector<TrialCost>& costs, const std::vector<int64_t>& kept, double last,
               int64_t splits) {
  double sum = static_cast<double>(splits) * slowest(costs, kJudgedAgain, last);
  for (size_t r = 0; r < kept.size(); ++r)
    sum += slowest(costs, kept[r], share_of_round(r, kept.size(), last));
  return sum;
}

}  // namespace

double TrialCost::seconds(int64_t steps) const {
  const int64_t evaluations = (steps + steps_per_epoch - 1) / steps_per_epoch;
  return start + static_cast<double>(steps) * step + static_cast<double>(evaluations) * evaluation;
}

SearchPlan plan_search(std::vector<TrialCost> costs, double seconds, int64_t splits) {
  SearchPlan plan;
  while (!costs.empty() && longest(costs, kept_in_rounds(std::ssize(costs)), 0, splits) > seconds) {
    plan.left_out.push_back(costs.back().name);
    costs.pop_back();
  }
  if (costs.empty()) return plan;
  const std::vector<int64_t> kept = kept_in_rounds(std::ssize(costs));
  double low = 0, high = 1;
  if (longest(costs, kept, high, splits) <= seconds) low = high;
  for (int i = 0; i < 40 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (longest(costs, kept, middle, splits) <= seconds ? low : high) = middle;
  }
  for (size_t r = 0; r < kept.size(); ++r) {
    SearchPlan::Round round{kept[r], {}};
    for (const TrialCost& cost : costs)
      round.steps.emplace_back(cost.name, steps_at(cost, share_of_round(r, kept.size(), low)));
    plan.rounds.push_back(std::move(round));
  }
  return plan;
}

}  // namespace modewise::sweep
