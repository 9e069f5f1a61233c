// The control flow of one kernel with what its registers hold: the passes between parsing and periods, together.
#pragma once

#include <memory>
#include <string>

#include "analyzer/flow/access.h"
#include "analyzer/flow/cfg.h"
#include "analyzer/flow/code.h"
#include "analyzer/flow/evaluate.h"
#include "analyzer/flow/trip_count.h"

namespace warptime::flow {

struct KernelFlow {
  // `from`: what `graph` was built from.
  KernelFlow(KernelCode from, Cfg graph) : code(std::move(from)), cfg(std::move(graph)), evaluator(code, cfg), loops(evaluator), accesses(evaluator) {}
  KernelFlow(const KernelFlow&) = delete;
  KernelFlow& operator=(const KernelFlow&) = delete;

  KernelCode code;
  Cfg cfg;
  Evaluator evaluator;
  LoopAnalysis loops;
  AccessAnalysis accesses;
};

}  // namespace warptime::flow
