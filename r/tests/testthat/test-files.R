test_that("a loaded model gives the same bits", {
  for (fit in list(lossdepth(iris), lossdepth(iris[, 1:4], method = "svm", gamma = 0.3), lossdepth(cloud(30, 2, 13)))) {
    file <- tempfile(fileext = ".safetensors")
    expect_identical(save_model(fit, file), file)
    same <- load_model(file)
    expect_identical(predict(same), predict(fit))
    expect_identical(same$settings, fit$settings)
    expect_identical(same$about, fit$about)
  }
})

test_that("bad files are refused by name", {
  file <- tempfile()
  writeLines("no model", file)
  expect_error(load_model(file), "not a lossdepth model", class = "lossdepth_error")
  expect_error(load_model(file), file, fixed = TRUE)
  expect_error(load_model(tempfile()), "no such file")
  expect_error(load_model(tempdir()), "no such file")
  expect_error(load_model(3), "name of a file")
  expect_error(save_model(lossdepth(iris), file.path(tempfile(), "x")), "no such folder")
  expect_error(save_model(3, tempfile()), "must be a fit")
  whole <- lossdepth(iris)$bytes
  for (cut in c(1, 100, length(whole) - 1)) {
    writeBin(whole[seq_len(cut)], file)
    expect_error(load_model(file), class = "lossdepth_error")
  }
})

test_that("R, Python and the command line give the same bits", {
  # `scripts/test-r` makes the files: a model and rows from Python, and the depths that Python and the program found.
  folder <- Sys.getenv("LOSSDEPTH_R_SHARED")
  skip_if(folder == "", "LOSSDEPTH_R_SHARED is not set: scripts/test-r sets it")
  rows <- utils::read.csv(file.path(folder, "rows.csv"), stringsAsFactors = FALSE)
  models <- list.files(folder, "[.]safetensors$", full.names = TRUE)
  expect_gt(length(models), 2)
  for (file in models) {
    hex <- sprintf("%a", predict(load_model(file), rows))
    for (other in c("python", "program")) {
      theirs <- readLines(sub("safetensors$", other, file))
      expect_identical(hex, sprintf("%a", as.numeric(theirs)), info = paste(basename(file), other))
    }
  }
})
