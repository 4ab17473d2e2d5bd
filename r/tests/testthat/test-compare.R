test_that("a shift is found and named, and its absence too", {
  x <- as.data.frame(cloud(90, 3, 1))
  y <- as.data.frame(cloud(70, 3, 2))
  same <- compare(x, y, method = "logistic", permutations = 199)
  expect_true(all(same$tests$adjusted > 0.05))
  y$V2 <- y$V2 + 2
  moved <- compare(x, y, method = "logistic", permutations = 199)
  expect_identical(moved$tests$test, c("rank", "kernel", "classifier"))
  expect_true(all(moved$tests$adjusted <= 0.05))
  expect_identical(moved$shifts$column[1], "V2")
  expect_identical(moved$shifts$what[1], "median")
  expect_identical(moved$rows, c(90, 70))
  expect_identical(as.data.frame(moved), moved$shifts)
  expect_output(print(moved), "V2: median")
  expect_output(print(same), "No single column moved")
})

test_that("factors, gaps, weights and the number of rows are taken", {
  x <- mixed()
  y <- mixed()
  y$region[] <- "north"
  y$extra <- 1
  found <- compare(x, y, tests = "kernel", weights = list(rep(2, 120), NULL), permutations = 99)
  expect_identical(found$shifts$column[1], "region")
  expect_match(found$shifts$what[1], "share of")
  expect_identical(found$unmatched, "extra")
  few <- compare(x, x, tests = "kernel", max_rows = 100, permutations = 99)
  expect_identical(sum(few$used), 100)
  expect_identical(compare(x, y, tests = "rank", seed = 4)$tests, compare(x, y, tests = "rank", seed = 4)$tests)
})

test_that("bad arguments are named", {
  x <- cloud(20, 2, 3)
  expect_error(compare(x, x, tests = "ranks"), "rank, kernel, classifier", class = "lossdepth_error")
  expect_error(compare(x, x, weights = 1), "list of two")
  expect_error(compare(x, x, weights = list(1:3, NULL)), "weight")
  expect_error(compare(x, x, permutations = 3), "permutations")
  expect_error(compare(x, x[1:5, ]), "at least 8")
  expect_error(compare(x, x, 3, method = "logistic", nonsense = 1), class = "lossdepth_error")
})

test_that("a DD-plot shows the depths in both samples", {
  x <- cloud(40, 2, 4)
  y <- cloud(30, 2, 5) + 9
  found <- compare(x, y, tests = "kernel", method = "mahalanobis", missing = "error", permutations = 99)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  pairs <- plot(found, main = "Two clouds")
  expect_identical(lapply(pairs, dim), list(first = c(40L, 2L), second = c(30L, 2L)))
  expect_true(all(pairs$first[, 1] > pairs$first[, 2]))
  # The depth is affine-invariant: the common standardisation does not matter.
  expect_equal(pairs$second[, 2], unname(depth.mahalanobis(y, y)), tolerance = 1e-9)
})

test_that("Python and the command line find the same", {
  folder <- Sys.getenv("LOSSDEPTH_R_SHARED")
  skip_if(folder == "", "LOSSDEPTH_R_SHARED is not set: scripts/test-r sets it")
  rows <- utils::read.csv(file.path(folder, "rows.csv"), stringsAsFactors = FALSE)
  half <- seq_len(40)
  found <- compare(rows[half, ], rows[-half, ], permutations = 199)
  hex <- sprintf("%a", c(found$tests$statistic, found$tests$p, found$shifts$distance))
  for (other in c("python", "program")) {
    theirs <- as.numeric(readLines(file.path(folder, paste0("compare.", other))))
    expect_identical(hex, sprintf("%a", theirs), info = other)
  }
  bytes <- function(name) readBin(file.path(folder, name), "raw", file.size(file.path(folder, name)))
  rownames(rows) <- paste0("r", seq_len(nrow(rows)))
  page <- report(rows, top = 5, title = "Shared")
  expect_identical(charToRaw(page$html), bytes("report.html"))
  page <- report(rows[half, ], reference = rows[-half, ], top = 5)
  expect_identical(charToRaw(page$html), bytes("reference.html"))
})
