#' Compare two samples
#'
#' Tests whether two samples come from one distribution, and finds the columns that moved. Three permutation tests, valid
#' for every sample size: by depth ranks (Liu and Singh), by the maximum mean discrepancy, and by a classifier on rows that
#' it was not trained on.
#'
#' @param x,y Data frames or matrices, whose columns are matched by name. For the methods, `x` is what `compare` returned and
#'   `y` is not used.
#' @param tests Which tests to do.
#' @param method The depth of the rank test and of the DD-plot.
#' @param ... Settings of the method, as in [lossdepth()]; for `plot`, passed to [graphics::plot.default()].
#' @param weights A list of two: the weights of the rows of `x` and of `y`, or `NULL`.
#' @param kinds,missing As in [outliers()].
#' @param permutations How many random permutations to draw.
#' @param max_rows How many rows of both samples together to use at most, chosen at random.
#' @param seed Where the random choices start.
#'
#' @return An object of class `lossdepth_comparison`, a list of
#'   * `tests`: a data frame of `test`, `statistic`, `p` and `adjusted`, the p-value adjusted for the number of tests
#'     (Holm). The statistic of `rank` is the chance that a row of `x` is less deep than one of `y`, that of `kernel` the
#'     squared maximum mean discrepancy, that of `classifier` the risk on held-out rows, 1 for guessing;
#'   * `shifts`: a data frame, a row for each column, the least likely to be chance first: what changed (`what`), its value
#'     in either sample (`first`, `second`), the distance of the two distributions, `p` and `adjusted`;
#'   * `rows`, `used`: how many rows the samples have, and how many of them the tests used;
#'   * `unmatched`: columns that only one of the samples has.
#'
#'   `as.data.frame` gives the shifts. `plot` draws a DD-plot, the depths of both samples in the first and in the second:
#'   without a difference they lie along the diagonal. It returns the depths invisibly, a matrix for each sample.
#' @examples
#' found <- compare(iris[1:50, 1:4], iris[51:100, 1:4], permutations = 199)
#' found
#' plot(found)
#' @export
compare <- function(x, y, tests = c("rank", "kernel", "classifier"), method = "auto", ..., weights = NULL, kinds = NULL,
                    missing = "compare", permutations = 999, max_rows = 5000, seed = 0) {
  names <- c(deparse1(substitute(x)), deparse1(substitute(y)))
  if (!is.null(weights) && (!is.list(weights) || length(weights) != 2L)) {
    fail("`weights` must be a list of two")
  }
  settings <- list(...)
  if (length(settings) && (is.null(names(settings)) || !all(nzchar(names(settings))))) {
    fail("settings must have names, as in reg = 0.1")
  }
  first <- as_columns(x, kinds)
  second <- as_columns(y, kinds, "y")
  as_weights <- function(given) if (!is.null(given)) as.double(given)
  asked <- list(
    first$columns, second$columns, as_weights(weights[[1L]]), as_weights(weights[[2L]]), tests, method, settings,
    first$kinds, missing, permutations, seed, max_rows, threads_to_use()
  )
  found <- answer(.Call(wrap__native_compare, asked))
  # What a plot needs, computed when there is one.
  state <- new.env(parent = emptyenv())
  state$asked <- asked
  structure(
    list(
      tests = as.data.frame(found$tests), shifts = as.data.frame(found$shifts), rows = found$rows, used = found$used,
      unmatched = as.character(found$unmatched), names = names, method = method, encoding = found$encoding, state = state
    ),
    class = "lossdepth_comparison"
  )
}

#' @export
print.lossdepth_comparison <- function(x, ...) {
  cat("Samples of ", counted(x$rows[1L], "row"), " and ", counted(x$rows[2L], "row"), "\n", sep = "")
  about_columns(x$encoding)
  if (length(x$unmatched)) {
    cat("unmatched: ", paste(x$unmatched, collapse = ", "), "\n", sep = "")
  }
  cat(paste0(
    "  ", format(x$tests$test), "  statistic ", format(signif(x$tests$statistic, 4L)), "  p ", format(signif(x$tests$p, 4L)),
    "  adjusted ", format(signif(x$tests$adjusted, 4L)), "\n"
  ), sep = "")
  moved <- x$shifts[x$shifts$adjusted <= 0.05, ]
  if (nrow(moved) == 0L) {
    cat("No single column moved by more than chance explains.\n")
  } else {
    cat(paste0(
      "  ", moved$column, ": ", moved$what, " ", moved$first, " -> ", moved$second, " (adjusted p ",
      signif(moved$adjusted, 4L), ")\n"
    ), sep = "")
  }
  invisible(x)
}

#' @rdname compare
#' @param row.names,optional As in [as.data.frame()].
#' @export
as.data.frame.lossdepth_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  x$shifts
}

#' @rdname compare
#' @param names What to call the samples.
#' @param col The colours of the samples.
#' @export
plot.lossdepth_comparison <- function(x, y, names = x$names, col = c("#2e6f9e", "#d1495b"), ...) {
  if (is.null(x$state$pairs)) {
    found <- answer(.Call(wrap__native_depth_pairs, x$state$asked))
    x$state$pairs <- lapply(found, matrix, ncol = 2L, dimnames = list(NULL, c("first", "second")))
  }
  pairs <- x$state$pairs
  ends <- c(0, max(unlist(pairs)))
  arguments <- utils::modifyList(
    list(xlab = paste("depth in", names[1L]), ylab = paste("depth in", names[2L])),
    list(...)
  )
  # A square, so that the diagonal is one.
  old <- graphics::par(pty = "s")
  on.exit(graphics::par(old))
  do.call(graphics::plot.default, c(list(ends, ends, type = "n"), arguments))
  graphics::abline(0, 1, col = "grey40")
  for (k in 1:2) {
    graphics::points(pairs[[k]], pch = c(16L, 17L)[k], cex = 0.8, col = grDevices::adjustcolor(col[k], 0.75))
  }
  graphics::legend("topright", legend = names, col = col, pch = c(16L, 17L), bg = "white", box.lty = 0)
  invisible(pairs)
}
