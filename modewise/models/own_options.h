#pragma once
// Options that single models of a family have to themselves: one struct with `fields` per model, declared in
// the model's file and named by its registry row.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/fields.h"

namespace modewise::models {

/// The options of a config's family, each under its model's name. Copies are deep; an assignment copies
/// values in place, as Fields point to them.
class OwnOptions {
 public:
  OwnOptions() = default;
  OwnOptions(const OwnOptions& other) {
    for (const auto& one : other.list_) list_.push_back(one->copy());
  }
  OwnOptions& operator=(const OwnOptions& other) {
    require(list_.size() == other.list_.size(), ErrorKind::internal, "options of different model families");
    for (size_t i = 0; i < list_.size(); ++i) list_[i]->assign(*other.list_[i]);
    return *this;
  }
  ~OwnOptions() = default;

  template <class Options>
  void add(const std::string& model) {
    list_.push_back(std::make_unique<Entry<Options>>(model));
  }
  /// The options of this type.
  template <class Options>
  const Options& of() const {
    for (const auto& one : list_)
      if (const auto* entry = dynamic_cast<const Entry<Options>*>(one.get())) return entry->options;
    fail(ErrorKind::internal, "no model of this family has these options");
  }
  void fields(Fields& f) {
    for (const auto& one : list_) one->fields(f);
  }

 private:
  struct AnyEntry {
    virtual ~AnyEntry() = default;
    virtual std::unique_ptr<AnyEntry> copy() const = 0;
    virtual void assign(const AnyEntry& other) = 0;
    virtual void fields(Fields& f) = 0;
  };

  template <class Options>
  struct Entry final : AnyEntry {
    explicit Entry(std::string name) : model(std::move(name)) {}
    std::unique_ptr<AnyEntry> copy() const override { return std::make_unique<Entry>(*this); }
    void assign(const AnyEntry& other) override { options = dynamic_cast<const Entry&>(other).options; }
    void fields(Fields& f) override { f.group(model, options); }

    std::string model;
    Options options;
  };

  std::vector<std::unique_ptr<AnyEntry>> list_;
};

/// For ModelRow::own.
template <class Options>
void own_options(OwnOptions& options, const std::string& model) {
  options.add<Options>(model);
}

/// The default options of every model of a registry that has some to itself.
template <class Row>
OwnOptions own_options_of(const std::vector<Row>& rows) {
  OwnOptions out;
  for (const Row& row : rows)
    if (row.own != nullptr) row.own(out, row.name);
  return out;
}

}  // namespace modewise::models
