test_that("a data frame of numbers is the same as its matrix", {
  by_frame <- lossdepth(iris[, 1:4], method = "logistic", reg = 0.1)
  by_matrix <- lossdepth(as.matrix(iris[, 1:4]), method = "logistic", reg = 0.1)
  expect_identical(predict(by_frame), predict(by_matrix))
  expect_identical(by_frame$bytes, by_matrix$bytes)
  expect_identical(unname(predict(by_frame, iris)), predict(by_frame))
  # Columns are found by name.
  expect_identical(predict(by_frame, iris[, 5:1]), predict(by_frame, iris))
  expect_identical(predict(by_frame, unname(as.matrix(iris[, 1:4]))), predict(by_frame))
})

test_that("factors, texts, truth values, dates and gaps are compared", {
  frame <- mixed()
  fit <- lossdepth(frame)
  expect_identical(fit$about$encoding$kind, c("number", "category", "category", "boolean", "date", "number"))
  expect_equal(fit$about$encoding$gaps[1:2], c(2, 1) / nrow(frame))
  expect_length(predict(fit), nrow(frame))
  # Stored differently, but the same table.
  other <- frame
  other$region <- as.character(other$region)
  other$channel <- factor(other$channel, levels = c("web", "shop", "fair"))
  other$day <- as.POSIXlt(other$day)
  units(other$length) <- "secs"
  expect_equal(predict(fit, other), predict(fit, frame), tolerance = 1e-12)
  odd <- frame[1, ]
  odd$region <- factor("mars")
  expect_lt(predict(fit, odd), predict(fit, frame[1, ]))
})

test_that("rows that are dropped are NA", {
  frame <- mixed()
  fit <- lossdepth(frame, missing = "drop")
  depths <- predict(fit, frame)
  expect_identical(which(is.na(depths)), c(3L, 9L, 50L))
  expect_equal(depths[-c(3, 9, 50)], predict(fit))
  expect_identical(is.na(predict(fit, frame, "details")$error), is.na(depths))
})

test_that("weight k is k copies", {
  data <- cloud(30, 2, 8)
  weights <- rep(1:3, 10)
  weighted <- lossdepth(data, method = "logistic", reg = 0.1, weights = weights)
  copied <- lossdepth(data[rep(1:30, weights), ], method = "logistic", reg = 0.1)
  one <- predict(weighted, data, "details")
  other <- predict(copied, data, "details")
  expect_true(all(abs(one$depth - other$depth) <= one$error + other$error))
  expect_equal(predict(weighted, data, "percentile"), predict(copied, data, "percentile"))
})

test_that("formulas choose and transform columns", {
  by_formula <- lossdepth(~ Sepal.Length + log(Petal.Length), iris, method = "logistic")
  frame <- data.frame(iris[1], `log(Petal.Length)` = log(iris[[3]]), check.names = FALSE)
  expect_identical(predict(by_formula), predict(lossdepth(frame, method = "logistic")))
  expect_equal(unname(predict(by_formula, iris[7:9, ])), predict(by_formula)[7:9])
  expect_identical(lossdepth(~ . - Species, iris)$about$names, names(iris)[1:4])
  expect_identical(predict(lossdepth(~., iris[1:4], subset = Sepal.Length > 5)),
                   predict(lossdepth(iris[iris$Sepal.Length > 5, 1:4])))
  expect_error(lossdepth(Species ~ ., iris), "no left-hand side")
  expect_error(lossdepth(~ Sepal.Length * Sepal.Width, iris), "no interactions")
  expect_error(lossdepth(~ nothing, iris), "nothing")
})

test_that("update fits again", {
  fit <- lossdepth(~ Sepal.Length + Sepal.Width, iris, method = "logistic", reg = 0.1)
  expect_identical(update(fit, reg = 0.5)$settings$reg, 0.5)
  expect_identical(update(fit, ~ . + Petal.Width)$about$columns, 3)
  plain <- lossdepth(iris[1:4], "hinge")
  expect_identical(update(plain, method = "svm")$method, "svm")
})

test_that("predict gives percentiles, p-values, outliers and details", {
  fit <- lossdepth(cloud(200, 2, 9), method = "logistic", reg = 0.1)
  depths <- predict(fit)
  new <- rbind(c(0, 0), c(9, 9))
  expect_equal(predict(fit, type = "percentile"), rank(depths, ties.method = "max") / 200)
  expect_equal(predict(fit, new, "percentile"), ecdf(depths)(predict(fit, new)))
  expect_identical(sum(predict(fit, type = "outlier", contamination = 0.05)), 10L)
  expect_identical(predict(fit, new, "outlier"), c(FALSE, TRUE))
  p <- predict(fit, new, "p-value", calibration = "leave-one-out")
  expect_equal(p[2], 1 / 201)
  expect_gt(p[1], 0.1)
  details <- predict(fit, new, "details")
  expect_true(all(details$error <= 1e-6) && all(details$converged) && all(details$stderr > 0))
  expect_error(predict(fit, type = "outlier", contamination = 2), "contamination")
  expect_identical(fitted(fit), depths)
})

