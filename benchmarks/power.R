# Power of the kernel two-sample test beside the energy test of the R package energy, on the same samples.
#
#     Rscript benchmarks/power.R [PAIRS]
#
# `energy::eqdist.etest` is the permutation test of Székely and Rizzo by the energy distance, which is the maximum mean discrepancy
# of the kernel -|x - y|; written in C by others. Both see standardised columns and draw 199 permutations. The pairs of samples are
# those of power.py in kind and size.
suppressMessages({library(lossdepth); library(energy)})

pairs <- commandArgs(trailingOnly = TRUE)
pairs <- if (length(pairs)) as.integer(pairs[1]) else 300L
options(lossdepth.threads = 1)

tasks <- data.frame(
  what = c("none", rep("shift", 3), rep("scale", 3), rep("correlation", 3), rep("shift", 2)),
  m = c(rep(50, 10), 80, 80), n = c(rep(50, 10), 30, 30), d = c(rep(3, 10), 10, 10),
  size = c(0, 0.25, 0.5, 0.75, 1.25, 1.5, 2, 0.3, 0.6, 0.9, 0.5, 1))

second <- function(what, y, size) {
  switch(what, none = y, shift = { y[, 1] <- y[, 1] + size; y }, scale = y * size,
         correlation = { y[, 2] <- size * y[, 1] + sqrt(1 - size^2) * y[, 2]; y })
}

cat(sprintf("lossdepth %s, energy %s, %d pairs, shares rejected at 5 %%, in percent\n", packageVersion("lossdepth"),
            packageVersion("energy"), pairs))
cat("difference    rows    columns  size   ours  energy  only ours  only energy\n")
for (k in seq_len(nrow(tasks))) {
  task <- tasks[k, ]
  rejected <- vapply(seq_len(pairs), function(seed) {
    set.seed(1000 * k + seed)
    x <- matrix(rnorm(task$m * task$d), task$m)
    y <- second(task$what, matrix(rnorm(task$n * task$d), task$n), task$size)
    ours <- compare(x, y, tests = "kernel", permutations = 199, seed = seed)$tests$p
    c(ours, eqdist.etest(scale(rbind(x, y)), c(task$m, task$n), R = 199)$p.value) <= 0.05
  }, c(NA, NA))
  cat(sprintf("%-12s %3d/%-3d  %7d  %4.2f  %5.1f  %6.1f  %9d  %11d\n", task$what, task$m, task$n, task$d, task$size,
              100 * mean(rejected[1, ]), 100 * mean(rejected[2, ]), sum(rejected[1, ] & !rejected[2, ]),
              sum(rejected[2, ] & !rejected[1, ])))
}
