#' Depth regions and bagplots of two columns
#'
#' `depth_region()` gives the set of all points of at least some halfspace depth, a convex polygon. `bagplot()` draws the
#' bagplot of Rousseeuw, Ruts and Tukey (1999): the deepest point, the inner half of the sample (the bag), the hull of the
#' rows within the fence, and the outliers beyond it. Which lines bound a region is exact; its vertices are rounded. The time grows
#' with the square of the number of rows: seconds for 2,000, a minute for 10,000.
#'
#' @param x A matrix or data frame with two columns of numbers, or a fit of [lossdepth()] to one.
#' @param depth The depths of the regions, above 0 and at most 1.
#' @param factor How many times as far from the median as the bag the fence is.
#' @param plot Whether to draw.
#' @param label How many of the outliers to name, by the names of the rows or their numbers, the shallowest first.
#' @param col The colours of the hull, the bag and the outliers.
#' @param main,xlab,ylab Titles.
#' @param ... Passed to [graphics::plot.default()].
#' @return `depth_region()`: a matrix with a row for each vertex, counterclockwise: two for a segment, one for a point, none
#'   if no point is as deep; for several depths a list of them. `bagplot()`: a list of `median`, its `depth`, the polygons `bag`,
#'   `hull` and `fence`, the numbers of the `outliers`, and the `depths` of all rows; invisibly if it draws.
#' @seealso [plot.lossdepth()] for contours of any depth, [deepest_point()] for medians in more columns.
#' @examples
#' found <- bagplot(faithful)
#' found$median
#' polygon(depth_region(faithful, 0.25), border = "black")
#' @name regions
NULL

#' @rdname regions
#' @export
depth_region <- function(x, depth) {
  if (!is.numeric(depth) || length(depth) == 0L || anyNA(depth)) {
    fail("`depth` must be one or more numbers")
  }
  fit <- planar(x)
  found <- lapply(answer(.Call(wrap__native_regions, pointer(fit), as.double(depth))), vertices, fit)
  if (length(found) == 1L) found[[1L]] else found
}

#' @rdname regions
#' @export
bagplot <- function(x, factor = 3, plot = TRUE, label = 5, col = c("#cfe0ec", "#8db8d6", "#d1495b"), main = "Bagplot",
                    xlab = NULL, ylab = NULL, ...) {
  if (!is.numeric(factor) || length(factor) != 1L || is.na(factor)) {
    fail("`factor` must be one number")
  }
  fit <- planar(x)
  found <- answer(.Call(wrap__native_bagplot, pointer(fit), as.double(factor)))
  parts <- list(
    median = stats::setNames(found$median, found$names), depth = found$depth, bag = vertices(found$bag, fit),
    hull = vertices(found$hull, fit), fence = vertices(found$fence, fit), outliers = found$outliers,
    depths = found$depths
  )
  if (!plot) {
    return(parts)
  }
  rows <- vertices(found$rows, fit)
  names <- if (fit$about$named) colnames(rows) else c("x[, 1]", "x[, 2]")
  graphics::plot.default(rows, type = "n", main = main, xlab = if (is.null(xlab)) names[1L] else xlab,
                         ylab = if (is.null(ylab)) names[2L] else ylab, ...)
  graphics::polygon(parts$hull, col = col[1L], border = NA)
  graphics::polygon(parts$bag, col = col[2L], border = NA)
  out <- parts$outliers
  graphics::points(rows[setdiff(seq_len(nrow(rows)), out), , drop = FALSE], pch = 16, cex = 0.6)
  graphics::points(rows[out, , drop = FALSE], pch = 21, bg = col[3L], col = "white")
  named <- utils::head(out[order(parts$depths[out])], label)
  if (length(named)) {
    side <- side_within(rows[named, 1L], range(rows[, 1L]))
    names <- if (inherits(x, "lossdepth")) NULL else row_labels(x)
    graphics::text(rows[named, , drop = FALSE], labels = if (is.null(names)) named else names[named], pos = side, cex = 0.7, offset = 0.4)
  }
  graphics::points(t(parts$median), pch = 3, cex = 1.6, lwd = 5, col = "white")
  graphics::points(t(parts$median), pch = 3, cex = 1.4, lwd = 2)
  invisible(parts)
}

# A fit to two columns: regions need no more of it than its reference.
planar <- function(x) {
  if (inherits(x, "lossdepth")) x else lossdepth.default(x, "halfspace")
}

vertices <- function(flat, fit) {
  matrix(flat, ncol = 2L, byrow = TRUE, dimnames = if (fit$about$named) list(NULL, fit$about$names))
}
