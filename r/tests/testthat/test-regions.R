test_that("a region holds the points of its depth, and a bagplot half of the sample", {
  data <- cloud(60, 2, 1)
  for (depth in c(0.05, 0.2, 0.35)) {
    corners <- depth_region(data, depth)
    expect_identical(ncol(corners), 2L)
    middle <- colMeans(corners)
    # Just within every corner the depth is reached, just outside it is not.
    inside <- sweep(0.999 * sweep(corners, 2, middle), 2, middle, "+")
    outside <- sweep(1.001 * sweep(corners, 2, middle), 2, middle, "+")
    expect_true(all(depth.halfspace(inside, data) >= depth - 1e-12), info = depth)
    expect_true(all(depth.halfspace(outside, data) < depth), info = depth)
  }
  expect_identical(nrow(depth_region(data, 0.9)), 0L)
  expect_length(depth_region(data, c(0.1, 0.2)), 2)
  found <- bagplot(data, plot = FALSE)
  expect_equal(found$median, deepest_point(lossdepth(data, method = "halfspace"))$point, ignore_attr = TRUE)
  expect_equal(found$depths, depth.halfspace(data, data))
  # The bag is between the regions with more and with less than half of the rows.
  deep <- sort(found$depths, decreasing = TRUE)[c(29, 31)]
  expect_true(all(depth.halfspace(found$bag, data) >= min(deep) - 1 / 60 - 1e-9))
})

test_that("outliers are beyond the fence, and the picture names them", {
  data <- rbind(cloud(50, 2, 2), c(9, 9), c(-8, 7))
  found <- bagplot(data, plot = FALSE)
  expect_true(all(c(51, 52) %in% found$outliers))
  expect_true(length(bagplot(data, factor = 100, plot = FALSE)$outliers) == 0)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  drawn <- bagplot(as.data.frame(data), main = "Two far rows")
  expect_identical(unname(drawn$fence), unname(found$fence))
  expect_identical(names(drawn$median), c("V1", "V2"))
  expect_identical(bagplot(lossdepth(data, method = "svm"), plot = FALSE)$outliers, found$outliers)
})

test_that("what has no regions is refused", {
  expect_error(bagplot(iris[, 1:3]), "two columns, got 3", class = "lossdepth_error")
  expect_error(bagplot(cloud(20, 2, 3), factor = 0.5), "at least 1", class = "lossdepth_error")
  expect_error(bagplot(cloud(20, 2, 3), factor = NA), "one number", class = "lossdepth_error")
  expect_error(depth_region(cloud(20, 2, 3), 2), "above 0 and at most 1", class = "lossdepth_error")
  expect_error(depth_region(cloud(20, 2, 3), "a"), "one or more numbers", class = "lossdepth_error")
})
