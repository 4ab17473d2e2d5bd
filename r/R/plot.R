#' Plot a depth
#'
#' A map with contours where the reference has two complete columns of numbers; otherwise the depths of the reference in
#' increasing order. Outliers are drawn in another colour.
#'
#' @param x A fit of [lossdepth()].
#' @param type `"map"`, `"depths"`, or `NULL` for the map where it is possible.
#' @param contamination The share of the reference to draw as outliers.
#' @param levels How many contours the map has, or the depths to draw them at.
#' @param resolution How many points of the map are computed in each direction.
#' @param label How many of the shallowest rows to name by their numbers.
#' @param palette A palette for [grDevices::hcl.colors()].
#' @param main,xlab,ylab Titles.
#' @param ... Passed to [graphics::plot.default()].
#' @return For a map, a list of `x`, `y` and the matrix `depth`; otherwise the depths. Both invisibly.
#' @examples
#' plot(lossdepth(faithful, method = "svm", scale = "standard"), resolution = 40)
#' plot(lossdepth(iris))
#' @export
plot.lossdepth <- function(x, type = NULL, contamination = 0.05, levels = 10, resolution = 80, label = 5,
                           palette = "Blues 3", main = x$about$title, xlab = NULL, ylab = NULL, ...) {
  can_map <- is.null(x$about$encoding) && x$about$columns == 2 &&
    !identical(x$settings$kernel, "precomputed")
  if (is.null(type)) {
    type <- if (can_map) "map" else "depths"
  }
  type <- match.arg(type, c("map", "depths"))
  if (type == "map" && !can_map) {
    fail("a map needs two complete columns of numbers")
  }
  depths <- reference_depths(x)
  odd <- depths < threshold(x, contamination)
  shallowest <- utils::head(order(depths), label)
  if (type == "depths") {
    return(plot_depths(depths, odd, shallowest, main, xlab, ylab, ...))
  }
  rows <- matrix(answer(.Call(wrap__native_reference, pointer(x))), ncol = 2L, byrow = TRUE)
  names <- if (x$about$named) x$about$names else c("x[, 1]", "x[, 2]")
  axis <- function(values) {
    ends <- grDevices::extendrange(values, f = 0.08)
    seq(ends[1L], ends[2L], length.out = resolution)
  }
  horizontal <- axis(rows[, 1L])
  vertical <- axis(rows[, 2L])
  grid <- as.matrix(expand.grid(horizontal, vertical))
  dimnames(grid) <- NULL
  map <- matrix(predict.lossdepth(x, grid), nrow = resolution)
  graphics::plot.default(
    rows, type = "n", xaxs = "i", yaxs = "i", xlim = range(horizontal), ylim = range(vertical), main = main,
    xlab = if (is.null(xlab)) names[1L] else xlab, ylab = if (is.null(ylab)) names[2L] else ylab, ...
  )
  graphics::image(horizontal, vertical, map, col = grDevices::hcl.colors(64, palette, rev = TRUE), add = TRUE)
  if (length(levels) == 1L) {
    levels <- pretty(range(map, finite = TRUE), levels)
  }
  graphics::contour(horizontal, vertical, map, levels = levels, col = "grey30", lwd = 0.7, labcex = 0.7, add = TRUE)
  graphics::points(rows[!odd, , drop = FALSE], pch = 16, cex = 0.6, col = grDevices::adjustcolor("black", 0.6))
  graphics::points(rows[odd, , drop = FALSE], pch = 21, cex = 0.9, bg = "#d1495b", col = "white")
  if (length(shallowest)) {
    graphics::text(rows[shallowest, , drop = FALSE], labels = shallowest, pos = side_within(rows[shallowest, 1L], horizontal),
                   cex = 0.7, offset = 0.4)
  }
  graphics::box()
  invisible(list(x = horizontal, y = vertical, depth = map))
}

# Labels to the left of points in the right half, and to the right of others.
side_within <- function(at, axis) {
  ifelse(at > mean(range(axis)), 2L, 4L)
}

plot_depths <- function(depths, odd, shallowest, main, xlab, ylab, ...) {
  order <- order(depths)
  place <- match(seq_along(depths), order)
  graphics::plot.default(
    seq_along(depths), depths[order], type = "n", main = main,
    xlab = if (is.null(xlab)) "rows of the reference, the shallowest first" else xlab,
    ylab = if (is.null(ylab)) "depth" else ylab, ...
  )
  graphics::grid(col = "grey90", lty = 1)
  graphics::points(place, depths, pch = 16, cex = 0.7, col = ifelse(odd, "#d1495b", "#2e6f9e"))
  if (length(shallowest)) {
    # Beside the points they would cover each other.
    graphics::mtext(paste("shallowest:", paste(shallowest, collapse = ", ")), line = 0.3, cex = 0.8)
  }
  if (any(odd) && !all(odd)) {
    graphics::legend("bottomright", legend = c("outliers", "others"), col = c("#d1495b", "#2e6f9e"), pch = 16,
                     bty = "n", cex = 0.9)
  }
  invisible(depths)
}
