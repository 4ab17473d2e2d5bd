test_that("a planted error comes first, with its reason", {
  frame <- stats::na.omit(mixed())
  rownames(frame) <- NULL
  frame$price[20] <- 900
  found <- outliers(frame, top = 3)
  expect_s3_class(found, "data.frame")
  expect_identical(nrow(found), 3L)
  expect_identical(found$row[1], 20L)
  expect_match(found$why[1], "^price 900.*highest of all")
  expect_match(found$ordinary_with[1], "price")
  expect_equal(found$p[1], 1 / nrow(frame))
  reasons <- attr(found, "reasons")[["20"]]
  expect_identical(reasons$column[1], "price")
  expect_true(all(reasons$share >= 0 & reasons$share <= 1))
})

test_that("rows have the names that the table gives them", {
  expect_true(all(outliers(mtcars, top = 3)$name %in% rownames(mtcars)))
  frame <- cbind(order = sprintf("ORD-%04d", 1:120), mixed())
  found <- outliers(frame, top = 2)
  expect_identical(found$name, frame$order[found$row])
  expect_true(is.na(outliers(iris, top = 1)$name))
})

test_that("the same rows as by prediction", {
  found <- outliers(iris, top = 5)
  depths <- predict(lossdepth(iris))
  expect_identical(found$row, order(depths)[1:5])
  expect_identical(found$depth, sort(depths)[1:5])
})

test_that("new rows are compared with a reference, or with a fit", {
  new <- iris[c(1, 60), ]
  new$Petal.Length[2] <- 40
  found <- outliers(new, reference = iris, top = 1)
  expect_identical(found$row, 2L)
  expect_match(found$why, "Petal.Length 40")
  by_fit <- outliers(lossdepth(iris), new, top = 1)
  expect_identical(by_fit$why, found$why)
  expect_identical(by_fit$depth, found$depth)
  plain <- outliers(lossdepth(iris[, 1:4], method = "svm", scale = "standard"), new, top = 1)
  expect_match(plain$why, "Petal.Length 40")
})

test_that("it prints, whole or in part", {
  found <- outliers(mtcars, top = 2)
  expect_output(print(found), "The 2 oddest of 32 rows")
  expect_output(print(found[2, ]), "The 1 oddest of 32 rows")
  expect_output(print(found[, 1:2]), "row")
  expect_s3_class(as.data.frame(found), "data.frame", exact = TRUE)
  expect_identical(nrow(outliers(mtcars, top = 0)), 0L)
  expect_output(print(outliers(mtcars, top = 0)), "The 0 oddest")
  expect_error(outliers(mtcars, top = -1), "`top` must be a whole number")
  expect_error(outliers(mtcars, reasons = 0), "`reasons`")
})
