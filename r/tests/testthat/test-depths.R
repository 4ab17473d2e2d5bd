test_that("the halfspace depth is what its definition says", {
  # Brute force in the plane: the emptiest closed halfplane has points of the sample arbitrarily close to its border.
  brute <- function(z, data) {
    moved <- sweep(data, 2, z)
    moved <- moved[rowSums(moved^2) > 0, , drop = FALSE]
    at_z <- nrow(data) - nrow(moved)
    angles <- atan2(moved[, 2], moved[, 1])
    # Between any two directions that are critical nothing changes: try one in every gap.
    critical <- sort(unique(c(angles + pi / 2, angles - pi / 2) %% (2 * pi)))
    tried <- (critical + c(critical[-1], critical[1] + 2 * pi)) / 2
    counts <- vapply(tried, function(t) sum(moved %*% c(cos(t), sin(t)) >= 0), 1)
    (at_z + min(counts)) / nrow(data)
  }
  data <- cloud(40, 2, 1)
  points <- rbind(data[1:10, ], cloud(10, 2, 2), c(9, 9))
  expect_equal(depth.halfspace(points, data), apply(points, 1, brute, data), tolerance = 1e-12)
})

test_that("the halfspace depth equals ddalpha's", {
  skip_if_not_installed("ddalpha")
  # It takes two columns or more.
  for (d in 2:4) {
    data <- cloud(30, d, d)
    points <- rbind(data[1:5, , drop = FALSE], cloud(5, d, 10 + d), rep(5, d))
    theirs <- ddalpha::depth.halfspace(points, data, exact = TRUE)
    expect_equal(depth.halfspace(points, data, exact = TRUE), as.vector(theirs), tolerance = 1e-12, info = d)
  }
})

test_that("the logistic depth is the risk of R's own logistic regression", {
  # Without a penalty to speak of: weights 1/2n for the sample and 1/2 for the point, losses in bits.
  data <- cloud(50, 2, 3)
  z <- c(0.5, -0.3)
  frame <- data.frame(rbind(data, z), y = c(rep(1, 50), 0), w = c(rep(1 / 100, 50), 1 / 2))
  fit <- suppressWarnings(glm(y ~ X1 + X2, binomial, frame, weights = w, control = list(epsilon = 1e-14)))
  eta <- predict(fit) * ifelse(frame$y == 1, 1, -1)
  risk <- sum(frame$w * log2(1 + exp(-eta)))
  ours <- lossdepth(data, method = "logistic", reg = 1e-9, tol = 1e-9, scale = "none")
  expect_equal(predict(ours, z), risk, tolerance = 1e-6)
})

test_that("every method has its function, and every function its method", {
  named <- setdiff(ls(getNamespace("lossdepth"), pattern = "^depth[.]."), "depth.")
  expect_setequal(gsub(".", "-", sub("^depth[.]", "", tolower(named)), fixed = TRUE), depth_methods()$method)
  data <- cloud(25, 2, 4)
  for (name in unique(tolower(named))) {
    found <- getExportedValue("lossdepth", name)(rbind(c(0, 0), c(8, 8)), data)
    expect_true(all(found >= 0 & found <= 1) && found[1] > found[2], info = name)
  }
})

test_that("a vector is one point, or several of one column", {
  data <- cloud(20, 2, 5)
  expect_equal(depth.halfspace(c(0, 0), data), depth.halfspace(rbind(c(0, 0)), data))
  expect_length(depth.halfspace(c(0, 1, 2), matrix(1:9)), 3)
  expect_error(depth.halfspace(c(1, 2, 3), data), "3 numbers, the model 2 columns")
})

test_that("classical depths equal ddalpha's", {
  skip_if_not_installed("ddalpha")
  for (d in 2:4) {
    data <- cloud(25, d, 20 + d)
    points <- rbind(data[1:3, ], 0.5 * cloud(4, d, 30 + d))
    for (name in c("Mahalanobis", "spatial", "L2", "zonoid")) {
      ours <- getExportedValue("lossdepth", paste0("depth.", name))(points, data)
      theirs <- getExportedValue("ddalpha", paste0("depth.", name))(points, data)
      expect_equal(ours, as.vector(theirs), tolerance = 1e-7, info = paste(name, d))
    }
    if (d < 4) {
      theirs <- ddalpha::depth.simplicial(points, data, exact = TRUE)
      expect_equal(depth.simplicial(points, data), as.vector(theirs), tolerance = 1e-12, info = d)
    }
  }
})

test_that("a halfspace depth by directions is not below the exact one", {
  data <- cloud(40, 3, 6)
  exact <- depth.halfspace(data, data)
  expect_true(all(depth.halfspace(data, data, exact = FALSE, num.directions = 50) >= exact - 1e-12))
})

test_that("arguments of ddalpha that change nothing are announced", {
  data <- cloud(20, 2, 6)
  expect_message(depth.halfspace(c(0, 0), data, num.directions = 10, seed = 1), "`num.directions`, `seed` not used")
  expect_silent(depth.halfspace(c(0, 0), data, TRUE))
  expect_error(depth.potential(c(0, 0), data, kernel = "EDKernel"), "GKernel")
})

test_that("names are understood in any case, and settings are checked", {
  data <- cloud(20, 2, 6)
  expect_identical(depth.(data, data, "Tukey"), depth.halfspace(data, data))
  expect_error(depth.(data, data, "zonoids"), "must be one of .*halfspace", class = "lossdepth_error")
  expect_error(depth.logistic(data, data, reg = -1), "`reg` must be a positive, finite number, got -1")
  expect_error(depth.logistic(data, data, reg = "a"), '`reg` must be a number, got "a"')
  expect_error(depth.logistic(data, data, gamma = 1), "method `logistic` has no setting `gamma`; it has reg")
  expect_error(depth.mlp(data, data, seed = 1.5), "`seed` must be a whole number, not negative, got 1.5")
  expect_error(depth.svm(data, data, gamma = NA), "`gamma` must be a number or a name, got NA")
})

test_that("depth. takes ddalpha's arguments of the notion", {
  data <- cloud(30, 2, 8)
  points <- cloud(4, 2, 9)
  expect_identical(depth.(points, data, "Mahalanobis", mah.estimate = "MCD"), depth.Mahalanobis(points, data, "MCD"))
  expect_message(found <- depth.(points, data, "simplicial", exact = FALSE, k = 0.05), "`exact`, `k` not used")
  expect_identical(found, depth.simplicial(points, data))
  expect_identical(depth.(points, data, "L2", mah.estimate = "none"), depth.L2(points, data, mah.estimate = "none"))
  expect_identical(depth.(points, data, "halfspace", exact = FALSE, num.directions = 20),
                   depth.halfspace(points, data, exact = FALSE, num.directions = 20))
  expect_error(depth.(points, data, "zonoid", mah.estimate = "MCD"), "no setting `mah.estimate`")
})

test_that("arguments have ddalpha's names and order", {
  skip_if_not_installed("ddalpha")
  for (notion in c("", "halfspace", "Mahalanobis", "spatial", "projection", "zonoid", "simplicial", "L2", "potential")) {
    name <- paste0("depth.", notion)
    theirs <- names(formals(getExportedValue("ddalpha", name)))
    ours <- names(formals(getExportedValue("lossdepth", name)))
    expect_identical(ours[seq_along(theirs)], theirs, info = name)
  }
})
