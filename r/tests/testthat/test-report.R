test_that("a page has the oddest row, its reason and the title", {
  frame <- mixed()
  frame$price[20] <- 900
  page <- report(frame, top = 3, title = "A week of orders")
  expect_match(page$html, "^<!DOCTYPE html>")
  expect_match(page$html, "A week of orders", fixed = TRUE)
  expect_match(page$html, "900", fixed = TRUE)
  # Counted from 1.
  expect_match(page$html, "row 20", fixed = TRUE)
  expect_identical(page$rows, 120)
  expect_output(print(page), "120 rows")
  expect_identical(report(frame, top = 3, title = "A week of orders")$html, page$html)
})

test_that("it is written whole, and masked columns are not shown", {
  frame <- data.frame(secret = c(1234567, 1:39), other = rep(1:4, 10))
  file <- tempfile(fileext = ".html")
  page <- report(frame, file, method = "logistic", mask = "secret")
  expect_identical(readBin(file, "raw", file.size(file)), charToRaw(page$html))
  expect_no_match(page$html, "1234567", fixed = TRUE)
  expect_match(report(frame, method = "logistic")$html, "1234567", fixed = TRUE)
  expect_error(report(frame, mask = "secrets"), "secrets", class = "lossdepth_error")
  expect_error(report(frame, file.path(tempfile(), "x.html"), method = "logistic"), "no such folder")
})

test_that("a page compares with a reference or a fit", {
  new <- iris[c(1, 60), ]
  new$Petal.Length[2] <- 40
  page <- report(new, reference = iris, reference_name = "the flowers of 1936")
  expect_match(page$html, "the flowers of 1936", fixed = TRUE)
  by_fit <- report(lossdepth(iris), new, reference_name = "the flowers of 1936")
  expect_match(by_fit$html, "the flowers of 1936", fixed = TRUE)
  expect_identical(by_fit$rows, 2)
})
