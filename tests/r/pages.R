# Runs the blocks of R that pages show: Rscript tests/r/pages.R PAGE...
# Blocks of a page run one after the other, in a folder of their own, with the objects that they speak of.
pages <- normalizePath(commandArgs(trailingOnly = TRUE))
library(lossdepth)
setwd(tempdir())
grDevices::pdf(NULL)
blocks <- 0
for (page in pages) {
  lines <- readLines(page, encoding = "UTF-8")
  at <- which(lines == "```r")
  scope <- new.env()
  scope$df <- iris
  scope$new <- iris[1:5, ]
  scope$x <- as.matrix(iris[1:5, 1:2])
  scope$data <- as.matrix(iris[, 1:2])
  for (start in at) {
    end <- start + which(lines[-seq_len(start)] == "```")[1]
    code <- lines[(start + 1):(end - 1)]
    tryCatch(
      for (call in parse(text = code, encoding = "UTF-8")) eval(call, scope),
      error = function(e) stop(basename(page), ": ", conditionMessage(e), "\n", paste(code, collapse = "\n"), call. = FALSE)
    )
    blocks <- blocks + 1
  }
}
stopifnot(blocks >= length(pages))
cat(blocks, "blocks of R ran\n")
