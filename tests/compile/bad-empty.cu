// expect: error: no kernel in bad-empty.cu
