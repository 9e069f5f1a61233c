#include "simulator/model/stream_timeline.h"

#include <gtest/gtest.h>

namespace warptime {
namespace {

using Engine = StreamEngine;

// Tiles: copy in, kernels, copy out, in so many streams in turn.
double tiles(int count, std::size_t streams, double in_us, double kernels_us, double out_us,
             double both_ways = 1) {
  StreamTimeline timeline(both_ways);
  for (int i = 0; i < count; ++i) {
    const std::size_t stream = static_cast<std::size_t>(i) % streams;
    timeline.add(stream, Engine::to_device, in_us);
    timeline.add(stream, Engine::kernels, kernels_us);
    timeline.add(stream, Engine::to_host, out_us);
  }
  return timeline.total_us();
}

TEST(StreamTimeline, WithoutOperationsTakesNoTime) {
  EXPECT_EQ(StreamTimeline().total_us(), 0);
}

TEST(StreamTimeline, OneStreamTakesTheSum) {
  EXPECT_DOUBLE_EQ(tiles(1, 1, 3, 1, 2), 6);
  EXPECT_DOUBLE_EQ(tiles(10, 1, 3, 1, 2), 60);
  EXPECT_DOUBLE_EQ(tiles(10, 1, 3, 1, 2, 0.5), 60);  // copies never meet
}

TEST(StreamTimeline, APipelineTakesItsBottleneckAndTheFill) {
  EXPECT_DOUBLE_EQ(tiles(10, 4, 3, 1, 2), 10 * 3 + 1 + 2);
  EXPECT_DOUBLE_EQ(tiles(10, 4, 1, 3, 2), 1 + 10 * 3 + 2);
  EXPECT_DOUBLE_EQ(tiles(10, 4, 1, 2, 3), 1 + 2 + 10 * 3);
}

TEST(StreamTimeline, TwoStreamsWaitForTheirTiles) {
  // A stream takes 6 for a tile, whose parts are equal: two of three engines work.
  EXPECT_DOUBLE_EQ(tiles(10, 2, 2, 2, 2), 5 * 6 + 2);
  EXPECT_DOUBLE_EQ(tiles(10, 3, 2, 2, 2), 10 * 2 + 4);
}

TEST(StreamTimeline, CopiesBothWaysShareTheBus) {
  StreamTimeline timeline(0.5);
  timeline.add(0, Engine::to_device, 4);
  timeline.add(1, Engine::to_host, 2);
  EXPECT_DOUBLE_EQ(timeline.total_us(),
                   6);  // 4 for the shorter one and half of the other, 2 for what is left
}

TEST(StreamTimeline, KernelsAreNotSlowedByCopies) {
  StreamTimeline timeline(0.5);
  timeline.add(0, Engine::to_device, 4);
  timeline.add(1, Engine::kernels, 4);
  EXPECT_DOUBLE_EQ(timeline.total_us(), 4);
}

TEST(StreamTimeline, EnginesTakeOperationsInTheOrderOfTheirIssue) {
  StreamTimeline timeline;
  timeline.add(0, Engine::kernels, 5);
  timeline.add(0, Engine::to_host, 1);
  timeline.add(1, Engine::to_host, 1);  // could begin at once, but stands behind the other
  EXPECT_DOUBLE_EQ(timeline.total_us(), 7);
}

TEST(StreamTimeline, WhatFollowsAJoinWaitsForAll) {
  StreamTimeline timeline;
  timeline.add(0, Engine::to_device, 5);
  timeline.add(1, Engine::kernels, 1);
  timeline.join();
  EXPECT_EQ(timeline.waiting(), 0u);
  timeline.add(1, Engine::kernels, 1);
  EXPECT_DOUBLE_EQ(timeline.total_us(), 6);
}

TEST(StreamTimeline, OperationsOfNoTime) {
  EXPECT_DOUBLE_EQ(tiles(5, 2, 0, 0, 0), 0);
  EXPECT_DOUBLE_EQ(tiles(5, 2, 0, 3, 0), 15);
}

TEST(StreamTimeline, ManyTiles) {
  EXPECT_NEAR(tiles(200'000, 4, 3, 1, 2), 200'000.0 * 3 + 3, 1e-3);
}

TEST(StreamTimeline, NeighboursOnOneEngineAreOneOperation) {
  StreamTimeline timeline;
  for (int i = 0; i < 1000; ++i) timeline.add(0, Engine::to_host, 1);
  EXPECT_EQ(timeline.waiting(), 1u);
  EXPECT_DOUBLE_EQ(timeline.total_us(), 1000);
}

}  // namespace
}  // namespace warptime
