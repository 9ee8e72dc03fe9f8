#!/bin/bash
# assets/counters/INDEX.md is what kernels/collect/index.sh makes of the recordings; each row says how it was taken and names a reader
# that reads it.
# Not with sanitizers: it runs little or nothing of ours.
exec kernels/collect/index.sh --check
