// The occupancy calculator is host code.
#pragma once
