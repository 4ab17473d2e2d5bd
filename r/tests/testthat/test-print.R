test_that("print and summary say what was fitted", {
  fit <- lossdepth(mixed())
  expect_output(print(fit), "reference: 120 rows, 6 columns")
  expect_output(print(fit), "price (2% gaps)", fixed = TRUE)
  about <- summary(fit)
  expect_identical(unname(about$depths[1]), min(predict(fit)))
  expect_output(print(about), "outliers at contamination 0.1")
})

test_that("plots are drawn", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit(grDevices::dev.off())
  map <- plot(lossdepth(faithful, method = "svm", scale = "standard"), resolution = 20)
  expect_identical(dim(map$depth), c(20L, 20L))
  expect_true(all(map$depth >= 0 & map$depth <= 1))
  expect_identical(plot(lossdepth(faithful, method = "spatial"), resolution = 9, levels = c(0.2, 0.5))$depth[5, 5] > 0, TRUE)
  expect_length(plot(lossdepth(iris)), 150)
  expect_error(plot(lossdepth(iris), type = "map"), "two complete columns")
})

test_that("methods and settings are listed", {
  expect_true(all(c("auto", "logistic", "halfspace") %in% depth_methods()$method))
  expect_true(all(c("reg", "scale", "tol") %in% depth_settings("logistic")$setting))
  expect_identical(depth_settings("RF"), depth_settings("forest"))
})
