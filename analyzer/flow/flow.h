// The control flow of one kernel with what its registers hold: the passes between parsing and periods, together.
#pragma once

#include <memory>
#include <string>

#include "analyzer/flow/access.h"
#include "analyzer/flow/cfg.h"
#include "analyzer/flow/evaluate.h"
#include "analyzer/flow/trip_count.h"

namespace warptime::flow {

struct KernelFlow {
  KernelFlow(const ptx::Module& module, const ptx::Function& function, Cfg graph)
      : cfg(std::move(graph)), evaluator(module, function, cfg), loops(evaluator) {}
  KernelFlow(const KernelFlow&) = delete;
  KernelFlow& operator=(const KernelFlow&) = delete;

  Cfg cfg;
  Evaluator evaluator;
  LoopAnalysis loops;
};

}  // namespace warptime::flow
