test_that("the zonoid depth is deepest at the mean", {
  data <- cloud(40, 2, 1)
  found <- deepest_point(lossdepth(data, method = "zonoid"))
  expect_equal(found$point, colMeans(data), tolerance = 1e-12)
  expect_named(deepest_point(lossdepth(faithful, method = "zonoid"))$point, names(faithful))
  expect_identical(found$found, "proven")
  expect_identical(found$depth, 1)
})

test_that("the central region has the deepest rows and their mean", {
  data <- as.data.frame(cloud(41, 3, 2))
  for (method in c("spatial", "mahalanobis", "logistic")) {
    fit <- lossdepth(data, method = method)
    depths <- predict(fit)
    found <- central_region(fit, 0.5)
    expect_equal(found$rows, unname(which(depths >= sort(depths, decreasing = TRUE)[21])), info = method)
    expect_equal(found$mean, colMeans(data[found$rows, ]), tolerance = 1e-12, info = method)
    expect_equal(found$share, 21 / 41, tolerance = 1e-12)
    deepest <- deepest_point(fit)
    expect_equal(deepest$row, unname(which.max(depths)), info = method)
    expect_equal(unname(predict(fit, t(deepest$point))), deepest$depth, info = method)
    expect_gte(deepest$depth, max(depths))
  }
})

test_that("what has no centre is refused", {
  expect_error(deepest_point(lossdepth(iris, method = "forest")), "needs columns of numbers", class = "lossdepth_error")
  fit <- lossdepth(faithful, method = "zonoid")
  expect_error(central_region(fit, 0), "above 0 and at most 1", class = "lossdepth_error")
  expect_error(central_region(fit, "x"), "one number", class = "lossdepth_error")
  expect_error(deepest_point(1), "fit of lossdepth", class = "lossdepth_error")
})