test_that("a row that missed the tolerance is warned of", {
  data <- cloud(60, 3, 10)
  expect_warning(predict(lossdepth(data, method = "logistic", reg = 1e-6, max_iter = 1)), "missed the tolerance")
})

test_that("a fit survives saveRDS", {
  file <- tempfile(fileext = ".rds")
  fit <- lossdepth(iris)
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file)), predict(fit))
})

test_that("bad input is named, with rows from 1", {
  x <- as.matrix(iris[, 1:4])
  x[3, 2] <- Inf
  expect_error(lossdepth(x), "column `Sepal.Width`, row 3 is not finite (Inf)", fixed = TRUE, class = "lossdepth_error")
  fit <- lossdepth(iris[, 1:4], method = "logistic")
  expect_error(predict(fit, x), "row 3, column `Sepal.Width` is not finite (Inf)", fixed = TRUE)
  x[3, 2] <- NA
  expect_error(lossdepth(x, method = "halfspace"), "column `Sepal.Width` has a gap in row 3")
  expect_error(lossdepth(iris, method = "halfspace"), "not categories (column `Species`)", fixed = TRUE)
  expect_error(predict(fit, x[, 1:3]), "lacks column `Petal.Width`")
  expect_error(predict(fit, unname(x[, 1:3])), "3 columns without names, the model has 4")
  expect_error(lossdepth(list(1)), "matrix or a data frame, got list")
  expect_error(lossdepth(NULL), "got NULL")
  expect_error(lossdepth(iris[0, ]), "row")
  expect_error(lossdepth(data.frame()), "no columns")
  expect_error(lossdepth(iris[1, ]), "at least 2 rows")
  expect_error(lossdepth(iris, weights = 1:3), "3 weights for 150 rows")
  expect_error(lossdepth(iris, weights = c(-1, rep(1, 149))), "weight 1 must be finite and not negative")
  expect_error(lossdepth(iris, "svm", 3), "settings must have names")
  expect_error(lossdepth(data.frame(a = 1:3, b = I(list(1, 2, 3)))), "column `b` must hold")
  expect_error(lossdepth(cbind(a = 1:3, a = 2:4)), "more than one is called `a`")
  expect_error(lossdepth(iris, kinds = "category"), "names of columns")
  expect_error(lossdepth(iris, kinds = c(Species = "thing")), "must be one of")
  expect_error(lossdepth(iris, missing = "no"), "`missing` must be one of")
  expect_error(lossdepth(iris, preset = "best"), "`preset` must be one of")
})

test_that("Ctrl-C stops a long call", {
  skip_on_cran()
  # Another process, which interrupts itself while the native code is at work: the work would take minutes.
  script <- tempfile(fileext = ".R")
  writeLines(c(
    paste0(".libPaths(", deparse1(.libPaths()), ")"), "library(lossdepth)", "set.seed(1)",
    "fit <- lossdepth(matrix(rnorm(2000 * 5), 2000), method = 'halfspace', budget = 1e6)",
    "system(paste('(sleep 1; kill -INT', Sys.getpid(), ') &'))",
    "result <- tryCatch({ predict(fit); 'done' }, interrupt = function(c) 'interrupted')",
    "cat(result)",
    # Work that is still ending must not keep the process.
    "quit(save = 'no')"
  ), script)
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE, stderr = FALSE)
  expect_identical(tail(out, 1), "interrupted")
})

test_that("results do not depend on threads or on the batch", {
  data <- cloud(80, 3, 11)
  fit <- lossdepth(data, method = "svm", reg = 0.1)
  all <- predict(fit, data)
  expect_identical(vapply(1:80, function(i) predict(fit, data[i, , drop = FALSE]), 1), all)
  old <- options(lossdepth.threads = 1)
  on.exit(options(old))
  expect_identical(predict(fit, data), all)
  options(lossdepth.threads = 0)
  expect_error(predict(fit, data), "`threads` must be a number from 1 to 4096, got 0")
})

test_that("columns of very different spread are a warning where they are compared as they are", {
  data <- cbind(age = 1:20, pay = 1000 * cos(1:20)) * rep(c(1, 10), each = 20)
  words <- "column `pay` varies .* times as much as `age`, which hardly counts with scale `none`"
  expect_warning(lossdepth(data, method = "logistic", scale = "none"), words)
  expect_silent(lossdepth(data, method = "logistic"))
  expect_silent(lossdepth(data, method = "logistic", preset = "paper"))
  expect_silent(lossdepth(data, method = "halfspace", scale = "none"))
  expect_identical(lossdepth(data, method = "svm")$settings$scale, "standard")
})
