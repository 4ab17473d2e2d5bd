# Classical depths in R beside ddalpha: processor time of one call, in turns, one thread.
#
#     Rscript benchmarks/classical.R
#
# A call is depth.NOTION(points, data) of either package: preparing the sample, and the points. Only exact notions; the ratio is the
# median of five turns. The last column is the largest difference of the depths: ddalpha's zonoid depth is off by up to 1e-5.
suppressMessages({library(lossdepth); library(ddalpha)})
options(lossdepth.threads = 1)

seconds <- function(call) {
  calls <- 0
  start <- sum(proc.time()[1:2])
  repeat {
    call()
    calls <- calls + 1
    spent <- sum(proc.time()[1:2]) - start
    if (spent > 0.2) return(spent / calls)
  }
}

# Notion, rows, columns, points.
tasks <- list(
  list("Mahalanobis", 1000, 2, 200), list("Mahalanobis", 1000, 5, 20000), list("spatial", 1000, 2, 200),
  list("spatial", 1000, 5, 1000), list("L2", 1000, 2, 200), list("L2", 1000, 5, 1000), list("potential", 1000, 2, 200),
  list("potential", 1000, 5, 1000), list("zonoid", 1000, 2, 200), list("zonoid", 1000, 5, 200),
  list("simplicial", 500, 2, 200), list("simplicial", 1200, 2, 1000), list("simplicial", 80, 3, 5),
  list("halfspace", 500, 2, 200), list("halfspace", 5000, 2, 1000), list("halfspace", 200, 3, 50), list("halfspace", 40, 4, 5))

cat(sprintf("lossdepth %s, ddalpha %s, R %s: milliseconds of processor time\n", packageVersion("lossdepth"),
            packageVersion("ddalpha"), getRversion()))
cat("notion        rows  columns  points      ours     ddalpha   ratio  difference\n")
for (task in tasks) {
  set.seed(1)
  n <- task[[2]]
  d <- task[[3]]
  data <- matrix(rnorm(n * d), n)
  points <- 0.7 * matrix(rnorm(task[[4]] * d), task[[4]])
  name <- paste0("depth.", task[[1]])
  exact <- if (task[[1]] %in% c("halfspace", "simplicial")) list(exact = TRUE)
  ours <- function() do.call(getExportedValue("lossdepth", name), c(list(points, data), exact))
  theirs <- function() as.vector(do.call(getExportedValue("ddalpha", name), c(list(points, data), exact)))
  a <- ours()
  b <- theirs()
  # ddalpha's potential is a sum of densities.
  difference <- if (task[[1]] == "potential") max(abs(a / b / (a[1] / b[1]) - 1)) else max(abs(a - b))
  turns <- replicate(5, c(seconds(ours), seconds(theirs)))
  cat(sprintf("%-12s %5d  %7d  %6d  %8.2f  %10.2f  %5.1fx  %10.1e\n", task[[1]], n, d, task[[4]], 1000 * median(turns[1, ]),
              1000 * median(turns[2, ]), median(turns[2, ] / turns[1, ]), difference))
}
