# Halfspace depths by ddalpha's exact algorithms, for the tests of the library.
#
#     Rscript golden/make_halfspace.R [FOLDER]
#
# Writes halfspace_ddalpha.json: samples of several kinds in 2 to 5 columns, queries, and what ddalpha says of them.
# Version numbers are recorded. ddalpha has no depth for one column; there R's own ranks are used.
suppressMessages(library(ddalpha))

folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "golden"
set.seed(20)

numbers <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE), collapse = ", "), "]")
rows <- function(m) paste0("[", paste(apply(m, 1, numbers), collapse = ",\n   "), "]")

# Multiples of 1/1024: sums, midpoints and points on lines through the origin are then exact, so that ties are ties.
grid <- function(x) round(1024 * x) / 1024

sample_of <- function(kind, n, d) {
  x <- grid(matrix(rnorm(n * d), n))
  switch(kind,
    random = x,
    heavy = grid(x / sqrt(rchisq(n, 2) / 2)),
    rounded = round(2 * x) / 2,
    duplicated = x[rep(seq_len(ceiling(n / 3)), length.out = n), , drop = FALSE],
    # Half of the points on one line, the others anywhere.
    collinear = rbind(outer(grid(rnorm(n %/% 2)), grid(rnorm(d))), x[seq_len(n - n %/% 2), , drop = FALSE]))
}

one <- function(z, x) min(mean(x >= z), mean(x <= z))

# One case, as JSON.
case_of <- function(kind, x, z) {
  d <- ncol(x)
  depth <- if (d == 1) sapply(z, one, x = x) else depth.halfspace(z, x, exact = TRUE)
  sprintf('{"kind": "%s", "columns": %d,\n  "rows": %s,\n  "queries": %s,\n  "depth": %s}', kind, d, rows(x), rows(z), numbers(depth))
}

cases <- character()
sizes <- c(60, 60, 30, 16, 14)
for (d in 1:5) for (kind in c("random", "heavy", "rounded", "duplicated", "collinear")) {
  n <- sizes[d]
  x <- sample_of(kind, n, d)
  z <- rbind(x[1:2, , drop = FALSE], grid(0.6 * sample_of("random", 4, d)), grid(colMeans(x)), (x[3, ] + x[4, ]) / 2)
  if (kind == "rounded") z[3:7, ] <- round(2 * z[3:7, ]) / 2
  cases <- c(cases, case_of(kind, x, z))
}
# The last column is the sum of the others (or twice the first). The last two queries are off the span.
set.seed(21)
flat <- function(x) { d <- ncol(x); x[, d] <- if (d > 2) rowSums(x[, -d]) else 2 * x[, 1]; x }
for (d in 2:5) {
  x <- flat(sample_of("random", sizes[d], d))
  z <- rbind(x[1:2, ], flat(grid(0.6 * sample_of("random", 4, d))), (x[3, ] + x[4, ]) / 2, x[5, ], 0.5 * x[6, ])
  z[8:9, d] <- z[8:9, d] + 0.25
  cases <- c(cases, case_of("lowrank", x, z))
}
head <- sprintf('{"made_by": "golden/make_halfspace.R", "R": "%s", "ddalpha": "%s",\n "cases": [',
                paste(R.version$major, R.version$minor, sep = "."), packageVersion("ddalpha"))
writeLines(c(head, paste(cases, collapse = ",\n "), "]}"), file.path(folder, "halfspace_ddalpha.json"))
