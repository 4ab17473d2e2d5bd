# Where ddalpha's simplicial depth overflows: a case for the tests of the library, with the exact depths.
#
#     Rscript golden/make_classical_kept.R [FOLDER]
#
# Writes classical_kept.json. ddalpha computes the number of triangles by n (n - 1) (n - 2) in whole numbers of 32 bits: from 1,292
# rows on that is not their number. The exact depth: a triangle misses the query if it is in an open half plane at it, and then
# one of its corners has the two others on its left. Products of whole numbers below 2^53 are exact, so the signs are.
suppressMessages(library(ddalpha))

folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "golden"

numbers <- function(x) paste0("[", paste(format(x, digits = 17, trim = TRUE), collapse = ", "), "]")
rows <- function(m) paste0("[", paste(apply(m, 1, numbers), collapse = ",\n   "), "]")

exact <- function(z, x) {
  y <- sweep(x, 2, z)
  sides <- outer(y[, 1], y[, 2]) - t(outer(y[, 1], y[, 2]))
  stopifnot(all(sides[row(sides) != col(sides)] != 0))
  1 - sum(choose(rowSums(sides > 0), 2)) / choose(nrow(x), 3)
}

cases <- character()
for (n in c(1291, 1292)) {
  set.seed(n)
  x <- round(2^20 * matrix(rnorm(2 * n), n))
  z <- 2^20 * rbind(c(0.01, -0.02), c(0.7, -0.3), c(2, 1.5)) + 0.5
  cases <- c(cases, sprintf('{"rows": %s,\n  "queries": %s,\n  "ddalpha": %s,\n  "depth": %s}', rows(x), rows(z),
                            numbers(as.vector(depth.simplicial(z, x, exact = TRUE))), numbers(apply(z, 1, exact, x))))
}
head <- sprintf('{"made_by": "golden/make_classical_kept.R", "R": "%s", "ddalpha": "%s",\n "cases": [',
                paste(R.version$major, R.version$minor, sep = "."), packageVersion("ddalpha"))
writeLines(c(head, paste(cases, collapse = ",\n "), "]}"), file.path(folder, "classical_kept.json"))
