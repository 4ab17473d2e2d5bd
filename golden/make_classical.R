# Classical depths by ddalpha, for the tests of the library.
#
#     Rscript golden/make_classical.R [FOLDER]
#
# Writes classical_ddalpha.json: samples of several kinds in 1 to 5 columns, queries, and what ddalpha says of them; null where it
# stops with an error (a singular covariance, one column). Version numbers are recorded. ddalpha has no depth for one column but
# Mahalanobis; there the definitions are written out. The projection depth is that of random directions: `linearize` is not the
# supremum (it gives more depth than random directions find).
suppressMessages(library(ddalpha))

folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "golden"
set.seed(24)

number <- function(x) ifelse(is.finite(x), format(x, digits = 17, trim = TRUE), "null")
numbers <- function(x) paste0("[", paste(sapply(x, number), collapse = ", "), "]")
rows <- function(m) paste0("[", paste(apply(m, 1, numbers), collapse = ",\n   "), "]")
grid <- function(x) round(1024 * x) / 1024

sample_of <- function(kind, n, d) {
  x <- grid(matrix(rnorm(n * d), n))
  switch(kind,
    random = x,
    heavy = grid(x / sqrt(rchisq(n, 2) / 2)),
    rounded = round(2 * x) / 2,
    duplicated = x[rep(seq_len(ceiling(n / 2)), length.out = n), , drop = FALSE],
    # The last column is the sum of the others (or twice the first).
    lowrank = { x[, d] <- if (d > 2) rowSums(x[, -d]) else 2 * x[, 1]; x })
}

attempt <- function(expression, m) tryCatch(suppressWarnings(expression), error = function(e) rep(NA, m))

one <- list(
  mahalanobis = function(z, x) 1 / (1 + (z - mean(x))^2 / var(x)),
  spatial_none = function(z, x) 1 - abs(mean(sign(x - z))),
  l2_none = function(z, x) 1 / (1 + mean(abs(x - z))),
  potential = function(z, x) mean(exp(-(x - z)^2 / var(x) / (2 * length(x)^(-2 / 5)))),
  zonoid = function(z, x) if (z <= mean(x)) lowest(z, x) else lowest(-z, -x),
  simplicial = function(z, x) 1 - (choose(sum(x < z), 2) + choose(sum(x > z), 2)) / choose(length(x), 2),
  projection = function(z, x) 1 / (1 + abs(z - median(x)) / mad(x, constant = 1)))

# The largest share of the lowest numbers whose mean is at most z.
lowest <- function(z, x) {
  sums <- c(0, cumsum(sort(x) - z))
  k <- max(which(sums <= 0))
  if (k == length(sums)) 1 else (k - 1 - sums[k] / (sums[k + 1] - sums[k])) / length(x)
}

cases <- character()
# Odd: ddalpha takes one of the two middle numbers for the median of an even number.
sizes <- c(41, 41, 25, 17, 15)
for (d in 1:5) for (kind in c("random", "heavy", "rounded", "duplicated", if (d > 1) "lowrank")) {
  n <- sizes[d]
  x <- sample_of(kind, n, d)
  away <- grid(0.6 * matrix(rnorm(4 * d), 4))
  if (kind == "lowrank") away[, d] <- if (d > 2) rowSums(away[, -d]) else 2 * away[, 1]
  z <- rbind(x[1:2, , drop = FALSE], away, (x[3, ] + x[4, ]) / 2)
  if (kind == "rounded") z[3:6, ] <- round(2 * z[3:6, ]) / 2
  m <- nrow(z)
  if (d == 1) {
    depths <- lapply(one, function(f) sapply(z, f, x = x[, 1]))
  } else {
    h <- n^(-2 / (d + 4))
    depths <- list(
      mahalanobis = attempt(depth.Mahalanobis(z, x), m),
      spatial_none = attempt(depth.spatial(z, x, mah.estimate = "none"), m),
      spatial = attempt(depth.spatial(z, x), m),
      l2_none = attempt(depth.L2(z, x, mah.estimate = "none"), m),
      l2 = attempt(depth.L2(z, x), m),
      # Of a sum of densities to a mean of kernel values; ddalpha rounds d / 2 down in the constant of the density.
      potential = attempt(depth.potential(z, x) / (n * (2 * pi * h)^-(d %/% 2)), m),
      zonoid = attempt(depth.zonoid(z, x), m),
      simplicial = attempt(depth.simplicial(z, x, exact = TRUE), m),
      projection = attempt(depth.projection(z, x, num.directions = 20000, seed = 1), m))
  }
  named <- paste(sprintf('"%s": %s', names(depths), sapply(depths, numbers)), collapse = ",\n   ")
  cases <- c(cases, sprintf('{"kind": "%s", "columns": %d,\n  "rows": %s,\n  "queries": %s,\n  "depth": {%s}}',
                            kind, d, rows(x), rows(z), named))
}
head <- sprintf('{"made_by": "golden/make_classical.R", "R": "%s", "ddalpha": "%s",\n "cases": [',
                paste(R.version$major, R.version$minor, sep = "."), packageVersion("ddalpha"))
writeLines(c(head, paste(cases, collapse = ",\n "), "]}"), file.path(folder, "classical_ddalpha.json"))
