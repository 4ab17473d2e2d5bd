test_that("contributions of a linear depth add up", {
  fit <- lossdepth(iris[1:50, 1:4], method = "logistic", reg = 0.1, scale = "standard")
  why <- explain(fit, iris[c(42, 101), 1:4])
  expect_equal(why$baseline + rowSums(why$contributions), stats::setNames(why$value, c("42", "101")))
  expect_identical(colnames(why$contributions), names(iris)[1:4])
  expect_identical(dim(why$influence), c(2L, 50L))
  expect_identical(why$scores$depth, unname(predict(fit, iris[c(42, 101), ])))
  expect_output(print(why), "Petal.Width")
})

test_that("columns are those of the table", {
  frame <- mixed()
  why <- explain(lossdepth(frame, method = "logistic", scale = "standard"), frame[1:3, ])
  expect_identical(colnames(why$contributions), names(frame))
  expect_equal(unname(why$baseline + rowSums(why$contributions)), why$value, tolerance = 1e-9)
  expect_true(is.nan(why$slopes[1, "region"]) && is.finite(why$slopes[1, "price"]))
})

test_that("every method says what it has", {
  data <- cloud(30, 2, 12)
  expect_identical(dim(explain(lossdepth(data, method = "svm"), data[1:2, ])$witness), c(2L, 30L))
  cuts <- explain(lossdepth(iris, method = "forest"), iris[1:2, ])$cuts
  expect_true(all(cuts[[1]]$column %in% names(iris)))
  parts <- explain(lossdepth(iris), iris[1:2, ])$parts
  # The fourth part acts on gross errors only, with a weight of its own.
  expect_equal(sum(parts[[1]]$weight[1:3]), 1)
  for (method in depth_methods()$method) {
    expect_output(print(explain(lossdepth(data, method = method), data[1, ])), "depth", info = method)
  }
})
